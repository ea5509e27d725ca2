"""A core that runs bundles on numbers: what the schedules of `primer.bundles` must survive.

It knows nothing of needs. Values arrive when they arrive, buffers are overwritten when somebody
writes, results leave the array in the order in which rows went in: a bundle that comes too early
reads what is there, and the product comes out wrong, or NaN.
"""

from __future__ import annotations

import numpy as np

COPY, ARRAY = 3, 4  # cycles, as in the model


class Core:
    """Input and output buffers, an array with two sets of weights, and a register for each name."""

    def __init__(self, tiles, weights, bias, n_buffers):
        self.tiles, self.weights, self.bias = tiles, weights, bias
        n_tiles, n_rows, width = tiles.shape
        self.n_buffers = n_buffers
        self.inputs = np.full((n_buffers, n_rows, width), np.nan)
        self.input_weights = np.full((n_buffers, width, width), np.nan)
        self.outputs = np.full((n_buffers, n_rows, width), np.nan)
        self.memory = np.full((n_tiles, n_rows, width), np.nan)
        self.registers = {}  # name -> cycle from which it can be read, value
        self.next_weights = np.full((width, width), np.nan)
        # weights that stay are in the array before the loop; others have to be pushed first
        self.array = weights[0] if len(weights) == 1 else np.full((width, width), np.nan)
        self.fifo = []  # cycle from which it can be popped, value
        self.events = []  # cycle, what happens then
        self.arrived = {"in": {}, "out": {}}
        self.waited = {}

    def run(self, schedule):
        """All bundles, one a cycle, and a few empty ones for the last copy."""
        for cycle in range(schedule.n_bundles + COPY + 1):
            for due, action in [event for event in self.events if event[0] == cycle]:
                action()
                self.events.remove((due, action))
            started = schedule.at(cycle) if cycle < schedule.n_bundles else ()
            self._check_slots(schedule, started)
            later = []
            for tile, i in started:  # all of a bundle read before any of it writes
                later += self._start(cycle, tile, schedule.program.operations[i].name)
            for action in later:
                action()
        return self.memory

    @staticmethod
    def _check_slots(schedule, started):
        kinds = [schedule.program.operations[i].slot for _, i in started]
        assert all(kinds.count(slot) <= number for slot, number in schedule.slots)

    def _start(self, cycle, tile, name):
        verb, _, thing = name.partition(" ")
        slot = tile % self.n_buffers
        row = int(thing[1:]) if thing[1:].isdigit() else 0
        if verb in ("address", "branch"):
            return []
        if verb == "copy":
            before = self.outputs[slot].copy()
            return [lambda: self._copy(cycle, tile, slot, thing, before)]
        if verb == "wait":
            assert thing != "in" or self.arrived["in"].get(tile, cycle + 1) <= cycle
            before = tile - self.n_buffers
            if thing == "out" and before >= 0:
                assert self.arrived["out"].get(before, cycle + 1) <= cycle
            return [lambda: self.waited.update({(tile, thing): cycle})]
        if verb in ("load", "store"):  # a wait holds back only bundles after its own
            assert self.waited[tile, "in" if verb == "load" else "out"] < cycle
        if verb == "load":
            value = (self.input_weights if thing[0] == "w" else self.inputs)[slot, row].copy()
            return [lambda: self._write(cycle, tile, thing, value)]
        if verb == "push":
            value = self._read(cycle, tile, thing)
            return [lambda: self._push(cycle, thing, row, value)]
        if verb == "pop":
            ready, value = self.fifo.pop(0)
            assert ready <= cycle, "nothing to pop yet"
            return [lambda: self._write(cycle, tile, thing, value)]
        value = self._read(cycle, tile, thing)
        if verb == "store":
            return [lambda: self.outputs.__setitem__((slot, row), value)]
        result = value + self.bias if verb == "add" else np.maximum(value, 0)
        return [lambda: self._write(cycle, tile, thing, result)]

    def _copy(self, cycle, tile, slot, thing, before):
        if thing == "in":
            self.inputs[slot] = np.nan  # from now on nobody can tell what is there
            self.input_weights[slot] = np.nan

            def arrive():
                self.inputs[slot] = self.tiles[tile]
                if len(self.weights) > 1:
                    self.input_weights[slot] = self.weights[tile]

            self.events.append((cycle + COPY, arrive))
        else:

            def leave():
                same = np.array_equal(before, self.outputs[slot], equal_nan=True)
                self.memory[tile] = before if same else np.nan

            self.events.append((cycle + COPY, leave))
        self.arrived[thing][tile] = cycle + COPY

    def _push(self, cycle, thing, row, value):
        if thing[0] == "w":
            self.next_weights[row] = value
            return
        if row == 0 and len(self.weights) > 1:
            self.array = self.next_weights.copy()  # the first row swaps the weights
            self.next_weights[:] = np.nan
        self.fifo.append((cycle + ARRAY, value @ self.array))

    def _write(self, cycle, tile, thing, value):
        self.registers[tile, thing] = (cycle + 1, value)

    def _read(self, cycle, tile, thing):
        ready, value = self.registers.get((tile, thing), (cycle + 1, None))
        return value if ready <= cycle else np.full_like(self.bias, np.nan)
