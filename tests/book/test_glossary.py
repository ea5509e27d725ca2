"""The glossary: enough words, each once, each in a few plain sentences."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "book/glossary.md").read_text("utf-8")
WORDS = """
arithmetic intensity, ridge point, roofline, bandwidth, latency, throughput, peak, kernel, overlap,
memory-bound, compute-bound, reuse, energy per operation, Little's law, FLOP, FLOP/s, MAC, FMA,
dense, structured sparsity, fp64, fp32, tf32, bf16, fp16, fp8, fp4, int8, mixed precision, GEMM,
GEMV, im2col, convolution, attention, tile, tiling, row-major, stride, batch, token, decode,
prefill, KV cache, SRAM, DRAM, HBM, cache, cache line, set, way, LRU, conflict miss, write-allocate,
write-back, prefetch, register, scratchpad, GPU, SM, warp, thread block, grid, occupancy,
coalescing, bank conflict, divergence, Tensor Core, warp scheduler, wave, shared memory, lane, SIMT,
compute capability, PTX, SASS, launch overhead, kernel fusion, TPU, MXU, VMEM, systolic array,
dataflow, weight stationary, output stationary, fold, double buffering, padding, ICI, CPU, SIMD,
vector unit, matrix unit, AVX-512, AMX, port, branch prediction, out-of-order execution, IPC,
microkernel, NVLink, PCIe, TDP
"""


def entries() -> list[tuple[list[str], str]]:
    """Every entry: its names, and its definition."""
    found = []
    for block in re.findall(r"```\{glossary\}\n(?::\w+:[^\n]*\n)*\n(.*?)```", TEXT, re.S):
        for entry in re.split(r"\n\n(?=\S)", block.strip("\n")):
            lines = entry.split("\n")
            names = [line for line in lines if line and not line.startswith(" ")]
            definition = " ".join(line.strip() for line in lines if line.startswith(" "))
            found.append((names, definition))
    return found


ENTRIES = entries()


def test_the_words_of_the_chapters_are_there():
    names = {name for known, _ in ENTRIES for name in known}
    wanted = {word.strip() for word in WORDS.split(",")}
    assert not wanted - names
    assert len(ENTRIES) >= 120


def test_no_word_is_defined_twice():
    names = [name.lower() for known, _ in ENTRIES for name in known]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(("names", "definition"), ENTRIES, ids=[names[0] for names, _ in ENTRIES])
def test_a_definition_is_one_to_three_plain_sentences(names, definition):
    plain = re.sub(r"\{term\}`(?:([^`<]+?) <[^`>]+>|([^`]+))`", r"\1\2", definition)
    sentences = re.findall(r"[^.!?]+(?:\.(?=\d)[^.!?]*)*[.!?](?=\s|$)", plain)
    assert 1 <= len(sentences) <= 3, sentences
    assert plain.endswith((".", ")"))
    assert plain[0].isupper() or plain[0].isdigit()
    assert "$" not in plain, "the note beside a link shows text, not formulas"
    assert len(plain) <= 360, "too long to read beside a link"


def test_links_inside_lead_to_other_entries():
    names = {name.lower() for known, _ in ENTRIES for name in known}
    for known, definition in ENTRIES:
        for shown, target in re.findall(r"\{term\}`([^`<]+?)(?: <([^`>]+)>)?`", definition):
            assert (target or shown).lower() in names
            assert (target or shown) not in known, f"{known[0]} explains itself by itself"
