"""Where the names come from that one command prints and another reads, as `xargs` does.

Every name is that of a folder that was searched, or lies below it: no program is known here by a call that follows
links. Where the names are split at blanks, a name with a blank may become any other; whether there is one, and whether
a link is found that leads elsewhere, is looked at on the disk.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import attrs

from permitry.actions.command import Command
from permitry.actions.programs.arguments import read_options
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import RefusedError
from permitry.actions.programs.find_names import has_sign, names_of_find
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.names import FILTERS, PRINTERS, prints_names
from permitry.core.words import Found, Word

__all__ = ["NUMBER", "names_by", "plain_of"]

Words = Sequence[Word]

_HERE = Word(".")
_NULLS = {"find": {"-print0"}, "git": {"-z"}, "fd": {"-0", "--print0"}, "search": {"-0", "-Z", "--null"}}
NUMBER = "[0-9]*"
"""A pattern of numbers."""
_NUMBERS = re.compile("nproc(?: --all)?|wc -[lcmw]|git rev-list --count HEAD")
_PLAIN = re.compile(
    "id -[ug]n?|uname(?: -[smrn])?|whoami|hostname"
    "|date \\+%[FYmdHMSjsN](?:[-_]?%[FYmdHMSjsN])*"
    "|git merge-base(?: [A-Za-z0-9_/.-]+){2}|git rev-parse(?: --short)? HEAD"
)
"""Commands that print one word of letters, digits, dots and hyphens, which does not begin with a dot or a hyphen."""
_ALL_OF_LS = frozenset("af")


def names_by(command: Command, before: Found | None) -> Found | None:
    """Return the names that a command prints, and nothing else; `before` are those in its input.

    None where it is not known.
    """
    if command.assignments or not prints_names(command, has_names=before is not None):
        return None
    # A program of the same name in another folder may print anything.
    name = command.words[0].text.removeprefix("/usr").removeprefix("/bin/")
    prints = record_of(name).prints
    texts = [word.text for word in command.words[1:]]
    if prints not in PRINTERS or not PRINTERS[prints](name, texts):
        # A filter may cut at a newline in a name what a null separates.
        if before is not None and prints in FILTERS:
            return attrs.evolve(before, is_apart=False)
        return None
    found = _SEARCHES[prints](command.words)
    if found is None:
        return None
    is_apart = not _NULLS.get(prints, set()).isdisjoint(texts)
    return attrs.evolve(found, is_apart=is_apart)


def plain_of(command: Command) -> str:
    """Return a pattern of the one number, or name without a slash, that a command prints; empty for any other."""
    text = " ".join(command.argv)
    read = ["<"] if text.startswith("wc ") else []
    has_others = command.assignments or any(word.is_open for word in command.words)
    if has_others or [each.operator for each in command.redirections] != read:
        return ""
    if _NUMBERS.fullmatch(text):
        return NUMBER
    return "*" if _PLAIN.fullmatch(text) else ""


# What prints names ---------------------------------------------------------------------------------------------------


def _find(words: Words) -> Found | None:
    return names_of_find(words, len(words))


def _fd(words: Words) -> Found | None:
    return _below(words, 1)


def _search(words: Words) -> Found | None:
    entry = record_of(program_of(words))
    try:
        parts = read_options(words[1:], entry, name=program_of(words), is_any=True)
    except RefusedError:
        return None
    has_pattern = not entry.shapes[-1].instead.isdisjoint(parts.names)
    if not parts.names.isdisjoint({"-R", "-L", "-f", "--follow", "--dereference-recursive", "--file"}):
        return None
    return _of(parts.operands[0 if has_pattern else 1 :])


def _below(words: Words, patterns: int) -> Found | None:
    entry = record_of(program_of(words))
    try:
        parts = read_options(words[1:], entry, name=program_of(words), is_any=True)
    except RefusedError:
        return None
    shape = entry.shapes[-1]
    if parts.names & shape.unsure:
        return None
    return _of(parts.operands[patterns:])


def _git(words: Words) -> Found | None:
    """Return what `git ls-files` and `git grep -l` print: names below the current folder, that are in the index too."""
    command = words[1].text
    if command not in ("ls-files", "grep"):
        # Names in a commit, from the top of the work tree.
        return None
    entry = record_of("git").commands[command]
    try:
        parts = read_options(words[2:], entry, name=command, is_any=True)
    except RefusedError:
        return None
    paths = parts.operands if command == "ls-files" else parts.operands[1:]
    is_usual = command == "ls-files" or ("-e" not in parts.names and not paths)
    is_here = is_usual and parts.names.isdisjoint({"--full-name", "--with-tree", "--no-index", "--recurse-submodules"})
    if not (is_here and all(map(_is_below, paths))):
        return None
    return Found((_HERE,), in_index=True, may_be_option=True)


def _is_below(word: Word) -> bool:
    if word.is_open or word.text.startswith((":", "/", "~")):
        return False
    return ".." not in word.text.split("/")


def _ls(words: Words) -> Found | None:
    """Return what `ls` prints: bare names, for the programs below the current folder, wherever it found them."""
    operands = [word for word in words[1:] if not word.text.startswith("-")]
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    letters = "".join(text for text in options if text[1:2] != "-")
    has_dots = "--all" in options or not _ALL_OF_LS.isdisjoint(letters)
    if has_dots or len(operands) > 1:
        return None
    found = _of([_HERE, *operands])
    return found and attrs.evolve(found, may_be_option=True)


def _of(operands: Words) -> Found | None:
    """Return the names below operands; below the current folder, where they need not begin with it, without any."""
    if any(word.is_open or has_sign(word) for word in operands):
        return None
    may_be_option = not operands or any(word.may_be_option for word in operands)
    return Found(tuple(operands) or (_HERE,), may_be_option=may_be_option)


_SEARCHES: Mapping[str, Callable[[Words], Found | None]] = {
    "fd": _fd,
    "find": _find,
    "git": _git,
    "ls": _ls,
    "search": _search,
}
