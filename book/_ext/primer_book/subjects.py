"""What is compared with what: every simulator that another tool or a second method recomputes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from primer_book.agreement import DATA, ROOT, Case, Subject


def _stream_bytes(rows: list[Any]) -> Iterator[Case]:
    """Bytes per iteration, at the core and beyond the first cache."""
    from primer.workloads import Stream

    for row in rows:
        loop = Stream(row["kernel"], 1, "fp64", write_allocate=True)
        yield Case(f"{row['kernel']}, at the core", loop.core_bytes, row["core_bytes"])
        yield Case(f"{row['kernel']}, beyond", loop.compulsory_bytes, row["beyond_bytes"])


def _stream_rates(rows: list[Any]) -> Iterator[Case]:
    """Attainable rates of loops that do arithmetic."""
    from primer import roofline
    from primer.hardware import Chip
    from primer.workloads import Stream

    for row in rows:
        if "mflop_per_s" not in row:
            continue
        chip = Chip.custom(
            "Sandy Bridge core",
            peak_flop_per_s={"fp64": 21.6e9},
            bandwidth_bytes_per_s=row["bandwidth_gb_per_s"] * 1e9,
        )
        loop = Stream(row["kernel"], 1000, "fp64", write_allocate=True)
        point = roofline.place(chip, loop, compute="fp64")
        yield Case(row["kernel"], point.attainable_flop_per_s, row["mflop_per_s"] * 1e6)


def _double_buffer(rows: list[Any]) -> Iterator[Case]:
    """The longer of two times, against a machine that copies chunk by chunk."""
    from primer import hardware, roofline

    chip, n_chunks = hardware.example("toy"), 1000
    for intensity in (0.1, 1, 5, 9, 10, 11, 20, 100, 1000):
        point = roofline.place(chip, work_flop=1000 * intensity, traffic_bytes=1000)
        loaded = done = 0.0
        for _ in range(n_chunks):
            loaded += point.memory_time_s / n_chunks
            done = max(done, loaded) + point.compute_time_s / n_chunks
        yield Case(f"{intensity:g} FLOP/B", point.time_s, done)


CACHE_TABLE = "cache_pycachesim.json"


def _cache_levels() -> dict[str, Any]:
    """The caches of the tables, by the names that their rows use."""
    from primer.cache import CacheLevel

    named = json.loads((ROOT / DATA / CACHE_TABLE).read_text("utf-8"))["levels"]
    return {name: [CacheLevel(*level) for level in stack] for name, stack in named.items()}


def _simulated_misses(rows: list[Any]) -> Iterator[Case]:
    """Misses of every level for matrix products in several orders, tiles and caches."""
    from primer import tiling

    levels = _cache_levels()
    for kernel, n, size, tile, name, _, theirs in rows:
        order = "ikj" if kernel == "ikj" else "ijk"
        ours = tiling.replay(
            n, n, n, levels[name], order=order, tiles=tile or (), element_bytes=size, stores=False
        )
        for level, counted, expected in zip(name.split("+"), ours.levels, theirs, strict=True):
            yield Case(f"{kernel}, N = {n}, {level}", counted.n_misses, expected)


def _real_misses(rows: list[Any]) -> Iterator[Case]:
    """Misses of a real program's loops, whose stack the tool sees too."""
    from primer import tiling

    levels = _cache_levels()
    for kernel, n, size, name, *theirs in rows:
        ours = tiling.replay(n, n, n, levels[name], order=kernel, element_bytes=size, stores=False)
        pairs = zip(ours.levels, theirs[::2], theirs[1::2], strict=True)
        for i, (level, reads, writes) in enumerate(pairs, start=1):
            yield Case(f"{kernel}, N = {n}, level {i}", level.n_misses, reads + writes)


def _resident_blocks(rows: list[Any]) -> Iterator[Case]:
    """Blocks per multiprocessor, and what a block takes, at and around every limit."""
    from primer import occupancy

    for row in rows:
        name, threads, registers, fixed, dynamic, opt_in, percent, barriers = row[:8]
        *_, taken, kept, blocks = row
        where = f"{name}: {threads} threads, {registers} registers, {fixed + dynamic} B"
        if threads > 1024 or registers > 255:
            continue  # no launch: the arguments are refused
        ours = occupancy.calculate(
            name, threads_per_block=threads, registers_per_thread=registers,
            shared_bytes_per_block=fixed + dynamic, opt_in=opt_in, barriers_per_block=barriers,
            carveout_percent=None if percent < 0 else percent,
        )  # fmt: skip
        yield Case(where, ours.n_blocks, blocks)
        yield Case(f"{where}, registers taken", ours.allocated_registers_per_block, taken)
        yield Case(f"{where}, bytes taken", ours.allocated_shared_bytes_per_block, kept)


def _thread_registers(rows: list[Any]) -> Iterator[Case]:
    """Registers of a thread that a matrix instruction takes for each operand."""
    from primer import tensorcores

    for row in rows:
        size = row.get("size", "")
        one = tensorcores.instruction(
            row["instruction"],
            n=int(size.split(",")[0].removeprefix("n = ")) if size else None,
            a_home="registers" if "a" in row else None,
        )
        for operand in "abd":
            if operand in row:
                held = tensorcores.fragment(one, operand)
                yield Case(f"{operand} of {one.name}", held.n_registers, row[operand])


def _fragment_places(rows: list[Any]) -> Iterator[Case]:
    """Elements of a matrix that lie in the thread and register that a layout gives them."""
    import numpy as np

    from primer import tensorcores

    for name, operand, size, threads, values, value_strides, thread_strides in rows:
        home = "registers" if operand == "a" else None
        one = tensorcores.instruction(name, n=int(size) if size else None, a_home=home)
        held = tensorcores.fragment(one, operand)
        strides = [*value_strides[::-1], *thread_strides[::-1]]
        grid = np.indices((*values[::-1], *threads[::-1]))
        places = np.tensordot(strides, grid, axes=1).reshape(np.prod(values), -1).T
        rows_of, columns_of = held.shape
        ours = held.row + rows_of * held.column
        if operand == "b":
            ours = held.column + columns_of * held.row
        for product in range(held.n_products):
            mine = ours[held.product == product]
            yield Case(f"{operand} of {one.name}", int((mine == places).sum()), mine.size)


def _thread_numbers(rows: list[Any]) -> Iterator[Case]:
    """The number of a thread in blocks of one, two and three dimensions."""
    from primer import threads

    for x, y, z, *thread, theirs in rows:
        ours = threads.place(x, y, z, thread=thread).i_thread
        yield Case(f"{x} × {y} × {z}, thread {tuple(thread)}", ours, theirs)


def _handed_out(rows: list[Any]) -> Iterator[Case]:
    """The time of equal tiles in closed form, against blocks handed out one by one."""
    from primer import waves

    shapes = ((1024, 3072, 128), (1408, 1536, 128), (1409, 1536, 128), (1024, 3072, 64),
              (4096, 4096, 128), (17_024, 128, 128), (1, 3072, 64))  # fmt: skip
    for m, n, tile in shapes:
        for together in (1, 2):
            ours = waves.count(m, n, tile=tile, n_sms=132, blocks_per_sm=together)
            run = waves.schedule(ours.n_blocks, 132, blocks_per_sm=together)
            name = f"{m} × {n} in tiles of {tile}, {together} per multiprocessor"
            yield Case(name, ours.span_tiles, run.span_tiles)


def _systolic(rows: list[Any]) -> Iterator[Case]:
    """Cycles, words that enter, and used PEs; the tool's total is the index of the last cycle."""
    from primer import systolic

    for m, n, k, height, width, dataflow, theirs in rows:
        ours = systolic.count(m, n, k, rows=height, cols=width, dataflow=dataflow)
        name = f"{m} × {n} × {k} on {height} × {width}, {dataflow}"
        last, a_reads, b_reads, mapping_percent = theirs
        yield Case(f"cycles of {name}", ours.n_cycles, last + 1)
        yield Case(f"reads of A, {name}", ours.a_reads, a_reads)
        yield Case(f"reads of B, {name}", ours.b_reads, b_reads)
        yield Case(f"mapping of {name}", round(100 * ours.mapping_frac, 9), mapping_percent)


def _blocks_on_arrays(rows: list[Any]) -> Iterator[Case]:
    """Cycles of a TPU whose copies take no time, against its arrays alone, side by side."""
    import dataclasses

    from primer import blocked_gemm, hardware, systolic

    tpu = blocked_gemm.tpu(hardware.load("tpu_v5e"))
    fast = dataclasses.replace(tpu, hbm_bytes_per_s=1e30)
    for m in (128, 256, 1024, 4096):
        for n, k in ((3072, 768), (512, 128), (6144, 3072)):
            run = blocked_gemm.run(fast, m, n, k)
            array = systolic.count(
                m, n // 4, k, rows=128, cols=128, dataflow="ws", double_buffer=True
            )
            yield Case(f"{m} × {n} × {k}", round(run.time_s * tpu.clock_hz, 6), array.n_cycles)


def _moved_words(rows: list[Any]) -> Iterator[Case]:
    """Cycles in closed form, against words that move from PE to PE."""
    import numpy as np

    from primer import systolic

    shapes = ((4, 4, 16, 4, 4), (8, 8, 8, 4, 4), (1, 8, 8, 4, 4), (5, 7, 3, 4, 4), (9, 2, 6, 3, 5))
    for m, n, k, height, width in shapes:
        for dataflow in systolic.DATAFLOWS:
            for overlaps in (False, True):
                array: dict[str, Any] = {
                    "rows": height, "cols": width, "dataflow": dataflow, "double_buffer": overlaps,
                }  # fmt: skip
                ours = systolic.count(m, n, k, **array)
                run = systolic.simulate(np.ones((m, k)), np.ones((k, n)), **array, record=())
                name = f"{m} × {n} × {k} on {height} × {width}, {dataflow}"
                yield Case(name, ours.n_cycles, run.n_cycles)


def _warp_turns(rows: list[Any]) -> Iterator[Case]:
    """The share of issue slots in use: simulated until it repeats, against the closed form."""
    from itertools import product

    from primer import warps

    programs = product(("gto", "rr"), (20, 400, 700), (1, 9), (1, 4), (None, 35))
    for policy, latency, alu, loads, interval in programs:
        options: dict[str, Any] = {
            "latency_cycles": latency, "alu_per_load": alu, "independent_loads": loads,
            "policy": policy, "memory_interval_cycles": interval,
        }  # fmt: skip
        for n in (1, 4, 16, 48):
            bound = warps.issue_bound(n, **options)
            if bound.is_exact:
                name = f"{n} warps, {', '.join(f'{k} {v}' for k, v in options.items())}"
                run = warps.schedule(n, **options)
                yield Case(name, run.utilization_frac, bound.utilization_frac)


KERNCRAFT = "kerncraft 0.8.18, layer conditions"
SUBJECTS = (
    Subject(
        module="workloads",
        quantity="bytes per iteration of seven loops",
        against=KERNCRAFT,
        allowed_frac=0.0,
        why="",
        cases=_stream_bytes,
        table="roofline_kernels.json",
    ),
    Subject(
        module="roofline",
        quantity="attainable rates of six loops",
        against=KERNCRAFT,
        allowed_frac=0.002,
        why="the tool prints few digits",
        cases=_stream_rates,
        table="roofline_kernels.json",
    ),
    Subject(
        module="roofline",
        quantity="time with full overlap",
        against="a double buffer of 1,000 chunks, step by step",
        allowed_frac=0.0011,
        why="the first chunk of a real pipeline overlaps with nothing",
        cases=_double_buffer,
    ),
    Subject(
        module="tiling",
        quantity="misses of matrix products, level by level",
        against="pycachesim 0.3.1, every access a load",
        allowed_frac=0.0,
        why="",
        cases=_simulated_misses,
        table=CACHE_TABLE,
    ),
    Subject(
        module="tiling",
        quantity="misses of two compiled loop nests",
        against="cachegrind of valgrind 3.19.0",
        allowed_frac=0.02,
        why="the tool also counts a few accesses to the stack; eight lines at most",
        cases=_real_misses,
        table="cache_cachegrind.json",
    ),
    Subject(
        module="occupancy",
        quantity="blocks per multiprocessor, and what a block takes",
        against="cuda_occupancy.h of CUDA 13.0.96, compiled",
        allowed_frac=0.0,
        why="",
        cases=_resident_blocks,
        table="occupancy.json",
    ),
    Subject(
        module="tensorcores",
        quantity="registers of a thread, operand by operand",
        against="ptxas 13.0.88, the only lengths that it accepts",
        allowed_frac=0.0,
        why="",
        cases=_thread_registers,
        table="tensorcores_registers.json",
    ),
    Subject(
        module="tensorcores",
        quantity="elements in their thread and register",
        against="CuTe layouts of NVIDIA's CUTLASS",
        allowed_frac=0.0,
        why="",
        cases=_fragment_places,
        table="tensorcores_layouts.json",
    ),
    Subject(
        module="threads",
        quantity="numbers of threads in a block",
        against="cub::RowMajorTid of CCCL 3.0.1, compiled",
        allowed_frac=0.0,
        why="",
        cases=_thread_numbers,
        table="threads_cub.json",
    ),
    Subject(
        module="warps",
        quantity="issue slots that warps fill in turns",
        against="the closed form, where it is exact",
        allowed_frac=0.0,
        why="",
        cases=_warp_turns,
    ),
    Subject(
        module="waves",
        quantity="time of a product in equal tiles",
        against="blocks handed out one by one",
        allowed_frac=0.0,
        why="",
        cases=_handed_out,
    ),
    Subject(
        module="systolic",
        quantity="cycles, reads and mapping of 500 products",
        against="SCALE-Sim 3.0.0, its last cycle + 1",
        allowed_frac=0.0,
        why="",
        cases=_systolic,
        table="scalesim.json",
    ),
    Subject(
        module="systolic",
        quantity="cycles in closed form",
        against="words that move from cell to cell",
        allowed_frac=0.0,
        why="",
        cases=_moved_words,
    ),
    Subject(
        module="blocked_gemm",
        quantity="cycles of a TPU whose copies take no time",
        against="the systolic array of primer.systolic",
        allowed_frac=0.0,
        why="",
        cases=_blocks_on_arrays,
    ),
)
