"""A warp that runs the SASS of `wmma.cu`: just the instructions that its listings hold.

There may be no GPU where the tests run. This machine executes the committed instructions one by
one, for 32 threads, and so shows what the kernel computes. How a matrix lies in the registers of
the threads is that of `mma.m16n8k16` and `mma.m16n8k8` in NVIDIA's PTX ISA, "Matrix Fragments";
what an address is, each listing computes itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

LANES = np.arange(32)
GROUP, PLACE = LANES // 4, LANES % 4
A, B, C = 1 << 16, 2 << 16, 3 << 16  # where the three matrices begin
#: Where an architecture's constants hold the three addresses.
PARAMETERS = {"sm_75": 0x160, "sm_80": 0x160, "sm_90": 0x210, "sm_120": 0x380}
_REGISTER = re.compile(r"(U?R)(\d+|Z)")


class Warp:
    """Registers of 32 threads, and the three matrices.

    Parameters
    ----------
    arch : str
    a, b : array (16, 16)
    """

    def __init__(self, arch: str, a: np.ndarray, b: np.ndarray) -> None:
        first = PARAMETERS[arch]
        self.constants = {first + 8 * i: address for i, address in enumerate((A, B, C))}
        self.memory = {A: a.reshape(-1), B: b.reshape(-1), C: np.zeros(256)}
        self.registers: dict[str, np.ndarray] = {"RZ": np.zeros(32, dtype=np.int64)}

    def run(self, lines: Iterable[str]) -> np.ndarray:
        """Run instructions such as "LDG.E R0, [R6+0x10] ;"; returns the matrix C."""
        for line in lines:
            name, _, rest = line.rstrip(" ;").partition(" ")
            operands = [word.strip() for word in rest.split(",")] if rest else []
            self._step(name, operands)
        return self.memory[C].reshape(16, 16)

    def _step(self, name: str, operands: list[str]) -> None:
        known: dict[str, Callable[..., None]] = {
            "LDC": self._constant, "ULDC": self._constant, "LDCU": self._constant,
            "MOV": self._move, "S2R": self._lane, "LOP3": self._and, "SHF": self._shift,
            "LEA": self._address, "LDG": self._load, "MOVM": self._transpose,
            "HMMA": self._multiply, "STG": self._store,
        }  # fmt: skip
        if name.startswith("IMAD.MOV"):
            self._move(name, operands[0], operands[3])
        elif name.startswith("IMAD.WIDE"):
            self._multiply_add(*operands)
        elif name.split(".")[0] not in ("NOP", "EXIT") and not name.startswith("LEA.HI"):
            known[name.split(".")[0]](name, *operands)  # an unknown one is an error

    def _value(self, word: str) -> np.ndarray:
        """A register, a number, or a constant; the high halves of addresses are all zero."""
        word = word.removesuffix(".reuse")
        if found := re.fullmatch(r"c\[0x0\]\[(0x[0-9a-f]+)\]", word):
            return np.full(32, self.constants.get(int(found[1], 16), 0))
        if _REGISTER.fullmatch(word):
            return self.registers[word]
        return np.full(32, int(word, 16))

    def _block(self, word: str, n: int) -> list[np.ndarray]:
        """Registers that follow each other."""
        kind, first = _REGISTER.match(word).groups()  # type: ignore[union-attr]
        if first == "Z":
            return [self.registers["RZ"]] * n
        return [self.registers[f"{kind}{int(first) + i}"] for i in range(n)]

    def _keep(self, word: str, values: list[np.ndarray]) -> None:
        kind, first = _REGISTER.match(word).groups()  # type: ignore[union-attr]
        for i, value in enumerate(values):
            self.registers[f"{kind}{int(first) + i}"] = value

    def _constant(self, name: str, to: str, place: str) -> None:
        first = int(place.split("[")[-1].rstrip("]"), 16)
        n_words = int(name.rpartition(".")[2]) // 32 if "." in name else 1
        found = [np.full(32, self.constants.get(first + 4 * i, 0)) for i in range(n_words)]
        self._keep(to, found)

    def _move(self, name: str, to: str, value: str) -> None:
        self._keep(to, [self._value(value)])

    def _lane(self, name: str, to: str, what: str) -> None:
        assert what == "SR_LANEID"
        self._keep(to, [LANES])

    def _and(self, name: str, to: str, x: str, y: str, z: str, table: str, *rest: str) -> None:
        assert (z, table) == ("RZ", "0xc0")  # the truth table of "x and y"
        self._keep(to, [self._value(x) & self._value(y)])

    def _shift(self, name: str, to: str, low: str, by: str, high: str) -> None:
        assert (name, low) == ("SHF.R.U32.HI", "RZ")
        self._keep(to, [self._value(high) >> self._value(by)])

    def _multiply_add(self, to: str, x: str, y: str, z: str) -> None:
        self._keep(to, [self._value(x) * self._value(y) + self._value(z)])

    def _address(self, name: str, to: str, carry: str, x: str, y: str, by: str) -> None:
        self._keep(to, [(self._value(x) << self._value(by)) + self._value(y)])

    def _place(self, word: str) -> tuple[int, np.ndarray]:
        """The matrix that an address lies in, and the bytes from its beginning."""
        found = re.search(r"\[(R\d+)(?:\.64)?(?:\+(0x[0-9a-f]+))?\]$", word)
        assert found, word
        address = self._value(found[1]) + int(found[2] or "0", 16)
        (base,) = set((address >> 16 << 16).tolist())  # no thread reads past its matrix
        return base, address - base

    def _load(self, name: str, to: str, word: str) -> None:
        """Two halves for each thread."""
        base, at = self._place(word)
        values = self.memory[base]
        self._keep(to, [np.stack([values[at // 2], values[at // 2 + 1]], axis=1)])

    def _store(self, name: str, word: str, first: str) -> None:
        """Two floats of each thread."""
        base, at = self._place(word)
        for i, value in enumerate(self._block(first, 2)):
            self.memory[base][at // 4 + i] = value

    def _transpose(self, name: str, to: str, of: str) -> None:
        """Thread 4 i + j holds row i, columns 2 j and 2 j + 1 of a block of 8 × 8."""
        assert name == "MOVM.16.MT88"
        block = self._value(of).reshape(8, 8).T
        self._keep(to, [block.reshape(32, 2)])

    def _multiply(self, name: str, to: str, a: str, b: str, c: str) -> None:
        """D = A · B + C for 16 × 8 × K, K = 16 or 8."""
        depth = {"HMMA.16816.F32": 16, "HMMA.1688.F32": 8}[name]
        left, right = np.zeros((16, depth)), np.zeros((depth, 8))
        for i, pair in enumerate(self._block(a, depth // 4)):
            for h in (0, 1):
                left[GROUP + 8 * (i % 2), 2 * PLACE + 8 * (i // 2) + h] = pair[:, h]
        for i, pair in enumerate(self._block(b, depth // 8)):
            for h in (0, 1):
                right[2 * PLACE + 8 * i + h, GROUP] = pair[:, h]
        product = left @ right
        sums = self._block(c, 4)
        rows, columns = GROUP[:, None] + [0, 0, 8, 8], 2 * PLACE[:, None] + [0, 1, 0, 1]
        self._keep(to, [product[rows[:, i], columns[:, i]] + sums[i] for i in range(4)])
