"""What a `git` command would change, as git itself says beforehand; only where git would start no other program."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from permitry.actions.changes import Change
from permitry.actions.git_commands import GitCommand
from permitry.actions.repositories import QUIET, RepositoryError, ask_git, check_environment, find_git
from permitry.errors import UndoError

__all__ = ["changes_of_git"]

_SECONDS = 10.0
# Settings that these commands do not read, or that say only what they print, and how what they write is spelt. Those
# of filters, hooks, other working trees, and of repositories that lack files are not here.
_HARMLESS = (
    "advice.", "alias.", "author.", "blame.", "branch.", "color.", "column.", "commit.", "committer.", "credential.",
    "diff.", "difftool.", "extensions.objectformat", "fetch.", "format.", "gc.", "gpg.", "gui.", "help.", "http.",
    "https.", "include.", "includeif.", "init.", "log.", "maintenance.", "merge.", "mergetool.", "pull.", "push.",
    "rebase.", "rerere.", "safe.", "sendemail.", "stash.", "status.", "tag.", "url.", "user.",
)  # fmt: skip
_OF_CORE = frozenset(
    {
        "abbrev", "askpass", "attributesfile", "autocrlf", "bare", "compression", "editor", "eol", "excludesfile",
        "filemode", "ignorecase", "logallrefupdates", "pager", "precomposeunicode", "quotepath",
        "repositoryformatversion", "safecrlf", "sshcommand", "symlinks", "whitespace",
    }
)  # fmt: skip
_OF_REMOTES = frozenset({"url", "pushurl", "fetch", "push", "tagopt", "prune", "gh-resolved"})
_HOOKS = ("post-checkout", "post-index-change")
# Git adds no such path to an index, which is a file that an agent may write.
_OUTSIDE = frozenset({"", "..", ".", ".git", "git~1"})
_REMOVES, _SKIPS = "Would remove ", "Would skip repository "


def changes_of_git(command: GitCommand, workspace: str | None) -> tuple[Change, ...]:
    """Return all that a command would change; never nothing. Raises: `UndoError` if not certain."""
    folder = Path(os.path.realpath(command.folder))
    if workspace is None or not folder.is_relative_to(os.path.realpath(workspace)):
        raise UndoError("`git` would run outside of the workspace")
    try:
        check_environment()
        git = find_git(Path(os.path.realpath(workspace)))
        top = _check_repository(git, folder)
        _check_settings(git, folder)
        found = _remove(git, folder, command) if command.name == "clean" else _list(git, folder, top, command)
        return (Change(str(folder)), *(Change(path, is_tree=True) for path in found))
    except RepositoryError as error:
        raise UndoError(str(error)) from error


def _ask(git: str, folder: Path, *words: str) -> str:
    return ask_git(git, str(folder), *words, seconds=_SECONDS)


def _check_repository(git: str, folder: Path) -> Path:
    """Return the top of the working tree, with an ordinary folder `.git` and no hooks."""
    top, inner, *rest = _ask(git, folder, "rev-parse", "--show-toplevel", "--absolute-git-dir").split("\n")
    found = Path(top) / ".git"
    # A name with a line break could pass for another repository, and another folder could have the hooks.
    if rest != [""] or Path(inner) != found or not _is_whole(found):
        raise UndoError("the repository is not in a folder `.git` of its working tree")
    if any((found / "hooks" / name).exists() for name in _HOOKS):
        raise UndoError("`git` would run a hook of the repository")
    return Path(top)


def _is_whole(repository: Path) -> bool:
    """Return whether a repository is a folder, and shares nothing that git runs or writes."""
    parts = [repository / name for name in ("commondir", "index")]
    return stat.S_ISDIR(os.lstat(repository).st_mode) and not (os.path.lexists(parts[0]) or parts[1].is_symlink())


def _check_settings(git: str, folder: Path) -> None:
    """Raise `UndoError` unless all settings are known not to matter."""
    for name in filter(None, _ask(git, folder, "config", "--list", "--name-only", "-z").split("\0")):
        if not _is_harmless(name.lower()):
            raise UndoError(f"the setting `{name}` may change what `git` does")


def _is_harmless(name: str) -> bool:
    section, _, key = name.partition(".")
    if section == "core":
        return key in _OF_CORE
    if section == "remote":
        return key.rpartition(".")[2] in _OF_REMOTES
    return name.startswith(_HARMLESS)


def _list(git: str, folder: Path, top: Path, command: GitCommand) -> Iterator[str]:
    listed = _ask(git, folder, *QUIET, "ls-files", "-s", "-z", "--full-name", "--", *command.paths)
    for line in filter(None, listed.split("\0")):
        about, _, name = line.partition("\t")
        if about.startswith("160000 "):
            raise UndoError(f"`{name}` is a repository of its own")
        if not _OUTSIDE.isdisjoint(name.lower().split("/")):
            raise UndoError(f"the index names `{name}`, which is not a file of the working tree")
        yield str(top / name)


def _remove(git: str, folder: Path, command: GitCommand) -> Iterator[str]:
    options = [option for option in command.options if option in ("-d", "-x", "-X")]
    for line in filter(None, _ask(git, folder, *QUIET, "clean", "-n", *options, "--", *command.paths).split("\n")):
        if line.startswith(_SKIPS):
            continue
        if not line.startswith(_REMOVES):
            raise UndoError(f"`git clean` says `{line}`")
        name = line.removeprefix(_REMOVES)
        if name.startswith('"'):
            raise UndoError(f"the name {name} has unusual characters")
        yield os.path.normpath(folder / name)
