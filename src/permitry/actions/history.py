"""What the commands of one text have changed before the next one runs, as far as it changes where paths lead.

A call is decided before it runs, with the disk as it is then. So a path of a later command is not certain where it goes
through a place at which an earlier one may have made a link, or through a link that an earlier one may have removed.
A program that is not known may have done both, anywhere.
"""

import functools
from collections.abc import Callable, Iterator
from posixpath import dirname

import attrs

from permitry.actions.disk import Disk
from permitry.core.action import Access, Operands

__all__ = ["Changes", "History", "Reader", "View"]

_MOST_NAMES = 2_000


@attrs.frozen
class Changes:
    """Names that were removed or replaced (`gone`), and names at or below which there may be new links (`linked`).

    `links` are those of them that are a new link themselves.
    """

    gone: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    is_anywhere: bool = False

    def joined(self, *others: "Changes") -> "Changes":
        """Return these changes and the others."""
        every = (self, *others)
        gone = frozenset().union(*(each.gone for each in every))
        linked = frozenset().union(*(each.linked for each in every))
        links = frozenset().union(*(each.links for each in every))
        is_anywhere = any(each.is_anywhere for each in every) or len(gone) + len(linked) > _MOST_NAMES
        return Changes(links=links, is_anywhere=True) if is_anywhere else Changes(gone, linked, links)

    def is_gone(self, name: str) -> bool:
        """Return whether the name, or a folder it is in, was removed or replaced."""
        return bool(self.gone) and any(each in self.gone for each in _with_parents(name))

    def goes_through_link(self, name: str, *, is_entry: bool) -> bool:
        """Return whether the name, or a folder it is in, is a new link; of an entry only the folders count."""
        return bool(self.links) and any(
            each in self.links for each in _with_parents(dirname(name) if is_entry else name)
        )

    def has_linked_below(self, top: str) -> bool:
        """Return whether there may be new links at a name or below it."""
        return any(name == top or name.startswith(f"{top}/") for name in self.linked)


def _with_parents(name: str) -> Iterator[str]:
    while True:
        yield name
        if name in ("", "/"):
            return
        name = dirname(name)


@attrs.frozen
class View:
    """What there is for a command: the disk as it is, and what earlier commands have changed about it."""

    disk: Disk = attrs.field(factory=Disk)
    changes: Changes = Changes()


Reader = Callable[[Changes], Operands]
"""Reads what the operands of a command touch behind some changes."""


@attrs.define(eq=False)
class History:
    """The commands of one text; `is_ordered` False if some of them run at the same time, as in a pipeline.

    `start` is what has changed before the first of them. Nothing is asked before all of them are added.
    """

    is_ordered: bool
    start: Callable[[], Changes] = Changes
    _readers: list[Reader | None] = attrs.field(factory=list)
    _states: list[Changes] = attrs.field(factory=list)

    def add(self, read: Reader | None) -> None:
        """Take in the next command; None for one that may do anything."""
        self._readers.append(read)

    def next(self) -> Callable[[], Changes]:
        """Return what tells, when asked, what has changed before the command that is added next."""
        return functools.partial(self.before, len(self._readers))

    def before(self, at: int) -> Changes:
        """Return what the commands before the one at this index have changed; all others where order says nothing."""
        if not self._states:
            self._states = [self.start()] if self.is_ordered else self._beside()
        for reader in self._readers[len(self._states) - 1 : at]:
            state = self._states[-1]
            self._states.append(state.joined(_changes(reader, state)))
        return self._states[at]

    def _beside(self) -> list[Changes]:
        """Return for each command, and for what follows them, what all others change."""
        alone = [_changes(reader, self.start()) for reader in self._readers]
        places = range(len(alone) + 1)
        states = [self.start().joined(*alone[:at], *alone[at + 1 :]) for at in places]
        # INVARIANT: one whose own paths are not certain given the others may change anything.
        each_after = (_changes(reader, others) for reader, others in zip(self._readers, states, strict=False))
        is_anywhere = any(each.is_anywhere for each in (*states, *each_after))
        return [attrs.evolve(each, is_anywhere=True) for each in states] if is_anywhere else states


def _changes(read: Reader | None, before: Changes) -> Changes:
    """Return what a command changes, as far as that changes where paths lead."""
    if read is None:
        return Changes(is_anywhere=True)
    operands = read(before)
    changed = [touch for touch in operands.touches if touch.access is Access.DELETE or touch.place.is_entry]
    made = [touch for touch in changed if touch.makes_links]
    links = frozenset(name for touch in made if not touch.place.is_tree for name in touch.place.names)
    # INVARIANT: what is not certain for a permission hides no new link from a restriction.
    if not operands.is_listed or not all(touch.place.is_certain for touch in changed):
        return Changes(links=links, is_anywhere=True)
    names = frozenset(name for touch in changed for name in touch.place.names)
    return Changes(names, frozenset(name for touch in made for name in touch.place.names), links)
