"""Where the cache simulator keeps what, in one array of integers.

All caches of a machine live in one int64 array, `state`, because compiled code counts references
to every array that it passes on: with several arrays that costs more than a miss. It begins with
the number of levels, their kind of inclusion and where each level's block starts. A block is

    HEAD numbers     sizes, clocks and counts, at the positions named below
    2 per line       the tick of its last touch; 4 · where its set begins + 2 · dirty + present
    the sets         each a hand, the lines of its ways, and the ticks at which they stood there
    the log          see below

**Time.** A level's clock ticks at every touch, and a line keeps the tick of its last touch. A hit
only compares and stores: nothing that it stores depends on what it loaded, so that hits overlap.
"""

# positions in the array; kinds of inclusion
N_LEVELS, INCLUSION, STARTS = 0, 1, 2
NINE, INCLUSIVE, EXCLUSIVE = 0, 1, 2

# positions in the head of a block, counts last; kinds of replacement
(
    WAYS, KIND, CAPACITY, CLOCK, OLDEST, N_NEAR, DROPPED, VICTIM,
    LOG, BEGINNINGS, EPOCH, MASK, OPEN, N_OPEN, FRESH, OLD, OLD_AT, LOST,
    N_MISSES, N_STORE_MISSES, N_FAR, N_RECEIVED, N_REMOVED, N_WRITEBACKS, HEAD,
) = range(25)  # fmt: skip
LRU, SHADOWED, FIFO = 0, 1, 2  # SHADOWED: fully associative LRU, which is what its shadow is

PRESENT, DIRTY, FLAGS, SHIFT = 1, 2, 3, 2
FAR, OVERFULL, CROWDED = 4, 8, 16
NEVER = 1 << 60
