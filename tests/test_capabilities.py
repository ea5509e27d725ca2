"""Compute capabilities: the limits, against the chips, the occupancy header and each other."""

import copy

import pytest

from primer import _tables, capabilities, hardware

RAW = _tables.read(capabilities.FILE)
ALL = [capabilities.load(name) for name in capabilities.names()]
KIB = 1024


# ---- values, as NVIDIA's headers give them to a program compiled against them
# (threads, warps and blocks per multiprocessor; shared memory per multiprocessor, per block by
# default and after opting in, reserved; its allocation unit)


@pytest.mark.parametrize(
    ("name", "threads", "warps", "blocks", "sm", "optin", "reserved", "unit"),
    [
        ("7.0", 2048, 64, 32, 98_304, 98_304, 0, 256),
        ("7.5", 1024, 32, 16, 65_536, 65_536, 0, 256),
        ("8.0", 2048, 64, 32, 167_936, 166_912, 1024, 128),
        ("8.6", 1536, 48, 16, 102_400, 101_376, 1024, 128),
        ("8.9", 1536, 48, 24, 102_400, 101_376, 1024, 128),
        ("9.0", 2048, 64, 32, 233_472, 232_448, 1024, 128),
        ("10.0", 2048, 64, 32, 233_472, 232_448, 1024, 128),
        ("10.3", 2048, 64, 32, 233_472, 232_448, 1024, 128),
        ("12.0", 1536, 48, 24, 102_400, 101_376, 1024, 128),
    ],
)
def test_limits(name, threads, warps, blocks, sm, optin, reserved, unit):
    found = capabilities.load(name)
    assert found.max_threads_per_sm == threads
    assert (found.max_warps_per_sm, found.max_blocks_per_sm) == (warps, blocks)
    assert (found.shared_bytes_per_sm, found.max_shared_bytes_per_block) == (sm, optin)
    assert (found.reserved_shared_bytes_per_block, found.shared_allocation_bytes) == (
        reserved,
        unit,
    )
    assert found.carveouts_bytes[-1] == sm


@pytest.mark.parametrize("found", ALL, ids=repr)
def test_what_all_have_in_common(found):
    assert (found.warp_size, found.max_threads_per_block, found.n_schedulers_per_sm) == (
        32,
        1024,
        4,
    )
    # 64 Ki registers, at most 255 of them per thread, in steps of 256 per warp
    assert found.registers_per_sm == found.max_registers_per_block == 65_536
    assert (found.max_registers_per_thread, found.register_allocation) == (255, 256)
    assert found.default_shared_bytes_per_block == 48 * KIB


@pytest.mark.parametrize(("name", "warps"), [("9.0", 16), ("8.9", 12), ("12.0", 12), ("7.5", 8)])
def test_a_scheduler_owns_a_quarter_of_the_warps(name, warps):
    assert capabilities.load(name).max_warps_per_scheduler == warps


# ---- second methods


@pytest.mark.parametrize(
    ("name", "n_blocks", "occupancy"),
    [
        ("7.0", 2, 0.25), ("7.5", 1, 0.25), ("8.0", 3, 0.375), ("8.6", 2, 1 / 3), ("8.9", 2, 1 / 3),
        ("9.0", 4, 0.5), ("10.0", 4, 0.5), ("12.0", 2, 1 / 3),
    ],
)  # fmt: skip
def test_nvidias_calculator_agrees(name, n_blocks, occupancy):
    # 256 threads, 32 registers, 48 KiB per block: cuda_occupancy.h, compiled and run, gave these.
    found = capabilities.load(name)
    n_warps, registers = 256 // found.warp_size, 32 * found.warp_size
    shared = 48 * KIB + found.reserved_shared_bytes_per_block
    assert registers % found.register_allocation == shared % found.shared_allocation_bytes == 0
    blocks = min(
        found.max_warps_per_sm // n_warps,
        found.max_blocks_per_sm,
        found.registers_per_sm // (registers * n_warps),
        found.shared_bytes_per_sm // shared,
    )
    assert blocks == n_blocks
    assert blocks * n_warps / found.max_warps_per_sm == pytest.approx(occupancy)


@pytest.mark.parametrize(
    ("chip", "name"),
    [("v100_sxm2_32gb", "7.0"), ("a100_sxm4_80gb", "8.0"), ("h100_sxm5_80gb", "9.0")],
)
def test_chips_agree(chip, name):
    levels, found = hardware.load(chip), capabilities.load(name)
    assert levels.level("shared").capacity.value == found.shared_bytes_per_sm
    assert levels.level("registers").capacity.value == 4 * found.registers_per_sm


# ---- properties


@pytest.mark.parametrize("found", ALL, ids=repr)
def test_every_limit_knows_its_source(found):
    assert tuple(q.name for q in found.limits) == capabilities.LIMITS
    for quantity in found.limits:
        assert quantity.value == getattr(found, quantity.name)
        assert quantity.source.kind == "primary"
        assert quantity.source.address.startswith("https://")
    assert list(found.carveouts_bytes) == sorted(found.carveouts_bytes)
    assert capabilities.load(found.id) is found


def test_the_same_limits_under_another_name():
    one, other = capabilities.load("10.0"), capabilities.load("10.3")
    assert one.limits == other.limits
    assert (other.id, other.products) == ("10.3", ("B300",))
    assert repr(other) == "<Capability 10.3: Blackwell Ultra, data center>"


# ---- bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: capabilities.load("9"), r"capability must be one of .*mean '9.0'.*got '9'"),
        (lambda: capabilities.load(9.0), r"capability must be one of 7.0, .*got 9.0"),
        (lambda: ALL[0].limit("max_warps"), r"limit must be one of .*mean 'max_warps_per_sm'"),
    ],
)
def test_bad_calls_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def _changed(name, **changes):
    rows = copy.deepcopy(RAW["row"])
    rows[name].update(changes)
    for key in [k for k, v in changes.items() if v is None]:
        del rows[name][key]
    return capabilities.build(name, rows, RAW["field"])


NUMBERS = [
    (name, key) for name, row in RAW["row"].items() for key in capabilities.LIMITS if row.get(key)
]


@pytest.mark.parametrize("factor", [1000, 1 / 1000])
@pytest.mark.parametrize(("name", "key"), NUMBERS)
def test_a_wrong_prefix_does_not_pass(name, key, factor):
    with pytest.raises(ValueError, match=rf'row."{name}".{key}(.value)? must '):
        _changed(name, **{key: RAW["row"][name][key] * factor})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"max_warps_per_sm": 48},
            "max_threads_per_sm must equal 1536 by the other limits; got 2048",
        ),
        ({"shared_bytes_per_sm": 227}, "shared_bytes_per_sm must equal 233472 by the other"),
        ({"max_shared_bytes_per_block": 228}, "max_shared_bytes_per_block must equal 232448"),
        ({"max_blocks_per_sm": None}, "max_blocks_per_sm must be there; got None"),
        ({"max_blocks_per_sm": 3.2e1}, "max_blocks_per_sm.value must be an integer of at least 0"),
        ({"max_blocks_per_sm": -32}, "max_blocks_per_sm.value must be zero or positive; got -32"),
        ({"carveouts_bytes": [64, 0]}, r"carveouts_bytes must be a list of ascending sizes"),
        ({"products": "H100"}, "products must be a list of texts; got 'H100'"),
        ({"max_block": 1}, "key must be one of .*mean 'max_blocks_per_sm'"),
        ({"same_as": "9.5"}, "same_as must be one of 7.0.*got '9.5'"),
    ],
)
def test_slips_in_the_file_are_named(changes, message):
    with pytest.raises(ValueError, match=rf'^capabilities.toml: row."9.0".*{message}'):
        _changed("9.0", **changes)
