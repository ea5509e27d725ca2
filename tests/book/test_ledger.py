"""The time ledger: what is added adds up, also from several processes."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from primer_book import ledger
from primer_book.ledger import Ledger


def _add_one(path: Path) -> None:
    Ledger(path).add("frames", 0.5, frames=2)


def test_stages_add_up_in_the_order_of_their_first_entry(tmp_path):
    book = Ledger(tmp_path / "new" / "ledger.json")
    book.add("execution", 1.5, pages=1)
    book.add("frames", 2.0)
    book.add("execution", 0.25, pages=2, cells=7)
    entries = book.entries()
    assert list(entries) == ["execution", "frames"]
    assert entries["execution"].seconds == 1.75
    assert entries["execution"].counts == {"pages": 3, "cells": 7}


def test_forgotten_stages_start_at_zero(tmp_path):
    book = Ledger(tmp_path / "ledger.json")
    book.add("frames", 2.0, frames=9)
    book.forget("frames", "never added")
    book.add("frames", 1.0)
    assert book.entries()["frames"].seconds == 1.0
    assert not book.entries()["frames"].counts


def test_no_entry_of_another_process_is_lost(tmp_path):
    path = tmp_path / "ledger.json"
    with ProcessPoolExecutor(4) as pool:
        list(pool.map(_add_one, [path] * 40))
    assert Ledger(path).entries()["frames"].seconds == 20.0
    assert Ledger(path).entries()["frames"].counts == {"frames": 80}


def test_a_stage_over_its_cap_is_named(tmp_path):
    book = Ledger(tmp_path / "ledger.json")
    book.add("browser", 480.0)
    assert book.check() == []
    book.add("browser", 0.5)
    assert book.check() == ["stage 'browser' took 480.5 s; it may take 480 s"]
    assert ledger.main(["--path", str(book.path), "report"]) == 1


def test_the_table_shows_caps_counts_and_a_total(tmp_path):
    book = Ledger(tmp_path / "ledger.json")
    book.add("frames", 12.0, frames=120)
    book.add("lint", 0.5)
    head, frames, lint, total = (line.split() for line in book.table().splitlines())
    assert head == ["stage", "seconds", "cap"]
    assert frames == ["frames", "12.0", "300", "120", "frames"]
    assert lint == ["lint", "0.5"]
    assert total == ["total", "12.5"]


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_seconds_that_cannot_be_are_refused(tmp_path, seconds):
    with pytest.raises(ValueError, match=r"seconds of stage 'lint' must be >= 0; got"):
        Ledger(tmp_path / "ledger.json").add("lint", seconds)


def test_a_timed_command_keeps_its_exit_status_and_replaces_its_last_time(tmp_path):
    path = tmp_path / "ledger.json"
    Ledger(path).add("lint", 999.0)
    fails = [sys.executable, "-c", "raise SystemExit(3)"]
    assert ledger.main(["--path", str(path), "time", "lint", "--", *fails]) == 3
    assert Ledger(path).entries()["lint"].seconds < 60


def test_a_file_cut_short_is_no_reason_to_stop(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_text('{"lint": {"sec')
    assert Ledger(path).entries() == {}
    Ledger(path).add("lint", 1.0)
    assert Ledger(path).entries()["lint"].seconds == 1.0
