"""Asks git what is in a repository, in ways in which git starts no other program and writes nothing.

What a branch, an index or a stash holds is read before a command brings it into a folder. Every answer is bounded in
time and size. What is in the repository is the agent's: only commands are used that run no filter, hook or pager, and
no transport is permitted that would fetch what is missing.
"""

import functools
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from posixpath import join, normpath
from typing import TypeAlias

from permitry.actions.archives import MOST_NAMES, Names

__all__ = ["QUIET", "RepositoryError", "ask_git", "check_environment", "find_git", "names_in_repository"]

QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")
"""Nothing is started, whatever the settings are by now, and names are given as they are."""
_LONGEST = 2.0
_MOST_TEXT = 8 * 1024 * 1024
_LARGEST = 256 * 1024 * 1024
_VARIABLES = (
    "GIT_ASKPASS", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG_NOSYSTEM", "GIT_EDITOR", "GIT_MERGE_AUTOEDIT",
    "GIT_OPTIONAL_LOCKS", "GIT_PAGER", "GIT_SSH", "GIT_SSL_", "GIT_TERMINAL_PROMPT",
)  # fmt: skip
_OWN = {
    "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
}  # fmt: skip
_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\n")
_EMPTY = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The id of the tree without files, by the length of ids."""
_REPOSITORY = "160000"
_STASHED = re.compile(r"[0-9]+", re.ASCII)
_NOTHING_FOUND = 1

_Ask: TypeAlias = Callable[..., str]


class RepositoryError(Exception):
    """Raised where git does not say what is there, or where that is not certain; its message says why."""


def check_environment() -> None:
    """Raise `RepositoryError` where a variable may change what git reads."""
    foreign = [name for name in os.environ if name.startswith("GIT_") and not name.startswith(_VARIABLES)]
    if foreign:
        raise RepositoryError(f"the variable `{foreign[0]}` may change what `git` does")


def find_git(workspace: Path) -> str:
    """Return the path of git, which is not one that an agent could have put into the workspace."""
    found = shutil.which("git", path=os.pathsep.join(filter(os.path.isabs, os.get_exec_path())))
    if found is None:
        raise RepositoryError("`git` is not installed")
    path = Path(found)
    # The folder on the way may be a link into the workspace, and `git` there one that leads out of it again.
    if any(each.is_relative_to(workspace) for each in (path, path.resolve(), path.parent.resolve())):
        raise RepositoryError("`git` is not installed outside of the workspace")
    return found


def ask_git(
    git: str, folder: str, *words: str, seconds: float = _LONGEST, most: int = _LARGEST, may_lack: bool = False
) -> str:
    """Return what git prints; with `may_lack`, empty where it finds nothing."""
    env, nothing = {**os.environ, **_OWN}, subprocess.DEVNULL
    try:
        process = subprocess.Popen(  # noqa: S603 -- git itself, with words of our own and checked paths
            [git, *words], cwd=folder, env=env, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing
        )
    except (OSError, ValueError) as error:
        raise RepositoryError(f"`git` does not say what is there: {type(error).__name__}") from error
    timer = threading.Timer(seconds, process.kill)
    with process:
        timer.start()
        try:
            text = b"" if process.stdout is None else process.stdout.read(most + 1)
            if len(text) > most:
                raise RepositoryError("`git` says too much")
            code = process.wait()
        finally:
            timer.cancel()
            process.kill()
    if code == _NOTHING_FOUND and may_lack and not text:
        return ""
    if code != 0:
        raise RepositoryError("`git` does not say what is there")
    return os.fsdecode(text)


def names_in_repository(workspace: str, folder: str, kind: str, words: Sequence[str], prefix: str = "") -> Names | None:
    """Return the absolute names of the files that a command of git would write; None if they are not certain.

    It runs in `folder`. `words` are, by kind: `index`, pathspecs; `commit`, a reference and pathspecs; `either`, the
    one if the first word is a reference, else the other; `stash`, a stash. `prefix` is put before each name.
    """
    try:
        check_environment()
        ask = functools.partial(ask_git, find_git(Path(os.path.realpath(workspace))), folder, most=_MOST_TEXT)
        top = ask("rev-parse", "--show-toplevel").removesuffix("\n")
        found = dict.fromkeys(_find_names(ask, kind, words))
    except (RepositoryError, OSError, ValueError):
        return None
    if len(found) > MOST_NAMES:
        return None
    return tuple(normpath(join(top, f"{prefix}{name}")) for name in found)


def _find_names(ask: _Ask, kind: str, words: Sequence[str]) -> Iterator[str]:
    """Yield names relative to the top of the work tree."""
    if kind == "stash":
        yield from _list_stash(ask, words[0])
        return
    tree = None if kind == "index" else _tree(ask, words[0])
    if tree is None and kind == "commit":
        raise RepositoryError("no such reference")
    listed = _in_index(ask, words) if tree is None else _between(ask, _EMPTY[len(tree)], tree, words[1:])
    yield from _without_repositories(ask, listed)


def _list_stash(ask: _Ask, stash: str) -> Iterator[str]:
    commit = _object(ask, f"stash@{{{stash}}}" if _STASHED.fullmatch(stash) else stash)
    before, after, others = (commit and _object(ask, f"{commit}{which}^{{tree}}") for which in ("^1", "", "^3"))
    if not (before and after):
        raise RepositoryError("no such stash")
    yield from (path for _, path in _between(ask, before, after, ()))
    if others:
        yield from (path for _, path in _between(ask, _EMPTY[len(others)], others, ()))


def _tree(ask: _Ask, reference: str) -> str | None:
    """Return the id of the tree that a reference leads to; None if there is none of this name."""
    # Git takes `a@{1}^{tree}` for a time where there is no `a@{1}`.
    found = _object(ask, reference)
    return None if found is None else _object(ask, f"{found}^{{tree}}")


def _object(ask: _Ask, name: str) -> str | None:
    """Return the id of an object; None if there is none of this name."""
    if not name or name.startswith("-"):
        raise RepositoryError("no object has such a name")
    found = ask("rev-parse", "--verify", "--quiet", name, may_lack=True)
    if found and not _ID.fullmatch(found):
        raise RepositoryError("not an id")
    return found.removesuffix("\n") or None


def _between(ask: _Ask, before: str, after: str, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the mode and name of what is different in two trees."""
    options = ("-r", "-z", "--raw", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv")
    parts = ask(*QUIET, "diff-tree", *options, before, after, "--", *paths).split("\0")
    yield from zip((about.split(" ")[1] for about in parts[:-1:2]), parts[1::2], strict=True)


def _in_index(ask: _Ask, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    for line in filter(None, ask(*QUIET, "ls-files", "-s", "-z", "--full-name", "--", *paths).split("\0")):
        about, _, name = line.partition("\t")
        yield about.split(" ")[0], name


def _without_repositories(ask: _Ask, listed: Iterator[tuple[str, str]]) -> Iterator[str]:
    """Yield names; what is in a repository within this one is not known, where that is brought along."""
    found = tuple(listed)
    has_inner = any(mode == _REPOSITORY for mode, _ in found)
    if has_inner and ask("config", "--get", "submodule.recurse", may_lack=True):
        raise RepositoryError("repositories within this one are changed as well")
    yield from (name for _, name in found)
