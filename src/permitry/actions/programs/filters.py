"""Patterns of paths that a program expands itself: pathspecs of `git`, and the file filters of programs that search.

The shell does not expand these patterns. Unlike in the patterns of a shell, their wildcards also match a slash, and a
dot at the beginning of a name.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from permitry.actions.braces import expand
from permitry.actions.programs.arguments import read_options
from permitry.actions.programs.candidates import UNSEEN
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import RefusedError
from permitry.actions.selection import EVERYTHING, Selection, select
from permitry.core.action import Word

__all__ = ["expand_by_program", "selection_of"]

_HERE = Word(".")
_MOST_CHOICES = 64
_SEARCHES = frozenset({"egrep", "fgrep", "grep", "rg"})
_FOLDERS, _FILES = "--exclude-dir", ("--exclude", "--exclude-from")
_UNKNOWN = "\0"


def expand_by_program(words: Sequence[Word]) -> Iterator[tuple[Word, bool]]:
    """Yield the paths that may match the patterns of a command, and whether everything below each is touched too."""
    name = words[0].text
    if name == "git":
        yield from _of_git([word.text for word in words[1:]])
    for option in record_of(name).filters:
        for pattern in _values([word.text for word in words[1:]], option):
            choices, are_all = expand(pattern, _MOST_CHOICES)
            yield from map(_anywhere, choices)
            if not are_all:
                yield UNSEEN, False


def selection_of(words: Sequence[Word]) -> Selection:
    """Return what a search takes of the files below a folder; everything where that is not read."""
    name = words[0].text
    if name not in _SEARCHES:
        return EVERYTHING
    try:
        found = read_options(words[1:], record_of(name), name=name).found
    except RefusedError:
        return EVERYTHING
    options = (record_of(name).filters, (_FOLDERS,), _FILES)
    texts, names, others = (_texts(found, each) for each in options)
    # To `grep`, the sign of what is left out is a character; and with other files it takes what fits no pattern.
    is_other = name != "rg" and any(text.startswith("!") for text in texts)
    return EVERYTHING if is_other or others or _UNKNOWN in (*texts, *names) else select(texts, names)


def _texts(found: Iterable[tuple[str, Word | None]], options: Container[str]) -> list[str]:
    """Return the values of some options, those that are not known as a text of their own."""
    values = (value for option, value in found if option in options)
    return [_UNKNOWN if value is None or value.is_open or value.is_glob else value.text for value in values]


def _of_git(texts: Sequence[str]) -> Iterator[tuple[Word, bool]]:
    # Options of `git` itself, and their values, may come before the sub-command.
    kinds = record_of("git").kinds
    command = next((text for text in texts[:6] if text in kinds["shows"]), None)
    if command is None:
        return
    if command in kinds["searches"]:
        yield _HERE, True
    for before, text in zip(("", *texts), texts, strict=False):
        if text.startswith("-") or before in kinds["texts"]:
            continue
        if text.startswith(":"):
            yield from _magic(text)
        elif not _is_plain(text):
            yield _anywhere(text)


def _magic(text: str) -> Iterator[tuple[Word, bool]]:
    """Yield the paths of a pathspec with magic, such as `:/x` or `:(top)x`; one that excludes matches all the rest."""
    rest = text[1:].lstrip("/!^")
    words, bracket, behind = rest.partition(")")
    if words.startswith("(") and bracket:
        rest = behind
    if rest:
        yield Word(rest), True
    if not rest or set("!^") & set(text[:3]) or "exclude" in words:
        yield _HERE, True
    if not _is_plain(rest):
        yield _anywhere(rest)


def _values(texts: Sequence[str], option: str) -> Iterator[str]:
    bundled = re.compile(rf"-[A-Za-z]*{re.escape(option[1:])}(.*)", re.DOTALL)
    for at, text in enumerate(texts):
        found = bundled.fullmatch(text) if len(option) == len("-g") else None
        value = text.removeprefix(f"{option}=") if text.startswith(f"{option}=") else found[1] if found else ""
        if value:
            yield value
        elif text == option or found:
            yield from texts[at + 1 : at + 2]


def _anywhere(text: str) -> tuple[Word, bool]:
    """Return a pattern that also matches at any depth, and names that begin with a dot."""
    names = [f"[*]{name}" if name.startswith(("*", "?")) else name for name in text.lstrip("!/").split("/")]
    return Word("/".join(("**", *names)), is_glob=True), False


def _is_plain(text: str) -> bool:
    return not any(char in text for char in "*?[")
