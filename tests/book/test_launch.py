"""Launch buttons: right where the repository is public, absent where it is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from primer_book.launch import git_remote, launch_links, notebook_path, public_address

CHAPTER = "chapters/01_roofline"


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/someone/primer",
        "https://github.com/someone/primer.git",
        "https://github.com/someone/primer/",
        "https://user:secret@github.com/someone/primer.git",
        "git@github.com:someone/primer.git",
        "ssh://git@github.com:22/someone/primer.git",
        "git://github.com/someone/primer.git",
        " https://GitHub.com/someone/primer\n",
    ],
)
def test_every_spelling_of_a_public_remote_gives_one_address(remote: str) -> None:
    assert public_address(remote) == "https://github.com/someone/primer"


@pytest.mark.parametrize(
    "remote",
    [
        "",
        "none",
        "/srv/git/primer.git",
        "../primer",
        "C:\\repos\\primer",
        "C:/repos/primer",
        "file:///srv/git/primer.git",
        "http://example.org/someone/primer",
        "https://localhost/someone/primer",
        "https://127.0.0.1/someone/primer",
        "https://[::1]/someone/primer",
        "git@buildserver:someone/primer.git",
        "https://git.corp.internal/someone/primer",
        "https://github.com/someone",
        "https://github.com",
    ],
)
def test_private_or_local_remote_gives_no_address_and_no_links(remote: str) -> None:
    assert public_address(remote) == ""
    assert launch_links(remote, "main", CHAPTER) == {}


def test_links_open_the_notebook_not_the_text() -> None:
    links = launch_links("git@github.com:someone/primer.git", "main", CHAPTER)
    assert links == {
        "Colab": "https://colab.research.google.com/github/someone/primer/blob/main/"
        "notebooks/01_roofline.ipynb",
        "Binder": "https://mybinder.org/v2/gh/someone/primer/main"
        "?urlpath=lab%2Ftree%2Fnotebooks%2F01_roofline.ipynb",
    }


def test_gitlab_has_binder_only_and_other_hosts_have_nothing() -> None:
    links = launch_links("https://gitlab.com/group/team/primer", "main", CHAPTER)
    assert list(links) == ["Binder"]
    assert "/v2/gl/group%2Fteam%2Fprimer/main?" in links["Binder"]
    assert launch_links("https://codeberg.org/someone/primer", "main", CHAPTER) == {}


def test_branch_with_a_slash_stays_one_branch() -> None:
    links = launch_links("https://github.com/someone/primer", "next/2", CHAPTER)
    assert "/blob/next/2/notebooks/" in links["Colab"]
    assert "/primer/next%2F2?" in links["Binder"]


def test_empty_branch_is_refused() -> None:
    with pytest.raises(ValueError, match=r"branch: .*''"):
        launch_links("https://github.com/someone/primer", "", CHAPTER)


@pytest.mark.parametrize("page", ["book/index", "search", "genindex"])
def test_only_chapters_have_notebooks(page: str) -> None:
    assert notebook_path(page) == ""
    assert launch_links("https://github.com/someone/primer", "main", page) == {}


def test_remote_is_read_from_git(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    assert git_remote(tmp_path / "absent") == ""
    git("init")
    git_remote.cache_clear()
    assert git_remote(tmp_path) == ""
    git("remote", "add", "origin", "git@github.com:someone/primer.git")
    git_remote.cache_clear()
    assert git_remote(tmp_path) == "git@github.com:someone/primer.git"
