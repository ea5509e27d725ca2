"""A second cache simulator for the tests: slow, plain, and written without a look at the first.

Sets are lists of lines, the newest first. Nothing is shared with `primer` but the sizes.
"""

from collections import Counter


class Level:
    def __init__(self, level):
        self.n_sets, self.n_ways, self.policy = level.n_sets, level.n_ways, level.policy
        self.sets = [[] for _ in range(self.n_sets)]
        self.dirty = set()
        self.counts = Counter()

    def held(self, line):
        return self.sets[line % self.n_sets]

    def use(self, line):
        """A hit: under LRU the line becomes the newest."""
        if self.policy == "lru":
            self.held(line).remove(line)
            self.held(line).insert(0, line)

    def put(self, line):
        """Place a line; what has to leave, as (line, was dirty), or None."""
        self.counts["n_fills"] += 1
        lines = self.held(line)
        lines.insert(0, line)
        if len(lines) <= self.n_ways:
            return None
        self.counts["n_evictions"] += 1
        return self.forget(lines[-1])

    def take(self, line):
        self.counts["n_removals"] += 1
        return self.forget(line)

    def forget(self, line):
        self.held(line).remove(line)
        was_dirty = line in self.dirty
        self.dirty.discard(line)
        return line, was_dirty


class Shadow:
    """Fully associative LRU, for the causes."""

    def __init__(self, n_lines):
        self.n_lines, self.lines, self.ever = n_lines, [], set()

    def touch(self, line):
        """The cause that a miss would have now; then the line is the newest."""
        cause = "n_conflict" if line in self.lines else "n_capacity"
        if line not in self.ever:
            cause = "n_compulsory"
        self.ever.add(line)
        if line in self.lines:
            self.lines.remove(line)
        self.lines.insert(0, line)
        del self.lines[self.n_lines :]
        return cause


class Machine:
    """Levels under one kind of inclusion; `run` counts per level."""

    def __init__(self, levels, inclusion):
        self.inclusion = inclusion
        self.levels = [Level(level) for level in levels]
        sizes = [level.n_lines for level in levels]
        if inclusion == "exclusive":
            sizes = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        self.shadows = [Shadow(size) for size in sizes]

    def run(self, lines, stores):
        for line, is_store in zip(lines, stores, strict=True):
            self.access(line, is_store)
        return [level.counts for level in self.levels]

    def access(self, line, is_store):
        found = len(self.levels)
        for i, level in enumerate(self.levels):
            cause = self.shadows[i].touch(line)
            level.counts["n_accesses"] += 1
            if line in level.held(line):
                level.counts["n_hits"] += 1
                found = i
                break
            level.counts["n_misses"] += 1
            level.counts[cause] += 1
            level.counts["n_store_misses"] += is_store
        if self.inclusion == "exclusive":
            for shadow in self.shadows[found + 1 :]:
                shadow.touch(line)
            self.move_up(line, found)
        else:
            if found < len(self.levels):
                self.levels[found].use(line)
            for i in reversed(range(found)):
                self.leave(i, self.levels[i].put(line))
        if is_store:
            self.levels[0].dirty.add(line)

    def move_up(self, line, found):
        if found == 0:
            return self.levels[0].use(line)
        was_dirty = found < len(self.levels) and self.levels[found].take(line)[1]
        victim = self.levels[0].put(line)
        if was_dirty:
            self.levels[0].dirty.add(line)
        return self.leave(0, victim)

    def leave(self, i, victim):
        """What follows from a line leaving level i."""
        if victim is None:
            return
        line, was_dirty = victim
        if self.inclusion == "inclusive":
            for above in self.levels[:i]:
                if line in above.held(line):
                    above.counts["n_writebacks"] += line in above.dirty
                    was_dirty |= above.take(line)[1]
        self.levels[i].counts["n_writebacks"] += was_dirty
        if i + 1 == len(self.levels) or not (was_dirty or self.inclusion == "exclusive"):
            return
        below = self.levels[i + 1]
        pushed_out = None
        if self.inclusion != "exclusive":
            self.shadows[i + 1].touch(line)
        if line in below.held(line):
            below.use(line)
        else:
            pushed_out = below.put(line)
        if was_dirty:
            below.dirty.add(line)
        self.leave(i + 1, pushed_out)
