"""Arithmetic that a reader writes, evaluated without `eval`: numbers, names, a few functions.

Only the nodes below are walked, every number is a float, and a text is short, so that no answer can
run code, fill the memory, or take long.

>>> evaluate("sqrt(2)**2").value, evaluate("2·n / 3e2", {"n": 600}).value
(2.0000000000000004, 4.0)
>>> evaluate("1,000.5 + 0,5").value
1001.0
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

LONGEST = 200
CONSTANTS = {"pi": math.pi}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "ln": math.log, "log2": math.log2,
    "log10": math.log10, "ceil": math.ceil, "floor": math.floor, "round": round, "abs": abs,
    "min": min, "max": max,
}  # fmt: skip
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip
_SIGNS = str.maketrans("−×·⋅∙÷’\u00a0\u202f\u2009μ", "-****/'   µ")
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SPACED = re.compile(r"(?<![\w.])\d{1,3}(?:[ ']\d{3})+(?![\d])")
_COMMAS = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?")


class NoValueError(ValueError):
    """Well written, but without a finite real value for these numbers."""


class Value(NamedTuple):
    """A result, and the largest number on the way to it, which says how exact a zero can be."""

    value: float
    largest: float


def plain(text: str) -> str:
    """Python's spelling of what people type: × − ^ 10⁹, "1,000", "1 000" and "0,5".

    A comma before exactly three digits groups thousands, unless the number starts with a zero; any
    other single comma is a decimal one. A text with a function keeps its commas.

    >>> plain("1,5×10⁹"), plain("12 000"), plain("0,219"), plain("max(1,200)")
    ('1.5*10**9', '12000', '0.219', 'max(1,200)')
    """
    text = text.translate(_SIGNS).replace("^", "**")
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda m: "**" + m[0].translate(_POWERS), text)
    text = _SPACED.sub(lambda m: re.sub("[ ']", "", m[0]), text)
    if re.search(r"[a-z0-9]\(", text):
        return text
    return _COMMAS.sub(lambda m: _without_comma(m[0]), text)


def _without_comma(number: str) -> str:
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?", number):
        return number.replace(",", "")
    return number.replace(",", ".") if number.count(",") == 1 and "." not in number else number


def evaluate(text: str, names: Mapping[str, float] | None = None) -> Value:
    """Evaluate arithmetic over the names given.

    Raises ValueError, with a sentence for the reader, for other syntax and an unknown name, and
    NoValueError where the numbers have no finite real result.
    """
    return _Walk(names or {}).run(parse(text))


def parse(text: str) -> ast.expr:
    """The tree of a reader's text; ValueError if it is too long or not an expression."""
    if len(text) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(plain(text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ValueError(f"{text.strip()!r} is not arithmetic that can be read") from None


class _Walk:
    def __init__(self, names: Mapping[str, float]) -> None:
        self.names = {**CONSTANTS, **names}
        self.largest = 0.0

    def run(self, tree: ast.expr) -> Value:
        try:
            value = self.visit(tree)
        except ZeroDivisionError:
            raise NoValueError("it divides by zero") from None
        except OverflowError:
            raise NoValueError("it grows beyond every number") from None
        return Value(value, self.largest)

    def visit(self, node: ast.expr) -> float:
        found = self.compute(node)
        if isinstance(found, complex) or math.isnan(found):
            raise NoValueError(f"{ast.unparse(node)} is not a real number")
        if math.isinf(found):
            raise OverflowError
        self.largest = max(self.largest, abs(found))
        return float(found)

    def compute(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return float(value)
            case ast.Name(id=name):
                if name not in self.names:
                    self.unknown(name)
                return float(self.names[name])
            case ast.UnaryOp(op=op, operand=inner) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self.visit(inner))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self.visit(left), self.visit(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self.call(name, [self.visit(a) for a in arguments])
            case ast.Call(func=ast.Constant() | ast.BinOp()):
                raise ValueError("write the * in front of every bracket")
        raise ValueError(f"{ast.unparse(node)!r} is not plain arithmetic")

    def call(self, name: str, values: list[float]) -> Any:
        if name in self.names:
            raise ValueError(f"write the * after {name}")
        if name not in FUNCTIONS:
            self.unknown(name)
        try:
            return FUNCTIONS[name](*values)
        except TypeError:
            raise ValueError(f"{name} does not take {len(values)} numbers") from None
        except ValueError:
            shown = ", ".join(f"{v:g}" for v in values)
            raise NoValueError(f"{name}({shown}) has no value") from None

    def unknown(self, name: str) -> NoReturn:
        known = [n for n in self.names if n not in CONSTANTS]
        may = f"the names are {', '.join(known)}" if known else "only numbers may stand here"
        raise ValueError(f"{name!r} is not known; {may}, and functions such as sqrt and log2")
