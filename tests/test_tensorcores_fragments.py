"""Fragments: lanes by hand, products of what lanes hold, an assembler, and a GPU where one is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primer import _tensorcoretable, tensorcores
from primer.tensorcores import fragment, instruction

WARP_WIDE = ("mma.m8n8k4", "mma.m16n8k8", "mma.m16n8k16", "mma.m16n8k32")
KEPT = [(name, operand) for name in WARP_WIDE for operand in "abd"]
KEPT += [(name, "d") for name in ("wgmma.m64nNk16", "wgmma.m64nNk32")]


# ---- lanes, from the formulas of the PTX ISA


def test_lanes_of_m16n8k16_by_hand():
    # groupID = lane >> 2, threadID_in_group = lane % 4: lane 0 is (0, 0), lane 7 (1, 3), 29 (7, 1)
    a, b, d = (fragment("mma.m16n8k16", operand) for operand in "abd")
    # a0 a1: row 0, columns 0 1; a2 a3: row 8; a4 a5: row 0, columns 8 9; a6 a7: row 8
    assert a.held(0) == (
        (0, 0, 0), (0, 0, 1), (1, 8, 0), (1, 8, 1), (2, 0, 8), (2, 0, 9), (3, 8, 8), (3, 8, 9),
    )  # fmt: skip
    assert [place[1:] for place in a.held(7)] == [
        (1, 6), (1, 7), (9, 6), (9, 7), (1, 14), (1, 15), (9, 14), (9, 15),
    ]  # fmt: skip
    assert b.held(7) == ((0, 6, 1), (0, 7, 1), (1, 14, 1), (1, 15, 1))
    assert d.held(29) == ((0, 7, 2), (1, 7, 3), (2, 15, 2), (3, 15, 3))
    assert (a.n_registers, b.n_registers, d.n_registers) == (4, 2, 4)


def test_lanes_of_m16n8k8_by_hand():
    # lane 13: group 3, place 1
    assert fragment("mma.m16n8k8", "a").held(13) == ((0, 3, 2), (0, 3, 3), (1, 11, 2), (1, 11, 3))
    assert fragment("mma.m16n8k8", "b").held(13) == ((0, 2, 3), (0, 3, 3))
    assert fragment("mma.m16n8k8", "d").held(13)[2:] == ((2, 11, 2), (3, 11, 3))


def test_lanes_of_volta_by_hand():
    a, b, d = (fragment("mma.m8n8k4", operand) for operand in "abd")
    # lane 22 is the third of the high half of the second group: row and column 2 + 4
    assert a.product[22] == b.product[22] == d.product[22] == 1
    assert a.held(22) == ((0, 6, 0), (0, 6, 1), (1, 6, 2), (1, 6, 3))
    assert b.held(22) == ((0, 0, 6), (0, 1, 6), (1, 2, 6), (1, 3, 6))
    # X = (lane & 1) + (i & 2) = 0, 0, 2, 2, ...; row X + 4; column (i & 4) + (22 & 2) + (i & 1)
    assert [place[1:] for place in d.held(22)] == [
        (4, 2), (4, 3), (6, 2), (6, 3), (4, 6), (4, 7), (6, 6), (6, 7),
    ]  # fmt: skip
    assert [a.product[lane] for lane in (0, 3, 4, 15, 16, 19, 31)] == [0, 0, 1, 3, 0, 0, 3]


def test_threads_of_wgmma_by_hand():
    one = instruction("wgmma.m64nNk16", n=16, a_home="registers")
    # thread 77: warp 2, lane 13, group 3, place 1: rows 35 and 43
    assert [place[1:] for place in fragment(one, "d").held(77)] == [
        (35, 2), (35, 3), (43, 2), (43, 3), (35, 10), (35, 11), (43, 10), (43, 11),
    ]  # fmt: skip
    assert fragment(one, "a").held(77)[4:6] == ((2, 35, 10), (2, 35, 11))


@pytest.mark.parametrize(("name", "operand"), KEPT)
def test_every_element_is_held_once(name, operand):
    held = fragment(name, operand)
    rows, columns = held.shape
    cells = (held.product[:, None] * rows + held.row) * columns + held.column
    assert sorted(cells.ravel().tolist()) == list(range(held.n_products * rows * columns))
    assert not held.row.flags.writeable
    # a register has four bytes, and every one is full
    per = 4 // held.element_bytes
    assert held.register.tolist() == [i // per for i in range(held.row.shape[1])]


def test_one_product_of_16_by_16_by_4_holds_a_and_b_twice():
    """What kernels for Volta do: groups 0 to 3 as a square of products share rows and columns."""
    a, b = fragment("mma.m8n8k4", "a"), fragment("mma.m8n8k4", "b")
    left, right = a.product // 2, b.product % 2
    in_a, in_b = np.zeros((16, 4), int), np.zeros((4, 16), int)
    np.add.at(in_a, (a.row + 8 * left[:, None], a.column), 1)
    np.add.at(in_b, (b.row, b.column + 8 * right[:, None]), 1)
    assert (in_a == 2).all()
    assert (in_b == 2).all()


@pytest.mark.parametrize("name", WARP_WIDE)
def test_lanes_together_compute_the_product(name):
    """D from what lanes hold: each element sums over the lanes that own a row and a column."""
    one = instruction(name)
    rng = np.random.default_rng(7)
    shapes = ((one.m, one.k), (one.k, one.n), (one.m, one.n))
    a, b, c = (rng.integers(-8, 9, (one.n_products, *shape)) for shape in shapes)
    lanes = {x: fragment(one, x) for x in "abd"}
    in_a, in_b = lanes["a"].distribute(a), lanes["b"].distribute(b)
    d = lanes["d"].distribute(c).copy()
    rows = {(int(p), int(i), int(j)): (t, e) for p, t, e, i, j in _places(lanes["a"])}
    columns = {(int(p), int(i), int(j)): (t, e) for p, t, e, i, j in _places(lanes["b"])}
    for p, t, e, i, j in _places(lanes["d"]):
        for k in range(one.k):
            d[t, e] += in_a[rows[int(p), int(i), k]] * in_b[columns[int(p), k, int(j)]]
    assert np.array_equal(lanes["d"].gather(d), a @ b + c)


def _places(held):
    for (t, e), i in np.ndenumerate(held.row):
        yield held.product[t], t, e, i, held.column[t, e]


@given(
    name=st.sampled_from(["wgmma.m64nNk16", "wgmma.m64nNk32"]),
    n=st.integers(1, 32),
    seed=st.integers(0, 99),
)
def test_gathering_undoes_distributing(name, n, seed):
    one = instruction(name, n=8 * n, a_home="registers")
    for operand in "ad":
        held = fragment(one, operand)
        matrix = np.random.default_rng(seed).random(held.shape)
        assert np.array_equal(held.gather(held.distribute(matrix))[0], matrix)


# ---- outside tools


def _ptxas() -> str:
    compiler = shutil.which("nvcc")
    beside = Path(compiler).resolve().parent / "ptxas" if compiler else Path("none")
    return shutil.which("ptxas") or (str(beside) if beside.exists() else "")


TARGETS = {"7.5": "sm_75", "8.0": "sm_80", "8.6": "sm_86", "8.9": "sm_89", "9.0": "sm_90a",
           "10.0": "sm_100a"}  # fmt: skip


@pytest.mark.skipif(not _ptxas(), reason="needs CUDA's ptxas")
@pytest.mark.parametrize("name", tensorcores.instructions())
def test_the_assembler_accepts_what_the_table_says(name, tmp_path):
    """Registers of each operand, and the capabilities that know the instruction."""
    family = _tensorcoretable.family(name)
    knows = {g for g, target in TARGETS.items() if _assembles(name, target, tmp_path)}
    wanted = {*family.runs_on, *family.emulated_on} & TARGETS.keys()
    if name != "mma.m8n8k4":  # Volta's, which later chips accept too
        assert knows == wanted
    for change in {"a", "b", "d"} if name.startswith("mma") else set():
        assert not _assembles(name, TARGETS[max(knows, key=float)], tmp_path, more=change)


def _assembles(name, target, folder, more=""):
    one = instruction(name, n=None if name.startswith("mma") else 16)
    lists = {
        x: "{"
        + ", ".join(f"%{x}{i}" for i in range(fragment(one, x).n_registers * (1 + (x == more))))
        + "}"
        for x, home in zip("abd", (one.a_home, one.b_home, one.d_home), strict=True)
        if home == "registers"
    }
    if name.startswith("mma"):
        line = f"{one.ptx} {lists['d']}, {lists['a']}, {lists['b']}, {lists['d']};"
    elif name.startswith("wgmma"):
        transposed = ", 0, 0" if one.compute == "fp16" else ""
        line = f"{one.ptx} {lists['d']}, %x0, %x1, %p, 1, 1{transposed};"
    else:
        line = f"{one.ptx} [%a0], %x0, %x1, %a1, %p;"
    source = folder / "one.ptx"
    source.write_text(
        f".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{\n"
        ".reg .b32 %a<16>; .reg .b32 %b<16>; .reg .f32 %d<130>; .reg .b64 %x<2>; .reg .pred %p;\n"
        f"setp.ne.b32 %p, 1, 0;\n{line}\nret;\n}}\n"
    )
    command = [_ptxas(), "-arch", target, str(source), "-o", str(folder / "one.cubin")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


CUDA = """
#include <cstdio>
#include <vector>
__global__ void one(const unsigned* a, const unsigned* b, float* d) {
  int t = threadIdx.x;
  asm volatile("%s {%s}, {%s}, {%s}, {%s};" : %s : %s);
}
int main() {
  const int na = %d, nb = %d, nd = %d;
  std::vector<unsigned> a(32 * na), b(32 * nb); std::vector<float> d(32 * nd);
  if (fread(a.data(), 4, a.size(), stdin) + fread(b.data(), 4, b.size(), stdin) +
      fread(d.data(), 4, d.size(), stdin) != a.size() + b.size() + d.size()) return 2;
  unsigned *ga, *gb; float* gd;
  cudaMalloc(&ga, 4 * a.size()); cudaMalloc(&gb, 4 * b.size()); cudaMalloc(&gd, 4 * d.size());
  cudaMemcpy(ga, a.data(), 4 * a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(gb, b.data(), 4 * b.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(gd, d.data(), 4 * d.size(), cudaMemcpyHostToDevice);
  one<<<1, 32>>>(ga, gb, gd);
  if (cudaMemcpy(d.data(), gd, 4 * d.size(), cudaMemcpyDeviceToHost)) return 3;
  fwrite(d.data(), 4, d.size(), stdout);
}
"""


def _program(name):
    """A CUDA program that hands a warp its fragments and gives back those of D."""
    counts = {x: fragment(name, x).n_registers for x in "abd"}
    first = {"d": 0, "a": counts["d"], "b": counts["d"] + counts["a"]}
    lists = {x: ", ".join(f"%{first[x] + i}" for i in range(counts[x])) for x in "abd"}

    def bound(x, kind):
        return ", ".join(f'"{kind}"({x}[t * {counts[x]} + {i}])' for i in range(counts[x]))

    holes = (
        instruction(name).ptx, lists["d"], lists["a"], lists["b"], lists["d"], bound("d", "+f"),
        f"{bound('a', 'r')}, {bound('b', 'r')}", counts["a"], counts["b"], counts["d"],
    )  # fmt: skip
    return CUDA % holes


@pytest.mark.skipif(
    not (shutil.which("nvcc") and Path("/dev/nvidia0").exists()), reason="needs a GPU and nvcc"
)
@pytest.mark.parametrize("name", WARP_WIDE[:3])
def test_a_real_tensor_core_agrees(name, tmp_path):
    one = instruction(name)
    source, binary = tmp_path / "one.cu", tmp_path / "one"
    source.write_text(_program(name))
    subprocess.run(["nvcc", "-arch=native", "-o", binary, source], check=True)
    rng = np.random.default_rng(11)
    shapes = ((one.m, one.k), (one.k, one.n), (one.m, one.n))
    a, b, c = (rng.integers(-8, 9, (one.n_products, *s)).astype("f4") for s in shapes)
    given_to = [fragment(one, x).distribute(m) for x, m in zip("abd", (a, b, c), strict=True)]
    bytes_in = b"".join(
        v.astype(t).tobytes() for v, t in zip(given_to, ("f2", "f2", "f4"), strict=True)
    )
    done = subprocess.run([binary], input=bytes_in, capture_output=True, check=True)
    values = np.frombuffer(done.stdout, "f4").reshape(32, -1)
    assert np.array_equal(fragment(one, "d").gather(values), a @ b + c)
