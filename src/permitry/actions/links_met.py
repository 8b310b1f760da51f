"""Links on the disk that a pattern or a program goes through: where they lead is not in the words of a call."""

import fnmatch
import itertools
from collections.abc import Container, Iterator, Sequence

import attrs

from permitry.actions.disk import Links, link_kind
from permitry.actions.folders import Folder
from permitry.core.action import UNSEEN_NAME, Access, Descent, Touch, Word

__all__ = ["follow_below", "follow_pattern", "links_below"]

_MOST_LINKS = 256
"""How many links are followed of one word; any path represents the rest."""
_WILDCARDS = frozenset("*?[{(")
_SIGNS_OF = {True: _WILDCARDS, False: frozenset[str]()}
"""What is more than a character in a word, if it is a pattern."""
_OUT = frozenset({Links.OPEN})


def follow_pattern(touch: Touch, folder: Folder) -> Iterator[Touch]:
    """Yield as guesses what a pattern reaches through links that fit a part of it: `l*/key`, where `link` is one."""
    yield from _limit(_follow_pattern(touch, folder), touch.access, folder)


def follow_below(touch: Touch, folder: Folder) -> Iterator[Touch]:
    """Yield as guesses what a program reaches that follows the links below a folder."""
    yield from _limit(_follow_below(touch, folder), touch.access, folder)


def links_below(source: Word, folder: Folder, kinds: Container[Links] = _OUT) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the name below `source`, and the text, of each link there that is of one of these kinds.

    Of a pattern, these are the links among the names that fit it, and below them. Without more, they are those that
    lead elsewhere from another folder.
    """
    for top in folder.place_of(source, Access.READ, is_entry=True).place.real:
        names = top.split("/")
        wild = _first_wild(names, _SIGNS_OF[source.is_glob])
        for link in folder.disk.listed("/".join(names[:wild]) or "/", None, has_hidden=True).links:
            parts = link.split("/")
            below = "/".join(parts[len(names) - (wild < len(names)) :])
            text = folder.disk.link_at(link)[0] or ""
            is_meant = len(parts) >= len(names) and _fit(parts, names, wild)
            if is_meant and _is_of(kinds, below, text):
                yield link, below, text


def _is_of(kinds: Container[Links], below: str, text: str) -> bool:
    return bool(below and text) and link_kind(text, below.count("/")) in kinds


def _limit(touches: Iterator[Touch], access: Access, folder: Folder) -> Iterator[Touch]:
    found = tuple(itertools.islice(touches, _MOST_LINKS + 1))
    yield from (attrs.evolve(each, is_guess=True) for each in found[:_MOST_LINKS])
    if len(found) > _MOST_LINKS:
        touch = folder.place_of(Word("", is_open=True), access, origin=UNSEEN_NAME)
        yield attrs.evolve(touch, is_guess=True)


def _follow_pattern(touch: Touch, folder: Folder) -> Iterator[Touch]:
    place = touch.place
    if not place.is_glob:
        return
    # An entry itself is not followed, unless a slash is behind its name.
    has_last = not place.is_entry or place.text.endswith("/")
    for top in place.real:
        names = top.split("/")
        wild = _first_wild(names)
        listing = folder.disk.listed("/".join(names[:wild]) or "/", len(names) - wild, has_hidden=True)
        for link in listing.links:
            rest = names[link.count("/") + 1 :]
            if (rest or has_last) and _fit(link.split("/"), names, wild):
                at_link = _at("/".join((link, *rest)), touch, folder, is_glob=_first_wild(rest) < len(rest))
                yield at_link
                yield from _follow_pattern(at_link, folder)


def _follow_below(touch: Touch, folder: Folder) -> Iterator[Touch]:
    for top in touch.place.real:
        for link, _, _ in links_below(Word(top, touch.place.is_glob), folder):
            yield _at(link, touch, folder, is_glob=False)


def _at(text: str, touch: Touch, folder: Folder, *, is_glob: bool) -> Touch:
    """Return the same access to what another path leads to."""
    place = touch.place
    descent: Descent | None = None
    if place.is_tree:
        descent = place.descent
    found = folder.place_of(Word(text, is_glob), touch.access, descent=descent, is_entry=place.is_entry)
    return attrs.evolve(touch, place=attrs.evolve(found.place, is_certain=False))


def _first_wild(names: Sequence[str], signs: Container[str] = _WILDCARDS) -> int:
    wild = (at for at, name in enumerate(names) if any(sign in signs for sign in name))
    return next(wild, len(names))


def _fit(names: Sequence[str], patterns: Sequence[str], start: int) -> bool:
    """Return whether names fit the patterns at the same places, from one on, as far as there are both."""
    return all(itertools.starmap(fnmatch.fnmatchcase, zip(names[start:], patterns[start:], strict=False)))
