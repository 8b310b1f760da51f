"""Which words of a program are names, and not paths: those of sub-commands, scripts, packages.

A word without a dot and a slash is a path for certain only where the record of the program says so, and none where the
record calls it a name or a text; else that it is one is a guess, and a guess blocks nothing.
"""

import re
from collections.abc import Iterator, Sequence

from permitry.actions.programs.arguments import is_spread, read_known
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry
from permitry.core.action import Word

__all__ = ["NO_PATHS", "names_in_words", "record_in_any_case", "roles_in"]

_NAME = re.compile(r"[\w+-]+")

NO_PATHS = frozenset({"text", "host", "pair", "none", "name"})
"""The roles of operands that are not paths."""


def names_in_words(words: Sequence[Word]) -> tuple[frozenset[Word], frozenset[Word]]:
    """Return the words that are names or texts by the record of the program, and those that are paths only by a guess.

    A word that is there twice counts as what may be a path.
    """
    entry, start, places = _find_entry(words)
    # What another program of this name does is not known.
    if record_of(words[0].text).is_known and not words[0].is_open:
        places |= {start + at for at in _names_behind(words[start:], entry)}
    else:
        places = set()
    names = frozenset(words[at] for at in places) - {word for at, word in enumerate(words) if at not in places}
    if roles_in(entry) - NO_PATHS:
        return names, frozenset()
    files = {value for option, value in read_known(words[start:], entry).found if option in entry.code}
    # Behind `--`, those of git are paths.
    end = _end_of_options(words) if words[0].text == "git" else len(words)
    return names, frozenset(filter(_is_bare, words[:end])) - files - {*words[end:]}


def _names_behind(words: Sequence[Word], entry: Entry) -> Iterator[int]:
    """Yield the indices of the operands that are names, and of values that are texts."""
    parts = read_known(words, entry)
    if parts.is_spread:
        return
    yield from parts.texts
    roles = _roles(words, parts.places[:1], entry)
    # What is behind `--` is for another program, but to one that runs its operands.
    end = len(words) if entry.runs is not None else _end_of_options(words)
    for at, role in zip(parts.places, roles, strict=False):
        if is_spread(words[at]):
            return
        if at < end and role.startswith("name") and _NAME.fullmatch(words[at].text):
            yield at


def _roles(words: Sequence[Word], first: Sequence[int], entry: Entry) -> tuple[str, ...]:
    """Return the roles of the operands; but for the first, only behind the sub-commands that the record lists."""
    roles = next((shape.operands for shape in reversed(entry.shapes)), ())
    if entry.names_behind and not {words[at].text for at in first} & entry.names_behind:
        roles = roles[:1]
    return roles + roles[-1:] * (len(words) if "name*" in roles else 0)


def roles_in(entry: Entry) -> frozenset[str]:
    """Return the roles that operands of a program may have."""
    roles = (role.rstrip("*+?") for shape in entry.shapes for role in shape.operands)
    return frozenset(name for role in roles for name in role.split("/"))


def record_in_any_case(name: str) -> Entry:
    """Return what is known about a program: what `/bin/RM` may do is what `rm` does."""
    record = record_of(name)
    if record.is_known:
        return record
    return record_of(name.rpartition("/")[2].casefold())


def _find_entry(words: Sequence[Word]) -> tuple[Entry, int, set[int]]:
    """Return what is known about what is called, where its words begin, and the indices of names of sub-commands."""
    entry, start, names = record_in_any_case(words[0].text), 1, set[int]()
    while entry.commands:
        parts = read_known(words[start:], entry, options_first=True)
        at = start + next(iter(parts.places), len(words))
        called = words[at : at + 1]
        if parts.is_spread or not called or is_spread(called[0]) or called[0].text not in entry.commands:
            break
        names.add(at)
        entry, start = entry.commands[words[at].text], at + 1
    return entry, start, names


def _end_of_options(words: Sequence[Word]) -> int:
    """Return the index of `--`, or that behind the last word."""
    return next((at for at, word in enumerate(words) if word.text == "--"), len(words))


def _is_bare(word: Word) -> bool:
    """Return whether a word looks like any name: there is neither a slash nor a dot in it, nor a wildcard."""
    return not (is_spread(word) or word.is_home or "/" in word.text or "." in word.text)
