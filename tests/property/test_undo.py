"""What a permission with `keep` lets run is undone step by step: the tree is the one before, with modes and links.

A plain run undoes some hundred sequences, `-m large` 10,000.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.unit.undo.test_restoration import tree_of

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import Ready, ToolHandler
from permitry.undo.restoration import plan, restore
from permitry.undo.vault import Vault
from permitry_tools import files, patch
from permitry_tools.workspace import Workspace

_POLICY = load_policy('schema = 1\n[[rule]]\nid = "k"\neffect = "allow"\nkeep = true\ntools = ["*"]\n')
_SHELL = ToolSpec(
    "run_shell",
    traits=ToolTraits(read_only=False, open_world=True, spawns_agent=False),
    roles={"command": ArgumentRole.COMMAND},
)
_EXAMPLES = 10_000 if settings().max_examples > 100 else 4 * settings().max_examples

_names = st.sampled_from(("a", "b", "d", "d/x", "d/e", "d/e/f", "e", "link", "n/m", "dangling", "hard"))
_commands = st.sampled_from(
    (
        "rm {p}", "rm -r {p}", "rm -rf {p} {q}", "unlink {p}", "rmdir {p}", "mv {p} {q}", "mv -f {p} {q}",
        "mv -t d {p}", "cp {p} {q}", "cp -r {p} {q}", "cp -a {p} {q}", "cp -p {p} {q}", "cp -l {p} {q}",
        "cp -al {p} {q}", "install {p} {q}", "ln {p} {q}", "ln -s {p} {q}", "ln -sf {p} {q}", "ln -f {p} {q}",
        "link {p} {q}",
        "mkdir {p}", "mkdir -p {p}/n/m",
        "touch {p}", "touch -r {p} {q}", "echo two > {p}", "echo two >> {p}", "tee {p} < {q}",
        "printf x | tee {p} {q}", "sed -i s/o/0/ {p}", "truncate -s 3 {p}", "dd if={p} of={q}", "sort -o {p} {q}",
        "chmod 600 {p}", "chmod -R u=rx {p}", "chmod +x {p} {q}", "mv {p} {q} && mv {q} {p}",
        "rm -r {p}; mkdir {p} && echo new > {p}/z", "cd d && rm x && mv e ../{p}", "cat {p} > {q}",
        "ls; rm {p} || echo gone > {p}", "for f in a b; do cp $f {p}; done", "cat {p} | head -1 > {p}",
    )
)  # fmt: skip
_ADD = "*** Begin Patch\n*** Add File: {p}\n+new\n*** Delete File: {q}\n*** End Patch"
_MOVE = "*** Begin Patch\n*** Update File: {p}\n*** Move to: {q}\n@@\n-one\n+1\n*** End Patch"
_calls = st.one_of(
    st.builds(lambda text, p, q: ("run_shell", {"command": text.format(p=p, q=q)}), _commands, _names, _names),
    st.builds(lambda p: ("write_file", {"path": p, "content": "written\n"}), _names),
    st.builds(
        lambda text, p, q: ("apply_patch", {"patch": text.format(p=p, q=q)}),
        st.sampled_from((_ADD, _MOVE)), _names, _names,
    ),
)  # fmt: skip

_git_commands = st.sampled_from(
    (
        "git checkout -- {p}", "git checkout -- {p} {q}", "git checkout -- .", "git restore {p}", "git restore .",
        "cd d && git checkout -q -- .", "cd d && git restore x", "git clean -f", "git clean -fd", "git clean -fdx",
        "git clean -fX", "git clean -fd {p}", "git clean -f -d -- {p} {q}", "cd d && git clean -fdX",
    )
)  # fmt: skip
_git_calls = st.builds(
    lambda text, p, q: ("run_shell", {"command": text.format(p=p, q=q)}), _git_commands, _names, _names
)


def _filled(work: Path) -> None:
    (work / "d" / "e").mkdir(parents=True)
    for name in ("a", "b", "d/x", "d/e/f"):
        (work / name).write_text(f"{name}\none\n")
    (work / "b").chmod(0o640)
    (work / "hard").write_text("hard\n")
    (work / "d" / "hard").hardlink_to(work / "hard")
    (work / "link").symlink_to("a")
    (work / "d" / "up").symlink_to("../e")
    (work / "dangling").symlink_to("nowhere")


def _handler(work: Path, kept: Vault) -> ToolHandler:
    registry = ToolRegistry()

    def run(arguments: dict[str, Any]) -> tuple[bool, str]:
        done = subprocess.run(
            ["/bin/sh", "-c", arguments["command"]],
            cwd=work,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode == 0, ""

    registry.register(_SHELL, run)
    files.register(registry, Workspace(work))
    patch.register(registry, Workspace(work))
    return ToolHandler(Session(workspace=str(work)), _POLICY, registry=registry, undo=kept)


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    """Do not wait for the disk: a test that is killed is another one."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """Yield a folder for all examples."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="module")
def repository(scratch: Path) -> Iterator[Path]:
    """Yield a repository to copy: with tracked, changed, untracked and ignored files, and no settings of a user."""
    work = scratch / "repository"
    _filled(work)
    (work / ".gitignore").write_text("m\n")
    own = {"HOME": str(scratch), "GIT_CONFIG_NOSYSTEM": "1"}
    with pytest.MonkeyPatch.context() as patched:
        for name, value in (*own.items(), *((name, None) for name in os.environ if name.startswith("GIT_"))):
            patched.delenv(name) if value is None else patched.setenv(name, value)
        for words in ("init -q", "add a b d/x d/e link .gitignore", "-c user.name=n -c user.email=e commit -qm one"):
            subprocess.run(["git", *words.split()], cwd=work, check=True)
        shutil.rmtree(work / ".git" / "hooks")
        (work / "a").write_text("changed\n")
        yield work


@settings(max_examples=_EXAMPLES)
@given(calls=st.lists(_calls, min_size=1, max_size=6), data=st.data())
def test_whatever_ran_is_undone_step_by_step(
    scratch: Path, calls: list[tuple[str, dict[str, object]]], data: DataObject
) -> None:
    """Each step leads to the tree before it, without force; and all of them done again to the tree at the end."""
    _undone(scratch, _filled, tree_of, calls, does_again=data.draw(st.booleans()))


@settings(max_examples=max(_EXAMPLES // 10, 40))
@given(calls=st.lists(st.one_of(_calls, _git_calls), min_size=1, max_size=5), data=st.data())
def test_whatever_git_did_is_undone_step_by_step(
    repository: Path, calls: list[tuple[str, dict[str, object]]], data: DataObject
) -> None:
    """Among other calls; what git says of the files is as before, too. Its index also has times, which it renews."""

    def copied(work: Path) -> None:
        shutil.copytree(repository, work, symlinks=True)

    _undone(repository.parent, copied, _repository_of, calls, does_again=data.draw(st.booleans()))


def _repository_of(work: Path) -> tuple[object, bytes]:
    tree = {path: node for path, node in tree_of(work).items() if not path.endswith(".git/index")}
    status = ["git", "--no-optional-locks", "status", "--porcelain", "--ignored", "-uall"]
    return tree, subprocess.run(status, cwd=work, check=True, capture_output=True).stdout


def _undone(
    scratch: Path,
    fill: Callable[[Path], None],
    seen: Callable[[Path], object],
    calls: list[tuple[str, dict[str, object]]],
    *,
    does_again: bool,
) -> None:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        work = folder / "work"
        fill(work)
        kept = Vault(folder / "vault")
        handler = _handler(work, kept)
        trees, steps = [seen(work)], []
        for name, arguments in calls:
            before = {entry.id for entry in kept.entries()}
            outcome = handler.begin(ToolCall(name, arguments))
            shown = "git" if "git " in str(arguments.get("command")) else name
            event(f"{shown}: {type(outcome).__name__}")
            if not isinstance(outcome, Ready):
                assert seen(work) == trees[-1]
                continue
            handler.run(outcome)
            found = [entry.id for entry in kept.entries() if entry.id not in before]
            assert found or seen(work) == trees[-1], "it changed something that was not kept"
            if found:
                steps.append(found[0])
                trees.append(seen(work))
        undone = []
        for step, tree in reversed(list(zip(steps, trees, strict=False))):
            assert plan(kept, kept.find(step)).conflicts == ()
            undone.append(restore(kept, step))
            assert seen(work) == tree, step
        if does_again:
            for step in reversed(undone):
                restore(kept, step)
            assert seen(work) == trees[-1]
    finally:
        shutil.rmtree(folder)
