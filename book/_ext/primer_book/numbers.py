"""Numbers in prose: ``{num}`EXPRESSION | FORMAT` `` evaluated from primer's models and tables.

The expression is a small part of Python over the names of chips and of primer's modules; the
format is a format spec (``.1%``), a unit (``TFLOP/s``) or both (``.1f FLOP/B``). Sphinx and the
notebook generator call the same `evaluate`, so the page and the notebook cannot disagree.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

SPEC = re.compile(r"(?:[+ -]?0?\d*[,_]?(?:\.\d+)?)(?:[deEfFgGn%])?")
COUNT_NOUN = re.compile(r"[a-z]{3,}(?: [a-z]+)*")
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


@dataclass(frozen=True)
class Measure:
    """A number for a form: exact in its base unit, and as the page writes it."""

    value: float
    base_unit: str
    unit: str
    unit_factor: float
    text: str


def evaluate(text: str) -> str:
    """Evaluate ``EXPRESSION`` or ``EXPRESSION | FORMAT`` and return the text to print.

    Raises ValueError, quoting the expression, for anything that is not arithmetic over chips and
    primer's modules, for a name that does not exist, and for a result that is not one number.
    """
    expression, spec, unit = _split(text)
    return _text(_value(expression), spec, unit, expression)


def measure(text: str, unit: str) -> Measure:
    """Evaluate a number that a reader is asked for in `unit` (an SI unit, ``%`` or a noun)."""
    expression, spec, own_unit = _split(text)
    if own_unit and own_unit != unit:
        raise ValueError(f"the format of {text!r} has another unit than the option: {unit!r}")
    result = _value(expression)
    number = _number(result, expression)
    if COUNT_NOUN.fullmatch(unit) or not unit:
        shown = _text(number, spec, "", expression)
        return Measure(float(number), "1", unit, 1.0, f"{shown} {unit}".strip())
    factor, base = _unit(unit, expression)
    return Measure(float(number), base, unit, factor, _text(result, spec, unit, expression))


def modules_used(text: str) -> set[str]:
    """Name primer's modules that the expression needs; a chip's id needs ``hardware``."""
    expression, _, unit = _split(text)
    names = {node.id for node in ast.walk(_tree(expression)) if isinstance(node, ast.Name)}
    modules = {name if _is_module(name) else "hardware" for name in names}
    return modules | {"units"} if unit else modules


def _split(text: str) -> tuple[str, str, str]:
    """Cut a role's text into expression, format spec and unit."""
    expression, _, form = (part.strip() for part in text.rpartition("|"))
    if "|" not in text:
        expression, form = form, ""
    elif not form:
        raise ValueError(f"the format after '|' is empty in {text!r}")
    if not expression:
        raise ValueError(f"the expression is empty in {text!r}")
    first, _, rest = form.partition(" ")
    if SPEC.fullmatch(first):
        return expression, first, rest.strip()
    return expression, "", form


def _tree(expression: str) -> ast.expr:
    try:
        return ast.parse(expression, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{expression!r} is not an expression: {error.msg}") from error


def _value(expression: str) -> Any:
    """Evaluate the tree; whatever a model raises becomes a ValueError that quotes the text."""
    try:
        return _visit(_tree(expression))
    except Exception as error:
        if repr(expression) in str(error):
            raise
        raise ValueError(f"{error} (in the expression {expression!r})") from error


def _visit(node: ast.expr) -> Any:
    handler = HANDLERS.get(type(node))
    if handler is None:
        raise ValueError(f"{type(node).__name__} is not allowed: {ast.unparse(node)!r}")
    return handler(node)


def _constant(node: ast.Constant) -> Any:
    if node.value is not None and not isinstance(node.value, int | float | str):
        raise ValueError(f"this constant is not allowed: {node.value!r}")
    return node.value


def _name(node: ast.Name) -> Any:
    hardware = importlib.import_module("primer.hardware")
    if node.id in hardware.names():
        return hardware.load(node.id)
    if _is_module(node.id):
        return importlib.import_module(f"primer.{node.id}")
    raise ValueError(f"{node.id!r} is neither a chip nor a module of primer")


def _is_module(name: str) -> bool:
    return not name.startswith("_") and importlib.util.find_spec(f"primer.{name}") is not None


def _attribute(node: ast.Attribute) -> Any:
    owner = _visit(node.value)
    # A string's own methods reach any attribute through format(), so strings have none here.
    if node.attr.startswith("_") or isinstance(owner, str):
        raise ValueError(f"the attribute {node.attr!r} is not allowed")
    if not hasattr(owner, node.attr):
        raise ValueError(f"{ast.unparse(node.value)!r} has no {node.attr!r}")
    found = getattr(owner, node.attr)
    if isinstance(found, ModuleType) and not found.__name__.startswith("primer."):
        raise ValueError(f"the foreign module {node.attr!r} is not allowed")
    return found


def _call(node: ast.Call) -> Any:
    named = {item.arg: _visit(item.value) for item in node.keywords if item.arg is not None}
    if len(named) < len(node.keywords):
        raise ValueError("** in a call is not allowed")
    return _visit(node.func)(*[_visit(item) for item in node.args], **named)


def _binary(node: ast.BinOp) -> Any:
    return _apply(node.op, _visit(node.left), _visit(node.right))


def _unary(node: ast.UnaryOp) -> Any:
    return _apply(node.op, _visit(node.operand))


def _apply(op: ast.AST, *operands: Any) -> Any:
    if type(op) not in OPERATORS:
        raise ValueError(f"the operator {type(op).__name__} is not allowed")
    return OPERATORS[type(op)](*[_number(item, "an operand") for item in operands])


HANDLERS: dict[type[ast.expr], Callable[[Any], Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Subscript: lambda node: _visit(node.value)[_visit(node.slice)],
    ast.Tuple: lambda node: tuple(_visit(item) for item in node.elts),
}


def _is_quantity(value: Any) -> bool:
    return hasattr(value, "value") and hasattr(value, "unit")


def _number(value: Any, what: str) -> Any:
    """Return a finite int or float; a quantity counts with its value in the base unit."""
    number = value.value if _is_quantity(value) else value
    number = number.item() if hasattr(number, "item") else number
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError(f"{what!r} is {type(value).__name__}, not a number")
    if not math.isfinite(number):
        raise ValueError(f"{what!r} is {number}, not a finite number")
    return number


def _units() -> Any:
    return importlib.import_module("primer.units")


def _unit(unit: str, expression: str) -> tuple[float, str]:
    """Return (factor, base unit) of a unit as text; a plain number has the base unit ``1``."""
    if unit in ("", "%"):
        return (0.01 if unit else 1.0), "1"
    try:
        factor, base = _units().parse(f"1 {unit}")
    except ValueError as error:
        raise ValueError(f"the unit of {expression!r}: {error}") from error
    return factor, base


def _text(value: Any, spec: str, unit: str, expression: str) -> str:
    if isinstance(value, str) and not (spec or unit):
        return value
    number = _number(value, expression)
    if not (spec or unit):
        return str(value) if _is_quantity(value) else _plain(number)
    _, base = _unit(unit, expression)
    if _is_quantity(value) and unit and base != value.unit:
        raise ValueError(f"{expression!r} is in {value.unit}, which is not a {unit}")
    if unit == "%":
        return (format(100 * number, spec) if spec else _plain(100 * number)) + "%"
    scaled = _units().in_unit(number, base, unit) if unit else number
    shown = format(scaled, spec) if spec else _plain(scaled)
    return f"{shown} {unit}".strip()


def _plain(number: float) -> str:
    return str(_units().number(number))


def setup(app: Any) -> dict[str, Any]:
    """Register the role ``num``: ``<span class="num" title="EXPRESSION">``."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxRole

    from primer_book import tags

    class NumberRole(SphinxRole):
        def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
            try:
                shown = evaluate(self.text)
            except ValueError as error:
                message = self.inliner.reporter.error(f"num: {error}", line=self.lineno)
                return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
            text = nodes.Text(shown)
            return [tags.make(tags.Phrase, "span", text, classes=["num"], title=self.text)], []

    tags.register_nodes(app)
    app.add_role("num", NumberRole())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
