"""The comparisons that the validation page shows: they run here, and notice what deviates."""

from __future__ import annotations

import dataclasses
import json

import pytest
from bs4 import BeautifulSoup

from primer import figures
from primer_book import validation
from primer_book.agreement import Agreement, Case
from primer_book.subjects import SUBJECTS
from tests.conftest import ROOT

# Tables that hold no other tool's answers, each with what it is.
OTHER_TABLES: dict[str, str] = {}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.key)
def test_a_simulator_agrees(subject):
    agreement = validation.run(subject)
    assert agreement.n_cases >= 6
    assert bool(subject.why) == (subject.allowed_frac > 0), "say why it is not exact"
    assert subject.allowed_frac <= 0.02


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s.table], ids=lambda s: s.key)
def test_a_changed_value_is_noticed(subject, tmp_path):
    """Half of a value that is compared: the comparison fails and names the case."""
    table = json.loads((ROOT / validation.DATA / subject.table).read_text("utf-8"))
    last = len(table["rows"]) - 1
    rows = range(last + 1) if last < 20 else (0, last // 2, last)
    noticed = 0
    for index in rows:
        for path in counted(table["rows"][index]):
            changed = json.loads(json.dumps(table))
            *outer, name = path
            place = changed["rows"][index]
            for step in outer:
                place = place[step]
            place[name] = place[name] / 2 + 1
            noticed += "must agree with" in complaint(subject, changed, tmp_path)
    assert noticed >= len(rows) - 1


def counted(row):
    """Where the numbers of the other tool stand in a row: named, or last in a list."""
    if isinstance(row, dict):
        return [(name,) for name, value in row.items() if isinstance(value, float | int)]
    return [(len(row) - 1, 0)] if isinstance(row[-1], list) else [(len(row) - 1,)]


def complaint(subject, table, root):
    """What a comparison with this table says; nothing where it agrees."""
    path = root / validation.DATA / subject.table
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table))
    try:
        validation.run(subject, root)
    except ValueError as error:
        return str(error)
    return ""


def test_a_deviation_is_relative_and_decides():
    assert Case("a", 1.01, 1.0).deviation == pytest.approx(0.01)
    assert Case("a", 0.5, 0.0).deviation == 0.5
    subject = dataclasses.replace(SUBJECTS[0], allowed_frac=0.005)
    with pytest.raises(ValueError, match=r"within 0\.005; got 0\.01 for a"):
        Agreement(subject, 1, Case("a", 1.01, 1.0))
    with pytest.raises(ValueError, match="got nan"):
        Agreement(subject, 1, Case("a", float("nan"), 1.0))
    empty = dataclasses.replace(SUBJECTS[0], cases=lambda rows: ())
    with pytest.raises(ValueError, match="at least one case"):
        validation.run(empty)


def test_every_table_of_another_tool_is_compared():
    used = {subject.table for subject in SUBJECTS}
    tables = {path.name for path in (ROOT / validation.DATA).glob("*.json")}
    unused = tables - used - OTHER_TABLES.keys()
    assert not unused, f"give these a subject in primer_book/subjects.py: {sorted(unused)}"


def test_the_built_page_has_a_row_for_each(site):
    page = BeautifulSoup((site / "book/validation.html").read_text("utf-8"), "html.parser")
    rows = [
        [cell.text for cell in row.select("td")] for row in page.select("table.validation tbody tr")
    ]
    assert [(row[0], row[1]) for row in rows] == [(s.module, s.quantity) for s in SUBJECTS]
    assert [row[3] for row in rows] == [str(validation.run(s).n_cases) for s in SUBJECTS]


def test_the_built_limits_list_every_assumption(site):
    page = BeautifulSoup((site / "book/limits.html").read_text("utf-8"), "html.parser")
    items = page.select("ul.assumes > li")
    shown = validation.shown(ROOT)
    assert len(items) == len(shown) > 0
    for item, (place, name) in zip(items, shown, strict=True):
        figure = figures.load(name)
        assert item.a["href"] == f"../{place}.html#{name}"
        said = item.text.replace("’", "'")  # all are typographic on the page
        assert figure.question.replace("’", "'") in said
        assert figure.assumes.replace("’", "'") in said
