"""What git says that it would change, and the repositories of which that is not certain."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.undo.test_restoration import tree_of

from permitry.actions.git_commands import GitCommand
from permitry.config.load import load_policy
from permitry.errors import UndoError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit
from permitry.guard.session import Session
from permitry.undo.git import changes_of_git
from permitry.undo.restoration import restore
from permitry.undo.vault import Vault

RULES = 'schema = 1\n[[rule]]\nid = "git"\neffect = "allow"\nkeep = true\ntools = ["@shell"]\n'


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "init.defaultBranch=main", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with tracked, changed, untracked and ignored files."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    work = tmp_path / "work"
    (work / "d" / "e").mkdir(parents=True)
    for name in ("a", "b c", "d/x", "d/e/f"):
        (work / name).write_text(f"{name}\n")
    (work / "link").symlink_to("a")
    (work / ".gitignore").write_text("ignored\n")
    _git(work, "init")
    shutil.rmtree(work / ".git" / "hooks")
    _git(work, "add", ".")
    _git(work, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-m", "one")
    (work / "a").write_text("changed\n")
    (work / "new").mkdir()
    (work / "new" / "ignored").write_text("ignored\n")
    (work / "new" / "é \u2028").write_text("untracked\n")
    (work / "d" / "ignored").write_text("ignored\n")
    (work / "d" / "untracked").write_text("untracked\n")
    (work / "empty").mkdir()
    return work


def _changes(work: Path, name: str, *words: str, folder: str = "") -> set[str]:
    options = tuple(word for word in words if word.startswith("-"))
    paths = tuple(word for word in words if not word.startswith("-"))
    where = work / folder if folder else work
    found = changes_of_git(GitCommand(name, str(where), options, paths), str(work))
    assert found[0].path == str(where), "never nothing"
    assert all(change.is_tree for change in found[1:])
    return {os.path.relpath(change.path, work) for change in found[1:]}


def test_files_come_back_from_the_index(repository: Path) -> None:
    """All that are tracked below the paths, whether they have changed or not."""
    assert _changes(repository, "checkout", "d") == {"d/x", "d/e/f"}
    assert _changes(repository, "restore", ".", folder="d") == {"d/x", "d/e/f"}
    assert _changes(repository, "restore", "b c", "link", "nowhere") == {"b c", "link"}
    assert _changes(repository, "restore", "d/untracked") == set()


def test_untracked_files_are_removed(repository: Path) -> None:
    """Those that the options name; what is ignored stays without `-x`, and the folder it is in."""
    assert _changes(repository, "clean", "-f") == {"d/untracked"}
    assert _changes(repository, "clean", "-f", "-d") == {"d/untracked", "new/é \u2028", "empty"}
    assert _changes(repository, "clean", "-f", "-d", "-x") == {"d/untracked", "d/ignored", "new", "empty"}
    assert _changes(repository, "clean", "-f", "-X") == {"d/ignored", "new/ignored"}
    assert _changes(repository, "clean", "-f", "-d", "new") == {"new/é \u2028"}
    assert _changes(repository, "clean", "-f", folder="d") == {"d/untracked"}


def test_a_repository_in_the_repository_is_not_removed(repository: Path) -> None:
    """Git leaves it alone, and so it is not kept."""
    (repository / "new" / "other").mkdir()
    _git(repository / "new" / "other", "init")
    assert "new/other" not in " ".join(_changes(repository, "clean", "-f", "-d", "-x"))


def _hook(work: Path, name: str) -> None:
    (work / ".git" / "hooks").mkdir()
    (work / ".git" / "hooks" / name).write_text("#!/bin/sh\n")


def _set(name: str, value: str) -> Callable[[Path], None]:
    return lambda work: _git(work, "config", name, value)


def _include(work: Path) -> None:
    (work / "included").write_text('[filter "x"]\nsmudge = touch pwned\n')
    _git(work, "config", "include.path", "../included")


def _submodule(work: Path) -> None:
    _git(work, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")


def _linked(work: Path) -> None:
    (work / ".git").rename(work.parent / "elsewhere")
    (work / ".git").symlink_to(work.parent / "elsewhere")


def _by_file(work: Path) -> None:
    (work / ".git").rename(work.parent / "elsewhere")
    (work / ".git").write_text(f"gitdir: {work.parent / 'elsewhere'}\n")


def _shared(work: Path) -> None:
    _git(work, "init", "../other")
    (work / ".git" / "commondir").write_text("../../other/.git\n")


def _index_elsewhere(work: Path) -> None:
    (work / ".git" / "index").rename(work.parent / "elsewhere")
    (work / ".git" / "index").symlink_to(work.parent / "elsewhere")


def _unusual(work: Path) -> None:
    (work / "tab\there").touch()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda work: _hook(work, "post-checkout"), "would run a hook"),
        (lambda work: _hook(work, "post-index-change"), "would run a hook"),
        (_set("filter.x.smudge", "touch pwned"), "the setting `filter.x.smudge`"),
        (_set("filter.x.process", "touch pwned"), "the setting `filter.x.process`"),
        (_set("core.fsmonitor", "touch pwned"), "the setting `core.fsmonitor`"),
        (_set("core.hooksPath", "x"), "the setting `core.hookspath`"),
        (_set("hook.x.command", "touch pwned"), "the setting `hook.x.command`"),
        (_set("remote.o.promisor", "true"), "the setting `remote.o.promisor`"),
        (_set("core.splitIndex", "true"), "the setting `core.splitindex`"),
        (_set("submodule.recurse", "true"), "the setting `submodule.recurse`"),
        (_include, "the setting `filter.x.smudge`"),
        (_submodule, "`sub` is a repository of its own"),
        (_linked, "not in a folder `.git`"),
        (_by_file, "not in a folder `.git`"),
        (_shared, "not in a folder `.git`"),
        (_index_elsewhere, "not in a folder `.git`"),
        (lambda work: (work / ".git" / "HEAD").write_text("x"), "does not say"),
    ],
)
def test_where_git_may_start_a_program_nothing_is_certain(
    repository: Path, spoil: Callable[[Path], object], why: str
) -> None:
    """Nor where what it changes is elsewhere; and nothing was started to find that out."""
    spoil(repository)
    with pytest.raises(UndoError, match=why):
        _changes(repository, "checkout", ".")
    assert not list(repository.rglob("pwned"))


@pytest.mark.parametrize("name", [b".git/hooks/post-checkout", b"../../x/y/z/abc/defghijk", b"/outside/of/it", b"d//x"])
def test_a_forged_index_is_refused(repository: Path, name: bytes) -> None:
    """Git adds no such path; where it is there all the same, it might write a hook and run it."""
    written = "q" * len(name)
    (repository / written).touch()
    _git(repository, "add", written)
    index = repository / ".git" / "index"
    body = index.read_bytes()[:-20].replace(written.encode(), name)
    index.write_bytes(body + hashlib.sha1(body, usedforsecurity=False).digest())
    with pytest.raises(UndoError, match="not a file of the working tree"):
        _changes(repository, "checkout", ".")


def test_settings_that_do_not_matter_are_left_alone(repository: Path) -> None:
    """Such as those of a clone, and what `git init` writes."""
    for name in ("remote.origin.url", "remote.origin.fetch", "branch.main.remote", "user.name", "alias.co"):
        _git(repository, "config", name, "x")
    assert _changes(repository, "checkout", "a") == {"a"}


def test_a_name_that_is_not_given_as_it_is_is_refused(repository: Path) -> None:
    """Git quotes it, in a way that is not read here."""
    _unusual(repository)
    with pytest.raises(UndoError, match="unusual characters"):
        _changes(repository, "clean", "-f")


def test_the_environment_must_not_lead_elsewhere(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable may name another repository, index or configuration."""
    monkeypatch.setenv("GIT_INDEX_FILE", "x")
    with pytest.raises(UndoError, match="the variable `GIT_INDEX_FILE`"):
        _changes(repository, "checkout", "a")


def test_git_is_not_one_of_the_workspace(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one looked for in the current folder."""
    (repository / "git").write_text("#!/bin/sh\ntouch pwned\n")
    (repository / "git").chmod(0o755)
    monkeypatch.chdir(repository)
    for path in (str(repository), "."):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(UndoError, match="not installed"):
            _changes(repository, "checkout", "a")


def test_git_is_not_one_that_a_link_into_the_workspace_leads_to(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may lead out again, to a program that reads what it runs from the workspace."""
    (repository / "git").symlink_to("/usr/bin/env")
    (repository.parent / "bin").symlink_to(repository)
    monkeypatch.setenv("PATH", str(repository.parent / "bin"))
    with pytest.raises(UndoError, match="not installed outside of the workspace"):
        _changes(repository, "checkout", "a")


def test_a_repository_whose_name_passes_for_another_is_refused(repository: Path) -> None:
    """Its lines are those of the outer one, whose files would be kept in place of its own."""
    inner = Path(f"{repository}\n{repository}/.git")
    inner.mkdir(parents=True)
    _git(inner, "init")
    _git(inner, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "--allow-empty", "-m", "one")
    with pytest.raises(UndoError, match="the repository is not in a folder"):
        changes_of_git(GitCommand("checkout", str(inner), (), (".",)), str(repository.parent))


def test_git_is_not_one_next_to_the_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is in the workspace may be of the agent, as a link is."""
    own = repository.parent / "bin"
    own.mkdir()
    (own / "git").symlink_to("/usr/bin/env")
    monkeypatch.setenv("PATH", str(own))
    with pytest.raises(UndoError, match="not installed"):
        changes_of_git(GitCommand("clean", str(repository), ("-f",), ()), str(repository.parent))


@pytest.mark.parametrize("workspace", [None, "d"])
def test_the_repository_must_be_in_the_workspace(repository: Path, workspace: str | None) -> None:
    """A `cd` may lead to another one."""
    where = None if workspace is None else str(repository / workspace)
    with pytest.raises(UndoError, match="outside of the workspace"):
        changes_of_git(GitCommand("clean", str(repository), ("-f",), ()), where)


def test_what_git_says_besides_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is."""
    monkeypatch.setattr("permitry.undo.git._REMOVES", "Removes ")
    with pytest.raises(UndoError, match="says `Would remove d/untracked`"):
        _changes(repository, "clean", "-f")


@pytest.fixture
def guard(repository: Path, vault: Vault) -> Guard:
    """Return a guard that lets run what can be undone."""
    return Guard(load_policy(RULES), Session(workspace=str(repository)), undo=vault)


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- .",
        "git restore a d",
        "git clean -fd",
        "cd d && git clean -fx",
        "git clean -fd new",
        "git clean -fdx",
    ],
)
def test_a_command_of_git_is_undone(guard: Guard, repository: Path, vault: Vault, command: str) -> None:
    """And what the index says is as before."""
    (repository / "d" / "x").unlink()
    (repository / "d" / "x").mkdir()
    (repository / "d" / "x" / "y").write_text("in the way\n")
    before, status = _seen(repository)
    permit = guard.check(guard.call("bash", {"command": command}))
    assert isinstance(permit, Permit)
    with permit as arguments:
        subprocess.run(["/bin/sh", "-c", arguments["command"]], cwd=repository, check=True)
    assert _seen(repository)[0] != before
    (entry,) = vault.entries()
    restore(vault, entry.id)
    assert _seen(repository) == (before, status)


def _seen(work: Path) -> tuple[object, bytes]:
    """Return the tree, and what git says of it; the index has times of files as well, which git renews."""
    tree = {path: node for path, node in tree_of(work).items() if not path.endswith(".git/index")}
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=work, check=True, capture_output=True).stdout
    status = ["git", "--no-optional-locks", "status", "--porcelain", "--ignored"]
    return tree, listed + subprocess.run(status, cwd=work, check=True, capture_output=True).stdout


def test_what_is_new_when_it_starts_stops_it(guard: Guard, repository: Path) -> None:
    """A file that was made since the decision would be removed without having been kept."""
    permit = guard.check(guard.call("bash", {"command": "git clean -f"}))
    assert isinstance(permit, Permit)
    (repository / "made since").touch()
    with pytest.raises(UndoError, match="would change other files by now"):
        permit.take()


def test_a_setting_that_is_new_when_it_starts_stops_it(guard: Guard, repository: Path) -> None:
    """Git would start a program that nothing was known of."""
    permit = guard.check(guard.call("bash", {"command": "git restore a"}))
    assert isinstance(permit, Permit)
    _git(repository, "config", "filter.x.smudge", "touch pwned")
    with pytest.raises(UndoError, match="the setting"):
        permit.take()


def test_a_repository_that_runs_programs_is_asked_about(guard: Guard, repository: Path) -> None:
    """With the reason."""
    _hook(repository, "post-checkout")
    outcome = guard.check(guard.call("bash", {"command": "git checkout -- a"}))
    assert isinstance(outcome, Ask)
    assert outcome.decision.reason == "`keep` permits only what can be undone: `git` would run a hook of the repository"
