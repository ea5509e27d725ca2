"""The hardware tables: every chip, every field, nothing converted wrongly, nothing left out."""

from __future__ import annotations

import csv
import dataclasses
import io
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import primer
from primer import hardware
from primer.hardware import Chip, Quantity
from primer_book import chiphtml, chiptable, tables

H100 = hardware.load("h100_sxm5_80gb")
CHIPS = tables.all_chips()


def column(key: str, chips: list[Chip] | None = None) -> chiptable.Column:
    (found,) = chiptable.columns(chips or CHIPS, key)
    return found


def text(key: str, chip: Chip) -> str:
    return chiptable.cell(column(key, [chip]), chip).text


def test_a_cell_has_the_number_in_the_unit_of_its_column_and_exactly_in_base_units():
    cell = chiptable.cell(column("bf16.matrix"), H100)
    assert (cell.text, cell.value, cell.unit) == ("989.4", 989.4e12, "FLOP/s")
    cell = chiptable.cell(column("bandwidth"), H100)
    assert (cell.text, cell.value, cell.remark) == ("3.35", 3.35e12, "HBM3")
    assert text("capacity", H100) == "80 GB"
    assert text("scaleup", H100) == "450", "one way, not the 900 of both"


def test_the_ridge_is_peak_over_bandwidth():
    cell = chiptable.cell(column("ridge16"), H100)
    assert cell.value == pytest.approx(989.4e12 / 3.35e12)
    assert cell.text == "295.3"


def test_a_chip_without_bf16_shows_fp16_and_says_so():
    v100 = hardware.load("v100_sxm2_32gb")
    cell = chiptable.cell(column("peak16"), v100)
    assert (cell.text, cell.remark) == ("125", "fp16")


def test_not_published_is_a_state_and_absence_another():
    unknown = Quantity(name="tdp", amount=None, unit="W", status="not published")
    silent = dataclasses.replace(H100, tdp=unknown)
    tdp = column("tdp")
    cell = chiptable.cell(tdp, silent)
    assert (cell.text, cell.value) == ("not published", None)
    absent = chiptable.cell(tdp, dataclasses.replace(H100, tdp=None))
    assert absent is chiptable.ABSENT
    html = BeautifulSoup(chiphtml.table([silent], [tdp], "T", "t"), "html.parser")
    (shown,) = html.select("tbody td")
    assert shown.text == "not published"
    assert "data-value" not in shown.attrs


def test_a_range_shows_both_ends_and_a_note_leaves_a_mark():
    wide = Quantity(
        name="tdp", amount=300.0, upper=350.0, unit="W", shown="W", status="derived", note="Why."
    )
    cell = chiptable.cell(column("tdp"), dataclasses.replace(H100, tdp=wide))
    assert cell.text == "300–350"
    assert cell.marks == (("d", "derived"), ("*", "has a note"))


def test_chips_are_chosen_by_kind_and_by_family():
    tpus = chiptable.select(CHIPS, kind="tpu")
    assert tpus
    assert {chip.kind for chip in tpus} == {"tpu"}
    assert tpus == chiptable.select(CHIPS, family="Google TPU")
    both = chiptable.select(CHIPS, kind="gpu tpu")
    assert {chip.kind for chip in both} == {"gpu", "tpu"}
    with pytest.raises(ValueError, match=r"kind must be of .*; got 'toaster'"):
        chiptable.select(CHIPS, kind="toaster")
    with pytest.raises(ValueError, match=r"family must be of .*; got 'Intel'"):
        chiptable.select(CHIPS, family="Intel")


def test_all_chips_are_there_in_the_order_of_families_and_dates():
    found = chiptable.select(CHIPS)
    assert {chip.id for chip in found} == set(hardware.names())
    for one, other in pairwise(found):
        if one.family == other.family:
            assert one.release.text <= other.release.text


def test_columns_by_name():
    keys = [c.key for c in chiptable.columns(CHIPS)]
    assert keys[: len(chiptable.SUMMARY)] == list(chiptable.SUMMARY)
    assert "bf16.matrix" in keys
    assert "tf32.vector" not in keys, "no chip has it, so there is no such column"
    assert [c.key for c in chiptable.columns(CHIPS, "tdp host tdp")] == ["tdp", "host"]
    with pytest.raises(ValueError, match=r"columns must be of .*; got 'price'"):
        chiptable.columns(CHIPS, "price")


def test_every_row_has_a_cell_for_every_heading():
    html = chiphtml.table(CHIPS, chiptable.columns(CHIPS), "All", "all")
    table = BeautifulSoup(html, "html.parser").table
    n_columns = len(table.select("thead tr:last-child th[data-sort]"))
    rows = table.select("tbody tr")
    assert len(rows) == len(CHIPS)
    assert {len(row.find_all(["th", "td"])) for row in rows} == {n_columns}
    above = table.select_one("thead tr.groups").find_all(["th", "td"])
    assert sum(int(cell.get("colspan", 1)) for cell in above) == n_columns


def test_every_number_tells_unit_convention_source_and_dates():
    lists = BeautifulSoup("".join(map(chiphtml.field_list, CHIPS)), "html.parser")
    for chip in CHIPS:
        rows = {row["id"]: row for row in lists.select(f'[data-chip="{chip.id}"] tbody tr')}
        fields = list(chiptable.fields(chip))
        assert list(rows) == [f"{chip.id}.{field.name}" for _, field in fields]
        for _, field in fields:
            row = rows[f"{chip.id}.{field.name}"]
            told = row.get_text(" ")
            assert str(field) in told
            assert field.convention in told
            assert field.note in told
            assert field.read in told
            link = row.select_one("a")
            assert (link["href"], link.text) == (field.source.address, field.source.title)


def test_names_from_data_are_escaped():
    odd = dataclasses.replace(H100, name="<i>H</i> & co")
    for html in (chiphtml.table([odd], [column("tdp")], "T", "t"), chiphtml.field_list(odd)):
        assert "<i>" not in html
        assert "&lt;i&gt;H&lt;/i&gt; &amp; co" in html


def test_the_file_has_one_line_for_each_field_with_exact_values():
    rows = list(csv.DictReader(io.StringIO(chiptable.as_csv(CHIPS))))
    wanted = {
        (chip.id, quantity.name): quantity for chip in CHIPS for quantity in chip.quantities()
    }
    numbers = {(row["chip"], row["field"]): row for row in rows if row["unit"] != "date"}
    assert set(numbers) == set(wanted)
    for key, quantity in wanted.items():
        row = numbers[key]
        value = float(row["value"]) if row["value"] else None
        assert (value, row["unit"]) == (quantity.amount, quantity.unit)
        assert row["address"].startswith("http")
        assert (row["published"], row["read"]) == (quantity.published, quantity.read)
    assert len(rows) == len(wanted) + sum(chip.release is not None for chip in CHIPS)


def test_each_cited_source_is_listed_once_with_all_that_rests_on_it():
    html = BeautifulSoup(chiphtml.source_list(CHIPS), "html.parser")
    counts = {row["id"]: int(row.find_all("td")[1].text) for row in html.select("tbody tr")}
    assert sum(counts.values()) == sum(len(list(chiptable.fields(chip))) for chip in CHIPS)
    assert set(counts) <= {f"source-{source.key}" for source in hardware.sources()}


def test_a_page_with_tables_depends_on_the_data_and_on_what_reads_them(tmp_path, monkeypatch):
    package = Path(primer.__file__).parent
    copy = tmp_path / "primer"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "requirements.txt").write_text("numpy==2\n")
    monkeypatch.setattr(primer, "__file__", str(copy / "__init__.py"))
    seen = [tables.digest(tmp_path)]
    for name in ("data/chips/mi300x.toml", "data/sources.toml", "_chipfile.py", "roofline.py"):
        (copy / name).write_text((copy / name).read_text("utf-8") + "# changed\n", "utf-8")
        seen.append(tables.digest(tmp_path))
    assert len(set(seen[:-1])) == 4
    assert seen[-1] == seen[-2], "the tables do not need the roofline"
