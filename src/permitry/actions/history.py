"""Which changes the commands of a script make to the disk that change where the paths of later commands lead.

A call is decided before it runs, with the disk as it is then. So a path of a later command is not certain if it goes
through a place at which an earlier command may have created a link, or through a link that an earlier command may have
removed. A program that is not known may have done both, anywhere.
"""

import functools
from collections.abc import Callable, Iterator
from posixpath import dirname

import attrs

from permitry.actions.disk import Disk
from permitry.core.action import Access, Descent, Operands

__all__ = ["Changes", "History", "Reader", "View"]

_MOST_NAMES = 2_000


@attrs.frozen
class Changes:
    """Names that were removed or replaced (`gone`), and names at or below which there may be new links (`linked`).

    `links` are those of `linked` that are new links themselves. At or below the names in `filled` there may be files
    that are new and have names that are not known. `is_anywhere`: any name may have changed.
    """

    gone: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    is_anywhere: bool = False

    def __bool__(self) -> bool:
        """Return whether anything may have changed."""
        return self.is_anywhere or bool(self.gone or self.linked or self.links or self.filled)

    def joined(self, *others: "Changes") -> "Changes":
        """Return these changes and the others."""
        every = tuple(filter(None, (self, *others)))
        if not every:
            return self
        gone = frozenset().union(*(each.gone for each in every))
        linked = frozenset().union(*(each.linked for each in every))
        links = frozenset().union(*(each.links for each in every))
        filled = frozenset().union(*(each.filled for each in every))
        is_anywhere = any(each.is_anywhere for each in every) or len(gone) + len(linked) > _MOST_NAMES
        if is_anywhere:
            return Changes(links=links, filled=filled, is_anywhere=True)
        return Changes(gone, linked, links, filled)

    def is_gone(self, name: str) -> bool:
        """Return whether the name, or a folder it is in, was removed or replaced."""
        return bool(self.gone) and any(each in self.gone for each in _with_parents(name))

    def goes_through_link(self, name: str, *, is_entry: bool) -> bool:
        """Return whether the name, or a folder it is in, is a new link; with `is_entry`, only the folders count."""
        return bool(self.links) and any(
            each in self.links for each in _with_parents(dirname(name) if is_entry else name)
        )

    def has_linked_below(self, top: str) -> bool:
        """Return whether there may be new links at a name or below it."""
        return any(name == top or name.startswith(f"{top}/") for name in self.linked)

    def has_new_below(self, top: str) -> bool:
        """Return whether there may be new files below a folder whose names are not known, or new links."""
        is_filled = any(f"{name}/".startswith(f"{top}/") or f"{top}/".startswith(f"{name}/") for name in self.filled)
        return is_filled or self.has_linked_below(top)


_NOTHING = Changes()


def _with_parents(name: str) -> Iterator[str]:
    while True:
        yield name
        if name in ("", "/"):
            return
        name = dirname(name)


@attrs.frozen
class View:
    """The disk as a command will find it: the disk as it is now, and what earlier commands change."""

    disk: Disk = attrs.field(factory=Disk)
    changes: Changes = Changes()


Reader = Callable[[Changes], Operands]
"""Returns what a command touches, given the changes of the commands before it."""


@attrs.define(eq=False)
class History:
    """The commands of a script, in order; `is_ordered` is False if some run at the same time, as in a pipeline.

    `start` returns what has changed before the first of them. All commands must be added before `before` is called.
    """

    is_ordered: bool
    start: Callable[[], Changes] = Changes
    _readers: list[Reader | None] = attrs.field(factory=list)
    _states: list[Changes] = attrs.field(factory=list)

    def add(self, read: Reader | None) -> None:
        """Add the next command; None for a command that may do anything."""
        self._readers.append(read)

    def next(self) -> Callable[[], Changes]:
        """Return a function that returns the changes before the command that is added next."""
        return functools.partial(self.before, len(self._readers))

    def before(self, at: int) -> Changes:
        """Return the changes of all commands before this index; of all other commands if they are not ordered."""
        if not self._states:
            self._states = [self.start()] if self.is_ordered else self._unordered()
        for reader in self._readers[len(self._states) - 1 : at]:
            state = self._states[-1]
            self._states.append(state.joined(_changes(reader, state)))
        return self._states[at]

    def _unordered(self) -> list[Changes]:
        """Return for each command what all others change, and at the end what all of them change."""
        start = self.start()
        alone = [_changes(reader, start) for reader in self._readers]
        places = range(len(alone) + 1)
        if not any(alone):
            return [start.joined() for _ in places]
        states = [start.joined(*alone[:at], *alone[at + 1 :]) for at in places]
        # INVARIANT: if the paths of a command are not certain after the changes of the others, it may change anything.
        each_after = (_changes(reader, others) for reader, others in zip(self._readers, states, strict=False))
        is_anywhere = any(each.is_anywhere for each in (*states, *each_after))
        if is_anywhere:
            return [attrs.evolve(each, is_anywhere=True) for each in states]
        return states


def _changes(read: Reader | None, before: Changes) -> Changes:
    """Return what a command changes: the names it removes or replaces, and the links it creates."""
    if read is None:
        return Changes(is_anywhere=True)
    operands = read(before)
    if operands.is_listed and not operands.touches:
        return _NOTHING
    changed = [touch for touch in operands.touches if touch.access is Access.DELETE or touch.place.is_entry]
    made = [touch for touch in changed if touch.makes_links]
    links = frozenset(name for touch in made if not touch.place.is_tree for name in touch.place.names)
    new = (touch.place for touch in operands.touches if touch.place.is_tree and touch.place.descent is Descent.NEW)
    filled = frozenset(name for place in new for name in place.names)
    # INVARIANT: new links are kept even if the command may change anything, so that restrictions still see them.
    if not operands.is_listed or not all(touch.place.is_certain for touch in changed):
        return Changes(links=links, filled=filled, is_anywhere=True)
    names = frozenset(name for touch in changed for name in touch.place.names)
    return Changes(names, frozenset(name for touch in made for name in touch.place.names), links, filled)
