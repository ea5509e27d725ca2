"""The Tensor Core example: its program compiles, and its listings say what it computes.

What needs nvcc or nvdisasm, parts of the CUDA toolkit, is skipped where they are not installed.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from primer.drawings import _listing, ptx_sass
from primer.drawings._listing import Line
from tests import wmma_listings as tools
from tests.sass_machine import Warp

CUDA = tools.SOURCE.read_text("utf-8")
needs_nvcc = pytest.mark.skipif(
    tools.tool("nvcc") is None, reason="nvcc is not installed: nothing compiles wmma.cu here"
)
needs_nvdisasm = pytest.mark.skipif(
    tools.tool("nvcc") is None or tools.tool("nvdisasm") is None,
    reason="nvcc or nvdisasm is not installed: no SASS can be made here",
)
#: What people write, and what the compiler says to it: facts W41, W42, W43.
FAULTS = {
    "header": ("#include <mma.h>", "#include <cuda/mma>", "cuda/mma: No such file"),
    "namespace": (
        "using namespace nvcuda;", "using nvcuda::wmma;", "a namespace name is not allowed",
    ),
    "fragment": (
        "wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_frag;",
        "fragment matrix_a<16, 16, 16, half, row_major> a_frag;",
        'identifier "fragment" is undefined',
    ),
}  # fmt: skip


def committed(name: str) -> str:
    return (tools.FOLDER / name).read_text("utf-8")


def bare(text: str) -> list[str]:
    """Lines without comments, empty ones and spacing."""
    lines = (" ".join(re.sub(r"//.*", "", line).split()) for line in text.split("\n"))
    return [line for line in lines if line]


# ---- what is committed


@pytest.mark.parametrize("arch", tools.SASS)
def test_the_committed_sass_multiplies_two_tiles(arch):
    rng = np.random.default_rng(3)
    lines = [line.text for line in _listing.sass(arch)]
    for _ in range(3):
        a, b = rng.integers(-8, 9, size=(2, 16, 16)).astype(float)
        assert np.array_equal(Warp(arch, a, b).run(lines), a @ b)


@pytest.mark.parametrize("arch", tools.SASS)
def test_the_machine_of_this_test_would_notice_a_wrong_listing(arch):
    a, b = np.random.default_rng(4).integers(-8, 9, size=(2, 16, 16)).astype(float)
    lines = [line.text for line in _listing.sass(arch)]
    swapped = [line.replace("+0x100]", "+0x10]") for line in lines]
    unturned = [re.sub(r"MOVM\S* (R\d+), (R\d+)", r"MOV \1, \2", line) for line in lines]
    for wrong in (swapped, unturned):
        assert wrong != lines
        assert not np.array_equal(Warp(arch, a, b).run(wrong), a @ b)


def test_matrix_instructions_are_those_of_the_facts():
    """W44: sm_80 to sm_120 take two HMMA.16816 for 16 × 16 × 16; nobody takes HMMA.16832 for it.

    16 · 16 · 16 = 4,096 multiply-adds = 2 × (16 · 8 · 16) = 4 × (16 · 8 · 8).
    """
    for arch in ("sm_80", "sm_90", "sm_120"):
        assert _listing.count(arch, "HMMA") == {"HMMA.16816.F32": 2}
    assert _listing.count("sm_75", "HMMA") == {"HMMA.1688.F32": 4}
    assert not any("16832" in path.read_text("utf-8") for path in tools.FOLDER.iterdir())


def test_ptx_leaves_the_gpu_open():
    """The same instructions for Ampere and Hopper: only the target differs."""
    one, other = (bare(committed(f"wmma.{arch}.ptx")) for arch in tools.PTX)
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    assert differing == [(".target sm_80", ".target sm_90")]
    matrix = [line.split()[0] for line in one if line.startswith("wmma.")]
    assert matrix == [
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16",
        "wmma.load.b.sync.aligned.row.m16n16k16.global.f16",
        "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32",
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32",
    ]


def test_each_listing_says_how_it_was_made():
    for arch in tools.PTX:
        first, second, *_ = committed(f"wmma.{arch}.ptx").split("\n")
        assert first == f"// nvcc -arch={arch} -ptx -o wmma.ptx wmma.cu"
        assert re.fullmatch(r"// nvcc V\d+\.\d+\.\d+", second)
    for arch in tools.SASS:
        first, second, *_ = committed(f"wmma.{arch}.sass").split("\n")
        assert re.search(rf"-arch={arch} -cubin .*&& nvdisasm -c", first)
        assert re.fullmatch(r"// nvcc V[\d.]+, nvdisasm V[\d.]+", second)
    names = {path.name for path in tools.FOLDER.iterdir()}
    listed = {f"wmma.{a}.ptx" for a in tools.PTX} | {f"wmma.{a}.sass" for a in tools.SASS}
    assert names == {"wmma.cu", *listed}


# ---- what the drawing makes of it


def test_the_drawing_shows_the_committed_lines():
    cuda, ptx, sass = ptx_sass.listings()
    shown = "\n".join(line.text for line in cuda.lines)
    assert shown in CUDA
    assert re.fullmatch(r"#include <mma\.h>\n.*\n}", shown, re.S)
    assert bare("\n".join(line.text for line in ptx.lines)) == bare(committed("wmma.sm_90.ptx"))
    listed = bare(committed("wmma.sm_90.sass"))
    start = listed.index(".text.one_tile:") + 1
    instructions = [re.sub(r"^/\*\w+\*/ ", "", line) for line in listed[start:]]
    assert [line.text for line in sass.lines] == instructions[: len(sass.lines)]
    assert instructions[len(sass.lines) - 1] == "EXIT ;"


def test_every_line_that_does_something_belongs_to_a_step():
    cuda, ptx, sass = ptx_sass.listings()
    assert all(ptx_sass.step_of(line) for line in cuda.lines if line.text)
    free = [line.text.split()[0] for line in ptx.lines if not ptx_sass.step_of(line)]
    assert free == [".version", ".target", ".address_size", "{"]
    assert all(ptx_sass.step_of(line) for line in sass.lines)
    claimed = [address for step in ptx_sass.STEPS for address in step.addresses]
    assert sorted(claimed) == [line.address for line in sass.lines]


def test_the_same_steps_come_in_every_language():
    cuda, ptx, sass = (
        {ptx_sass.step_of(line) for line in listing.lines} - {""} for listing in ptx_sass.listings()
    )
    assert cuda == {step.id for step in ptx_sass.STEPS}
    assert ptx == cuda - {"header"}
    assert sass == ptx - {"fragments", "fill"}


def test_registers_named_in_words_are_those_of_the_listing():
    """Loads of A fill R4 to R7, MOVM fills R16 to R19, and the product reads both."""
    lines = [line.text for line in _listing.sass("sm_90")]
    turned = [line.split()[1].rstrip(",") for line in lines if line.startswith("MOVM")]
    assert turned == ["R16", "R17", "R18", "R19"]
    of_a = [
        line.text.split()[1].rstrip(",")
        for line in _listing.sass("sm_90")
        if ptx_sass.step_of(line) == "load-a" and line.text.startswith("LDG")
    ]
    assert of_a == ["R4", "R5", "R6", "R7"]
    products = [line for line in lines if line.startswith("HMMA")]
    assert all("R4" in line and line.endswith("RZ ;") for line in products)


# ---- what the tools say


@needs_nvcc
@pytest.mark.parametrize("arch", tools.PTX)
def test_nvcc_writes_the_committed_ptx(arch, tmp_path):
    ours, now = bare(committed(f"wmma.{arch}.ptx")), bare(tools.ptx(tmp_path, arch))
    if tools.version("nvcc") not in committed(f"wmma.{arch}.ptx"):
        # Another compiler may number registers otherwise; the matrix instructions stay.
        ours, now = (
            [line.split()[0] for line in lines if line.startswith("wmma.")] for lines in (ours, now)
        )
    assert now == ours


@needs_nvcc
@pytest.mark.parametrize("arch", tools.SASS)
def test_the_whole_program_compiles_without_a_warning(arch, tmp_path):
    options = ("-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra")
    target, done = tools.compiled(tmp_path, "cubin", arch, options=options)
    assert (done.returncode, done.stderr, target.exists()) == (0, "", True)


@needs_nvcc
@pytest.mark.parametrize("fault", FAULTS)
def test_what_people_write_does_not_compile(fault, tmp_path):
    right, wrong, message = FAULTS[fault]
    assert CUDA.count(right) == 1
    source = CUDA.replace(right, wrong)
    _, done = tools.compiled(tmp_path, "ptx", "sm_90", source=source)
    assert done.returncode != 0
    assert message in done.stderr


@needs_nvdisasm
@pytest.mark.parametrize("arch", tools.SASS)
def test_nvdisasm_prints_the_committed_sass(arch, tmp_path):
    ours, now = bare(committed(f"wmma.{arch}.sass")), bare(tools.sass(tmp_path, arch))
    header = committed(f"wmma.{arch}.sass").split("\n")[1]
    if tools.version("nvcc") not in header or tools.version("nvdisasm") not in header:
        ours, now = (re.findall(r"HMMA\.\S+", "\n".join(lines)) for lines in (ours, now))
    assert now == ours


@needs_nvdisasm
def test_the_steps_of_the_drawing_are_the_compilers(tmp_path):
    """With -lineinfo the compiler notes for each instruction the line of the source it serves."""
    lines = CUDA.split("\n")
    found: dict[int, str] = {}
    here = 0
    for line in tools.sass(tmp_path, "sm_90", with_lines=True).split("\n"):
        if noted := re.search(r'//## File "[^"]*wmma\.cu", line (\d+)$', line):
            here = int(noted[1])
        elif instruction := re.search(r"/\*([0-9a-f]{4})\*/ +(\S+)", line):
            found[int(instruction[1], 16)] = lines[here - 1]
            if instruction[2] == "EXIT":
                break
    if tools.version("nvcc") not in committed("wmma.sm_90.sass"):
        pytest.skip(f"made with another compiler than {tools.version('nvcc')}")
    for line in _listing.sass("sm_90"):
        assert ptx_sass.step_of(line) == ptx_sass.step_of(Line(found[line.address]))
