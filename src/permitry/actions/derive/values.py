"""What expansions in the words of a command become, where the text, and where it runs, say that before it runs.

`$(pwd)`, and `$(basename a/b)` and `$(dirname a/b)` of a path that is written out are taken for what they print. What
git would print is only shown: it depends on settings and variables, another program may change it until then, and where
git fails, it prints nothing. `$PWD` is not known: an earlier command in the same shell may have set it.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.command import NOWHERE, Command, Redirection
from permitry.actions.derive.substituted import commands_of, moves_late
from permitry.actions.folders import Folder
from permitry.actions.programs.catalogue import record_of
from permitry.core.action import Access
from permitry.core.words import Word

__all__ = ["expand", "shown_values"]

# A word with one sign that may begin an expansion, and with one expansion, has it there: no quotes hide the sign.
_EXPANDED = re.compile(
    r"(?P<before>[^$`]*)"
    r"(?P<written>\$\([^$`()]*\)|`[^$`()\\]*`)"
    r"(?P<behind>[^$`]*)"
)
_PLAIN = re.compile(r"[\w./@%+=:,-]+")
_BRANCH = re.compile(r"ref: refs/heads/([\w./+@-]+)\n")
_OF_GIT = {
    ("git", "branch", "--show-current"): "branch",
    ("git", "rev-parse", "--abbrev-ref", "HEAD"): "branch",
    ("git", "rev-parse", "--show-toplevel"): "top",
}


def expand(command: Command, folder: Folder, script: Sequence[Command]) -> Command:
    """Return a command of a script in `folder`, with the values of expansions in its words and in what it redirects."""
    if _is_of_shell(command):
        return command
    is_kept = not moves_late(script)
    words = tuple(_expand(word, folder, is_kept=is_kept) for word in command.words)
    redirections = tuple(_redirect(each, folder) for each in command.redirections)
    return attrs.evolve(command, words=words, redirections=redirections)


def shown_values(command: Command, folder: Folder) -> Iterator[tuple[str, str]]:
    """Yield the expansions in the words of a command, each with what it is as far as that is known now."""
    every = (_EXPANDED.fullmatch(word.text) for word in command.words if word.is_open)
    for written in (found["written"] for found in every if found is not None):
        value = _value(written, folder) or _said_by_git(written, folder)
        if value and not _is_of_shell(command):
            yield written, value


def _is_of_shell(command: Command) -> bool:
    """Return whether a command is in the text of another shell, which may have been given another home."""
    return any(record_of(name).shell for name in command.within)


def _expand(word: Word, folder: Folder, *, is_kept: bool) -> Word:
    found = _EXPANDED.fullmatch(word.source or word.text)
    if not word.is_open or word.found is not None or found is None:
        return word
    value = _value(found["written"], folder)
    if value is None or (word.source and not is_kept):
        return word
    # Without quotes, or next to a pattern, a blank or a wildcard in the value is one of the shell.
    is_whole = word.is_single and not word.is_glob
    if not is_whole and not _PLAIN.fullmatch(value):
        return word
    return Word(f"{found['before']}{value}{found['behind']}", word.is_glob)


def _redirect(redirection: Redirection, folder: Folder) -> Redirection:
    if redirection.target is None or not redirection.is_open:
        return redirection
    word = _expand(Word(redirection.target, is_open=True, is_single=True), folder, is_kept=True)
    return attrs.evolve(redirection, target=word.text, is_open=word.is_open)


def _value(written: str, folder: Folder) -> str | None:
    """Return what an expansion becomes; None where that is not certain."""
    match _argv(written):
        case ["pwd"]:
            return _here(folder)
        case ["dirname", path]:
            return _dirname(path)
        case ["basename", path, *suffix] if len(suffix) <= 1:
            return _basename(path, *suffix)
        case _:
            return None


def _argv(written: str) -> Sequence[str]:
    """Return the words of the one command of a substitution; none where they are not written out."""
    commands = commands_of(written)
    if len(commands) != 1 or commands[0].assignments:
        return ()
    is_quiet = all((each.operator, each.target) == (">", NOWHERE) for each in commands[0].redirections)
    # Nothing in it is expanded.
    is_plain = commands[0].words == tuple(map(Word, commands[0].argv))
    return commands[0].argv if is_quiet and is_plain else ()


def _here(folder: Folder) -> str | None:
    if not folder.is_certain or len(folder.bases) != 1:
        return None
    return folder.bases[0]


def _dirname(path: str) -> str | None:
    """Return what `dirname` prints of a path. Source: POSIX, "dirname"."""
    if not path or path.startswith("-"):
        return None
    bare = path.rstrip("/")
    if not bare:
        return "/"
    return posixpath.dirname(bare) or "."


def _basename(path: str, suffix: str = "") -> str | None:
    """Return what `basename` prints of a path. Source: POSIX, "basename"."""
    if not path or path.startswith("-"):
        return None
    bare = posixpath.basename(path.rstrip("/")) or "/"
    # A suffix that is the whole name stays.
    return bare.removesuffix(suffix) or bare


def _said_by_git(written: str, folder: Folder) -> str | None:
    """Return what git would print of its work tree, by the files that are there now; None where they do not say it."""
    asked = _OF_GIT.get(tuple(_argv(written)))
    if asked is None or _here(folder) is None:
        return None
    top = folder.place_of(folder.top_of(Word("."))[0], Access.READ).place.real[0]
    head, settings = (folder.disk.text_of(posixpath.join(top, ".git", name)) or "" for name in ("HEAD", "config"))
    if not head or not settings or "worktree" in settings.lower():
        return None
    if asked == "top":
        return top
    branch = _BRANCH.fullmatch(head)
    return branch and branch[1]
