"""A page that is filled from data is read again exactly when that data changes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from primer_book import claims, depends, references, validation
from tests.conftest import ROOT


@pytest.fixture
def env(tmp_path, monkeypatch):
    monkeypatch.setattr(depends, "_DIGESTS", {})
    return SimpleNamespace(srcdir=str(tmp_path), docname="")


def note(env, page, *keys):
    env.docname = page
    for key in keys:
        depends.note(env, key)


def outdated(env, removed=()):
    return list(depends.outdated(None, env, set(), set(), set(removed)))


def test_pages_follow_what_they_take(env, tmp_path):
    for key in ("a", "b"):
        path = tmp_path / key
        path.write_text("old")
        depends.register(key, lambda root, key=key: (root / key).read_text())
    note(env, "first", "a")
    note(env, "second", "a", "b")
    note(env, "third", "b")
    assert outdated(env) == []
    (tmp_path / "a").write_text("new")
    assert outdated(env) == ["first", "second"]
    assert outdated(env, removed=["first"]) == ["second"]
    depends.forget(None, env, "second")
    note(env, "second", "b")
    assert outdated(env) == ["first"]


def test_a_parallel_reader_hands_over(env, tmp_path):
    depends.register("a", lambda root: "now")
    other = SimpleNamespace(srcdir=env.srcdir, docname="")
    note(other, "first", "a")
    note(other, "second", "a")
    depends.merge(None, env, {"second"}, other)
    assert env.primer_depends == {"second": {"a": "now"}}


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("references", references.FILE),
        ("claims", claims.FILE),
        ("claims", references.FILE),
        ("claims", "chapters/01_roofline.md"),
        ("validation", "tests/data/roofline_kernels.json"),
        ("assumes", "chapters/01_roofline.md"),
    ],
)
def test_a_digest_sees_its_files(key, path, tmp_path):
    for name in ("book", "chapters", "tests/data"):
        (tmp_path / name).mkdir(parents=True)
        for file in (ROOT / name).glob("*.*"):
            if file.is_file():
                (tmp_path / name / file.name).write_bytes(file.read_bytes())
    (tmp_path / "requirements.txt").write_text("a==1\n")
    digest = depends._DIGESTS[key]
    before = digest(tmp_path)
    assert digest(tmp_path) == before
    text = (tmp_path / path).read_text("utf-8")
    changed = text.replace('"roofline"', '"gemm-intensity"') if key == "assumes" else text + " "
    assert changed != text
    (tmp_path / path).write_text(changed, "utf-8")
    assert digest(tmp_path) != before


def test_the_comparisons_name_their_modules():
    for subject in validation.SUBJECTS:
        assert (ROOT / f"src/primer/{subject.module}.py").exists(), subject.key
