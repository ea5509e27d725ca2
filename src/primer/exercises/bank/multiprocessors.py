"""What fits on a multiprocessor, how blocks fill all of them, and what feeds their matrix units."""

from __future__ import annotations

from primer import hardware, occupancy, tensorcores, waves
from primer.exercises import draws, slips
from primer.exercises.function import Function
from primer.exercises.number import Number
from primer.exercises.slips import Slip
from primer.exercises.verdict import Exercise


def _filled(chip: str = "b200_sxm", tile: int = 128) -> float:
    """Share of the multiprocessors' time that the one matmul uses."""
    n_sms = int(hardware.load(chip).count("sms").value)
    return waves.count(1024, 3072, tile=tile, n_sms=n_sms).utilization_frac


def _tiles_over_sms() -> float:
    return 192 / hardware.load("b200_sxm").count("sms").value


_LARGER_CHIP = Number(
    answer=_filled,
    rel_tol=0.01,
    what="the share of the SMs' time",
    slips=(
        Slip("the smaller chip", "That is the H100. Count the room of two waves on this chip.").at(
            lambda: _filled("h100_sxm5_80gb")
        ),
        Slip(
            "tiles over SMs",
            "Waves come whole: divide by the room of all of them, not by that of one.",
        ).at(_tiles_over_sms, lambda: 1 / _tiles_over_sms()),
        Slip(
            "the last wave alone",
            "That is how full the last wave is. Asked for is the share over both.",
        ).at(lambda: _tiles_over_sms() - 1),
        slips.OTHER_PART.saying("That is the part in which SMs wait."),
        Slip("smaller tiles", "That is the share for tiles of half the side.").at(
            lambda: _filled(tile=64)
        ),
    ),
    otherwise="How many tiles are there, and for how many do the waves have room?",
)


def _blocks_by_registers(threads: int, registers: int) -> int:
    launch = occupancy.calculate(
        "8.0", threads_per_block=threads, registers_per_thread=registers
    )  # fmt: skip
    return int(launch.limits.registers)


def _wrong_blocks(threads: int, registers: int, *, mistake: str) -> float:
    """The blocks with a typical mistake in the allocation of registers."""
    n_warps, per_warp = -(-threads // 32), -(-registers * 32 // 256) * 256
    if mistake == "by threads":
        return 65_536 // (threads * registers)
    if mistake == "one file":
        return 65_536 // per_warp // n_warps
    if mistake == "blocks in a part":
        return 4 * (16_384 // (per_warp * n_warps))
    if mistake == "rounded down":
        n_warps = max(1, threads // 32)
    if mistake == "not rounded":
        per_warp = registers * 32
    if mistake == "one part":
        return 16_384 // per_warp // n_warps
    return 4 * (16_384 // per_warp) // n_warps


def _mistake(mistake: str, hint: str) -> Slip:
    return Slip(mistake, hint).at(
        lambda threads, registers: _wrong_blocks(threads, registers, mistake=mistake)
    )


_BLOCKS = Function(
    name="blocks_by_registers",
    reference=_blocks_by_registers,
    variables={"threads": draws.whole(1, 1024), "registers": draws.whole(16, 255)},
    cases=(
        {"threads": 224, "registers": 92},
        {"threads": 224, "registers": 80},
        {"threads": 256, "registers": 32},
        {"threads": 33, "registers": 33},
        {"threads": 96, "registers": 168},
    ),
    slips=(
        _mistake(
            "by threads",
            "Registers are given to whole warps, rounded up, and the file has four parts.",
        ),
        _mistake(
            "one file",
            "A warp’s registers lie in one of the four parts. What is left of a part is lost.",
        ),
        _mistake(
            "blocks in a part",
            "The warps of one block may live in different parts. Count warps for each part first, "
            "and blocks last.",
        ),
        _mistake("one part", "That is one part. There are four."),
        _mistake("not rounded", "A warp’s registers are rounded up to a multiple of 256."),
        _mistake("rounded down", "A block whose threads are no multiple of 32 has one warp more."),
    ),
    otherwise="First the registers of a warp, then the warps in a part, then those in all four, "
    "and the blocks last.",
)


def _busy(*, overlap: bool = True) -> float:
    """Share of the time in which the Tensor Cores compute."""
    one = tensorcores.issue("9.0", n=40)
    assert one.shared_cycles is not None
    both = one.least_cycles + one.shared_cycles
    return one.least_cycles / (max(one.least_cycles, one.shared_cycles) if overlap else both)


_BUSY = Number(
    answer=_busy,
    what="the share in (a)",
    slips=(
        Slip(
            "without overlap", "The next operands come while these are multiplied: two stopwatches."
        ).at(lambda: _busy(overlap=False)),
        Slip(
            "in time",
            "Then the operands would arrive in time. A number of 16 bits has two bytes, both "
            "operands come from shared memory, and the rate is in multiply-adds.",
        ).at(lambda: 1.0),
        slips.MULTIPLY_ADD.saying(
            "Look for a factor of two: the rate is in multiply-adds, and the instruction makes "
            "m·n·k of them."
        ).times(0.5),
        slips.UPSIDE_DOWN.saying("Upside down: the arithmetic’s time over the longer of the two."),
        slips.OTHER_PART.saying("That is the share of the time in which they wait."),
    ),
    otherwise="Write the cycles of the arithmetic and those of the operands, side by side.",
)

EXERCISES: dict[str, Exercise] = {"3.3": _LARGER_CHIP, "3.4": _BLOCKS, "3.5": _BUSY}
