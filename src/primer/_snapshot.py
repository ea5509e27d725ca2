"""The JSON in which a measurement is kept, read with the name of the field in every message.

A snapshot holds its schema and exactly the fields of a dataclass; its rows are dataclasses too.
"""

import dataclasses
import datetime
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from primer import _checks

T = TypeVar("T")


def write(measured: Any, *, schema: int) -> str:
    """A dataclass with `versions` in pairs as text, the same for equal ones; `read` reads it."""
    values = dataclasses.asdict(measured) | {"versions": dict(measured.versions)}
    return json.dumps({"schema": schema} | values, indent=1, ensure_ascii=False) + "\n"


def read(written: str, kind: type, *, schema: int, called: str) -> dict[str, Any]:
    """The fields of a `kind` as JSON gives them; only versions are made pairs already.

    Parameters
    ----------
    written : str
        What `to_json` of the caller wrote.
    kind : type
        The dataclass whose fields must be there, beside the schema.
    schema : int
        The only one that is read.
    called : str
        The whole in messages, such as "the machine".

    Raises
    ------
    ValueError
        If the text is not JSON, has another schema, or a field is missing or unknown.
    """
    try:
        raw = json.loads(written)
    except (TypeError, ValueError):
        _checks.fail("text", "be JSON, as to_json writes it", written)
    found = mapping("text", raw)
    if found.get("schema") != schema or isinstance(found.get("schema"), bool):
        _checks.fail("schema", f"be {schema}", found.get("schema"))
    del found["schema"]
    values = _fields(kind, called, "", found)
    versions = mapping("versions", values["versions"])
    for package, version in versions.items():
        text(f"versions.{package}", version)
    return values | {"versions": tuple(versions.items())}


def row(kind: type[T], where: str, value: object) -> T:
    """One dataclass, whose messages begin with its place, such as ``points[2]``."""
    values = _fields(kind, where, f"{where}.", mapping(where, value))
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{where}.{error}") from None


def rows(kind: type[T], name: str, value: object) -> tuple[T, ...]:
    """A list of dataclasses."""
    return tuple(row(kind, f"{name}[{i}]", one) for i, one in enumerate(sequence(name, value)))


def _fields(kind: Any, called: str, prefix: str, found: dict[str, Any]) -> dict[str, Any]:
    """The values of a dataclass, if they are exactly its fields."""
    known = [field.name for field in dataclasses.fields(kind)]
    for name in found:
        _checks.one_of(f"field of {called}", name, known)
    for name in known:
        if name not in found:
            _checks.fail(f"{prefix}{name}", "be there", None)
    return found


def mapping(name: str, value: object) -> dict[str, Any]:
    """A JSON object, as a new dictionary."""
    if not isinstance(value, Mapping):
        _checks.fail(name, "be a JSON object", value)
    return dict(value)


def sequence(name: str, value: object) -> list[Any]:
    """A JSON list."""
    if not isinstance(value, list):
        _checks.fail(name, "be a JSON list", value)
    return value


def text(name: str, value: object) -> None:
    """Refuse what is not a text, and the empty one."""
    if not isinstance(value, str) or not value:
        _checks.fail(name, "be a non-empty string", value)


def day(name: str, value: object) -> None:
    """Refuse what is not an ISO date."""
    try:
        datetime.date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        _checks.fail(name, "be a day such as 2026-11-29", value)
