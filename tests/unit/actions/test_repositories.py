"""What git says is in a repository: bounded, without starting what the repository names."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from permitry.actions.repositories import RepositoryError, ask_git, names_in_repository


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@b.example", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def _commit(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    _git(folder, "add", "-f", ".")
    _git(folder, "commit", "-qm", "x")


def _names(folder: Path, kind: str, *words: str, prefix: str = "") -> Sequence[str] | None:
    """Return the names, but for those of a commit that are there."""
    found = names_in_repository(str(folder), str(folder), kind, words, prefix)
    top = os.path.realpath(folder)
    new = [] if found is None else [each for each in found if kind == "stash" or not os.path.exists(each)]  # noqa: PTH110
    return None if found is None else sorted(os.path.relpath(name, top) for name in new)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository whose branch `other` has more files."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    work = tmp_path / "work"
    work.mkdir()
    _git(work, "init", "-q")
    _commit(work, "a", "d/b")
    _git(work, "checkout", "-qb", "other")
    _commit(work, "c", "d/é \n", "e/f")
    _git(work, "checkout", "-q", "main")
    return work


def test_what_a_branch_has_and_the_disk_has_not(work: Path) -> None:
    """By the paths that are asked for, as git understands them."""
    assert _names(work, "commit", "other", ".") == ["c", "d/é \n", "e/f"]
    assert _names(work, "commit", "other", "d", ":/e") == ["d/é \n", "e/f"]
    assert _names(work, "commit", "other", ":!d", "*") == ["c", "e/f"]
    assert _names(work, "commit", "main", ".") == []
    assert _names(work, "commit", "other", "e", prefix="x/y_") == ["x/y_e/f"]
    assert _names(work / "d", "commit", "other", ".") == ["é \n"]
    assert _names(work, "either", "other", "e") == ["e/f"]


def test_what_the_index_has_and_the_disk_has_not(work: Path) -> None:
    """A word that is no reference is a path."""
    (work / "a").unlink()
    assert _names(work, "index", ".") == _names(work, "either", "a", "d") == ["a"]
    assert _names(work, "index", "d") == []


def test_what_a_stash_changes(work: Path) -> None:
    """Files that are there too, and those that were not tracked."""
    (work / "a").write_text("changed")
    (work / "new").write_text("new")
    _git(work, "stash", "push", "-u")
    assert _names(work, "stash", "0") == _names(work, "stash", "refs/stash") == ["a", "new"]
    (work / "d" / "b").unlink()
    _git(work, "stash", "push")
    assert (_names(work, "stash", "0"), _names(work, "stash", "stash@{1}")) == (["d/b"], ["a", "new"])
    assert _names(work, "stash", "2") is _names(work, "stash", "main") is None


@pytest.mark.parametrize(
    "reference", ["unknown", "--output=pwned", "", "-", "main\0x", "main..other", "HEAD:a", "main@{9}"]
)
def test_what_is_no_reference_is_not_read(work: Path, reference: str) -> None:
    """No option is made of it."""
    assert _names(work, "commit", reference, ".") is None
    assert not (work / "pwned").exists()


def test_a_repository_elsewhere_is_read(work: Path, tmp_path: Path) -> None:
    """As that of a linked work tree is; a folder that has none is not, and neither is a repository itself."""
    _git(work, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "main")
    assert _names(tmp_path / "linked", "commit", "other", ".") == ["c", "d/é \n", "e/f"]
    assert names_in_repository(str(work), str(tmp_path), "index", (".",)) is None
    assert names_in_repository(str(work), str(work / ".git"), "index", (".",)) is None
    assert names_in_repository(str(work), str(work / "none"), "index", (".",)) is None


@pytest.mark.usefixtures("work")
def test_longer_ids_are_read(tmp_path: Path) -> None:
    """The empty tree has another one."""
    (tmp_path / "long").mkdir()
    _git(tmp_path / "long", "init", "-q", "--object-format=sha256")
    _commit(tmp_path / "long", "a")
    (tmp_path / "long" / "a").unlink()
    assert _names(tmp_path / "long", "commit", "HEAD", ".") == ["a"]


def test_nothing_is_started_that_the_repository_names(work: Path) -> None:
    """Not to watch files, and not to fetch an object that is missing."""
    pwned = work.parent / "pwned"
    program = work.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {pwned}\n")
    program.chmod(0o755)
    for name, value in {
        "core.fsmonitor": str(program), "core.hooksPath": str(work.parent), "core.pager": str(program),
        "core.sshCommand": str(program), "diff.external": str(program), "extensions.partialClone": "origin",
        "remote.origin.promisor": "true", "remote.origin.url": f"ext::{program}", "protocol.ext.allow": "always",
        "remote.origin.uploadpack": str(program), "core.repositoryFormatVersion": "1",
    }.items():  # fmt: skip
        _git(work, "config", name, value)
    for url in (f"ext::{program}", str(work.parent / "none"), "ssh://h.example/x"):
        _git(work, "config", "remote.origin.url", url)
        assert _names(work, "commit", "other", ".") == ["c", "d/é \n", "e/f"]
        assert _names(work, "index", ".") == []
        tree = subprocess.run(
            ["git", "rev-parse", "other:e"], cwd=work, check=True, capture_output=True
        ).stdout.decode()
        missing = work / ".git" / "objects" / tree[:2] / tree[2:].strip()
        moved = missing.rename(work.parent / "moved")
        assert _names(work, "commit", "other", ".") is None
        moved.rename(missing)
    assert not pwned.exists()


def test_inner_repositories_that_change_as_well_are_not_known(work: Path) -> None:
    """Git leaves them alone, unless a setting says otherwise."""
    inner = work / "inner"
    inner.mkdir()
    _git(inner, "init", "-q")
    _commit(inner, "x")
    _git(work, "add", "inner")
    assert _names(work, "index", ".") == []
    _git(work, "config", "submodule.recurse", "true")
    assert _names(work, "index", ".") is None
    assert _names(work, "index", "d") == []


def test_another_work_tree_is_that_of_the_repository(work: Path) -> None:
    """By its settings, the files go elsewhere."""
    (work.parent / "far").mkdir()
    _git(work, "config", "core.worktree", str(work.parent / "far"))
    found = names_in_repository(str(work), str(work), "commit", ("main", ":/"))
    assert found is None or all(name.startswith(str(work.parent / "far")) for name in found)


@pytest.mark.parametrize(("name", "most"), [("MOST_NAMES", 2), ("_MOST_TEXT", 200)])
def test_what_is_too_much_is_not_read(work: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    """The time and the memory that a decision takes have a limit."""
    monkeypatch.setattr(f"permitry.actions.repositories.{name}", most)
    assert _names(work, "commit", "other", ".") is None
    assert _names(work, "commit", "other", "e") == ["e/f"]


def test_git_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """The time is the caller's to say."""
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    with pytest.raises(RepositoryError, match="does not say"):
        ask_git(str(slow), str(tmp_path), "status", seconds=0.1)
    with pytest.raises(RepositoryError, match="FileNotFoundError"):
        ask_git(str(tmp_path / "none"), str(tmp_path), "status")


def test_variables_and_programs_of_the_workspace_are_not_used(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either may be of the agent."""
    with monkeypatch.context() as patch:
        patch.setenv("GIT_DIR", str(work / ".git"))
        assert _names(work, "index", ".") is None
    (work / "bin").mkdir()
    (work / "bin" / "git").symlink_to("/usr/bin/env")
    monkeypatch.setenv("PATH", str(work / "bin"))
    assert _names(work, "index", ".") is None
