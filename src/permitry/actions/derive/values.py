"""What expansions in the words of a command become, where the text, and where it runs, say that before it runs.

`$(pwd)`, and `$(basename a/b)` and `$(dirname a/b)` of a path that is written out are taken for what they print. What
git would print is only shown: it depends on settings and variables, another program may change it until then, and where
git fails, it prints nothing. `$PWD` is not known: an earlier command in the same shell may have set it.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.builtins import ASSIGNING, SYNTACTIC
from permitry.actions.command import Command, Redirection
from permitry.actions.derive.substituted import commands_of, moves_late
from permitry.actions.folders import Folder
from permitry.actions.programs.catalogue import record_of
from permitry.core.action import Access
from permitry.core.words import Word

__all__ = ["expand", "shown_values"]

# A word with one sign that may begin an expansion, and with one expansion, has it there: no quotes hide the sign. No
# sign is in the expansion that could hide its end, or end a line.
_COMMAND = r"(?P<{}>[\w./@%+=:, '\"-]*?)(?: 2>/dev/null)?"
_EXPANDED = re.compile(
    r"(?P<before>[^$`]*)"
    rf"(?P<written>\$\({_COMMAND.format('new')}\)|`{_COMMAND.format('old')}`)"
    r"(?P<behind>[^$`]*)"
)
_PLAIN = re.compile(r"[\w./@%+=:,-]+")
_SETTING = ASSIGNING | SYNTACTIC | {"exec", "hash", "printf", "test", "["}
"""Builtins by which a word may become a variable, or more commands, or change how they are read."""
_BRANCH = re.compile(r"ref: refs/heads/(?!\.)([\w./+@-]{1,200})\n")
_OF_GIT = {
    ("git", "branch", "--show-current"): "branch",
    ("git", "rev-parse", "--abbrev-ref", "HEAD"): "branch",
    ("git", "rev-parse", "--show-toplevel"): "top",
}


def expand(command: Command, folder: Folder, script: Sequence[Command]) -> Command:
    """Return a command of a script in `folder`, with the values of expansions in its words and in what it redirects."""
    if command.words[0].text in _SETTING or _is_of_shell(command):
        return command
    is_kept = not moves_late(script)
    words = tuple(_expand(word, folder, is_kept=is_kept) for word in command.words)
    redirections = tuple(_redirect(each, folder) for each in command.redirections)
    return attrs.evolve(command, words=words, redirections=redirections)


def shown_values(command: Command, folder: Folder) -> Iterator[tuple[str, str]]:
    """Yield the expansions in the words of a command, each with what it is as far as that is known now."""
    for found in (_EXPANDED.fullmatch(word.text) for word in command.words if word.is_open):
        value = found and (_value(found, folder) or _said_by_git(found, folder))
        if found and value and not _is_of_shell(command):
            yield found["written"], value


def _is_of_shell(command: Command) -> bool:
    """Return whether a command is in the text of another shell, which may have been given another home."""
    return any(record_of(name).shell for name in command.within)


def _expand(word: Word, folder: Folder, *, is_kept: bool) -> Word:
    found = _EXPANDED.fullmatch(word.source or word.text)
    value = found and word.is_open and word.found is None and _value(found, folder)
    if not found or not value:
        return word
    if "~" in f"{found['before']}{found['behind']}"[word.is_home :]:
        # One in quotes, or of a program.
        return word
    # Without quotes, or next to a pattern, a blank or a wildcard in the value is one of the shell. A variable of a loop
    # may be one of several words, and any leads elsewhere from another folder.
    is_whole = word.is_single and not word.is_glob and not word.source
    if (word.source and not is_kept) or not (is_whole or _PLAIN.fullmatch(value)):
        return word
    return Word(f"{found['before']}{value}{found['behind']}", word.is_glob, word.is_home)


def _redirect(redirection: Redirection, folder: Folder) -> Redirection:
    if redirection.target is None or not redirection.is_open:
        return redirection
    word = _expand(Word(redirection.target, is_open=True, is_single=True), folder, is_kept=True)
    return attrs.evolve(redirection, target=word.text, is_open=word.is_open)


def _value(found: re.Match[str], folder: Folder) -> str | None:
    """Return what an expansion becomes; None where that is not certain."""
    match _argv(found):
        case ["pwd"]:
            return _here(folder)
        case ["dirname", path]:
            return _dirname(path)
        case ["basename", path, *suffix] if len(suffix) <= 1:
            return _basename(path, *suffix)
        case _:
            return None


def _argv(found: re.Match[str]) -> Sequence[str]:
    """Return the words of the one command of a substitution; none where they are not written out."""
    commands = commands_of(f"$({found['new'] or found['old']})")
    # Nothing in it is expanded.
    is_plain = len(commands) == 1 and commands[0] == Command(tuple(map(Word, commands[0].argv)), end=commands[0].end)
    return commands[0].argv if is_plain else ()


def _here(folder: Folder) -> str | None:
    """Return the folder that `pwd` prints; None where it has several names, or ends with what the shell cuts off."""
    base, *others = folder.bases or ("",)
    names = {base, posixpath.normpath(folder.disk.workspace or base)}
    if others or len(names) > 1 or not folder.is_certain or base.endswith("\n"):
        return None
    return base or None


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


def _said_by_git(found: re.Match[str], folder: Folder) -> str | None:
    """Return what git would print of its work tree, by the files that are there now; None where they do not say it."""
    asked = _OF_GIT.get(tuple(_argv(found)))
    # Another command may have git print something else.
    if asked is None or _here(folder) is None or not folder.writes_alone:
        return None
    top = folder.place_of(folder.top_of(Word("."))[0], Access.READ).place.real[0]
    head, settings = (folder.disk.text_of(posixpath.join(top, ".git", name)) or "" for name in ("HEAD", "config"))
    if not head or not settings or "worktree" in settings.lower():
        return None
    if asked == "top":
        return top
    branch = _BRANCH.fullmatch(head)
    return branch and branch[1]
