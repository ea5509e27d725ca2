"""The values that a chip's table may hold: a wrong prefix has to fall outside.

Every range is narrower than a factor of 1000 on either side of the values in it. Where one range
cannot hold all chips without becoming wider than that, the kind of chip, or the single chip, has
its own row: the general rows stay tight.
"""

from fnmatch import fnmatch

from primer import _checks

KINDS = ("gpu", "tpu", "cpu", "npu", "soc")

# Pattern of the field's name, base unit, lowest and highest value.
Row = tuple[str, str, float, float]

_GENERAL: tuple[Row, ...] = (
    ("peak.fp64.*", "FLOP/s", 2e11, 2e14),
    ("peak.fp32.*", "FLOP/s", 1e12, 1e15),
    ("peak.tf32.*", "FLOP/s", 2e13, 5e15),
    ("peak.bf16.*", "FLOP/s", 5e12, 1e16),
    ("peak.fp16.*", "FLOP/s", 5e12, 1e16),
    ("peak.fp8.*", "FLOP/s", 5e13, 2e16),
    ("peak.fp6.*", "FLOP/s", 1e14, 5e16),
    ("peak.fp4.*", "FLOP/s", 1e14, 1e17),
    ("peak.int8.*", "OP/s", 1e13, 2e16),
    ("peak.int4.*", "OP/s", 5e13, 5e16),
    ("memory.core.capacity", "B", 1e4, 5e6),
    ("memory.chip.capacity", "B", 1e6, 1e9),
    ("memory.main.capacity", "B", 4e9, 2e12),
    ("memory.chip.bandwidth", "B/s", 2e11, 2e14),
    ("memory.core.bandwidth", "B/s", 1e12, 5e14),
    ("memory.main.bandwidth", "B/s", 2e11, 5e13),
    ("memory.*.latency", "cycles", 4, 5000),
    ("link.*.oneway", "B/s", 4e9, 5e12),
    ("link.*.oneway_per_link", "B/s", 2e9, 5e11),
    ("link.*.n_links", "1", 1, 64),
    ("count.gpcs", "1", 2, 32),
    ("count.*tpcs", "1", 10, 300),
    ("count.*sms", "1", 10, 500),
    ("count.compute_units", "1", 10, 1000),
    ("count.matrix_units", "1", 100, 3000),
    ("count.*_lanes", "1", 1000, 100_000),
    ("count.special_units", "1", 200, 20_000),
    ("count.memory_stacks", "1", 1, 64),
    ("count.memory_controllers", "1", 1, 64),
    ("count.fma_per_matrix_unit", "FMA/cycle", 32, 32_768),
    ("clock.*", "Hz", 3e8, 6e9),
    ("tdp", "W", 5, 3000),
)

# Few large arrays instead of many small ones, and memory of a core that is a whole chip's.
_ARRAYS: tuple[Row, ...] = (
    ("memory.core.capacity", "B", 1e6, 1e9),
    ("count.tensorcores", "1", 1, 16),
    ("count.sparse_cores", "1", 1, 64),
    ("count.cores", "1", 2, 64),
    ("count.matrix_units", "1", 1, 64),
    ("count.vector_units", "1", 10, 10_000),
    ("count.fma_per_matrix_unit", "FMA/cycle", 4096, 1e6),
)

_BY_KIND: dict[str, tuple[Row, ...]] = {
    "gpu": (),
    "tpu": _ARRAYS,
    "npu": _ARRAYS,
    "cpu": (
        ("peak.fp32.*", "FLOP/s", 1e12, 1e14),
        ("memory.main.capacity", "B", 1e10, 8e12),
        ("memory.main.bandwidth", "B/s", 5e10, 3e12),
        ("memory.*.latency", "cycles", 3, 2000),
        ("count.cores", "1", 4, 512),
        ("count.fp32_fma_per_core", "FMA/cycle", 4, 256),
        ("count.*_fma_per_core", "FMA/cycle", 64, 8192),
    ),
    "soc": (
        ("memory.main.bandwidth", "B/s", 3e10, 3e12),
        ("count.gpu_cores", "1", 4, 256),
        ("count.cpu_cores", "1", 4, 256),
    ),
}

# Chips that are a thousand times away from the others of their kind, and why.
_BY_CHIP: dict[str, tuple[Row, ...]] = {
    # DDR3 instead of stacked memory
    "tpu_v1": (("memory.main.bandwidth", "B/s", 1e10, 1e12),),
    # the main memory is SRAM on the chip
    "groq_lpu_v1": (
        ("memory.main.capacity", "B", 5e7, 1e10),
        ("memory.main.bandwidth", "B/s", 5e12, 1e15),
    ),
    # a whole wafer of cores, with the SRAM between them as main memory
    "wse3": (
        ("peak.fp16.*", "FLOP/s", 5e15, 1e18),
        ("memory.main.bandwidth", "B/s", 1e15, 1e17),
        ("count.cores", "1", 1e5, 1e7),
        ("tdp", "W", 1e3, 1e5),
    ),
}


def bounds(name: str, *, kind: str = "gpu", chip: str = "") -> tuple[str, float, float]:
    """Base unit, lowest and highest sensible value of a field.

    Parameters
    ----------
    name : str
        The field, such as "peak.bf16.matrix"; levels of memory go by their place, such as
        "memory.main.bandwidth".
    kind : str
        The kind of chip, one of `KINDS`.
    chip : str
        Its identifier.

    Raises
    ------
    ValueError
        If there is no range for such a field.

    Examples
    --------
    >>> bounds("memory.main.bandwidth")
    ('B/s', 200000000000.0, 50000000000000.0)
    >>> bounds("memory.main.bandwidth", kind="npu", chip="groq_lpu_v1")[2]
    1000000000000000.0
    """
    dense = name.replace("peak_sparse.", "peak.")
    factor = 1 if dense == name else 2  # sparse peaks are about twice the dense ones
    for rows in (_BY_CHIP.get(chip, ()), _BY_KIND[kind], _GENERAL):
        for pattern, unit, low, high in rows:
            if fnmatch(dense, pattern):
                return unit, low * factor, high * factor
    _checks.fail("field", "have bounds in the hardware reader", name)


def exceptions() -> tuple[str, ...]:
    """The chips with ranges of their own."""
    return tuple(_BY_CHIP)
