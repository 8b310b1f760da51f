"""Languages of texts as automata, and the shortest text that some have and others lack, or that there is none.

An `Expression` says which texts a language has. Its automaton is made deterministic step by step, as far as the
search goes: what no path leads to costs nothing. A search ends, because each language has finitely many states.
"""

import collections
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import attrs

from permitry.core.pattern import CharSet, Pattern, Piece
from permitry_ops.diff.deadline import check_time

__all__ = ["ANYTHING", "Alternatives", "Chars", "Expression", "Language", "Repeat", "TooLargeError", "glob", "shortest"]

_LIKED = "abcdefghijklmnopqrstuvwxyz0123456789"
_RARE = "\ue000"
"""In place of every character that no language names, where those of `_LIKED` are all named."""
_MOST_STATES, _MOST_REACHED = 20_000, 5_000
_WIDEST_RANGE = 512


class TooLargeError(Exception):
    """Raised where languages are too large to be compared."""


@attrs.frozen
class Chars:
    """One character: one of `chars`, or if it `is_negated`, any other one."""

    chars: frozenset[str] = frozenset()
    is_negated: bool = False


@attrs.frozen
class Alternatives:
    """Any one of some expressions; without any, no text at all."""

    each: "tuple[Expression, ...]"


@attrs.frozen
class Repeat:
    """An expression so many times in a row; `most` is None for any number."""

    inner: "Expression"
    least: int = 0
    most: int | None = None


Expression: TypeAlias = "str | Chars | Alternatives | Repeat | tuple[Expression, ...]"
"""A text as it is, one character, a choice, a repetition, or a sequence of expressions."""

_ANY = Chars(is_negated=True)
ANYTHING = Repeat(_ANY)
"""Every text."""


def glob(pattern: Pattern, *, apart: str = "") -> Expression:
    """Return the texts of a pattern; its wildcards match none of the characters in `apart`."""
    return between_stars(pattern.pieces, Chars(frozenset(apart), is_negated=True))


def between_stars(pieces: Sequence[Piece], star: Chars) -> Expression:
    """Return the texts of pieces with any number of the characters of a star between each two."""
    first, *others = (
        piece if isinstance(piece, str) else tuple(_unit(unit, star) for unit in piece) for piece in pieces
    )
    return (first, *(part for piece in others for part in (Repeat(star), piece))) if others else first


def _unit(unit: "str | CharSet", star: Chars) -> Expression:
    """Return one place of a piece; a set never holds what a star does not match."""
    if isinstance(unit, str):
        return unit
    if sum(ord(high) - ord(low) + 1 for low, high in unit.ranges) > _WIDEST_RANGE:
        raise TooLargeError
    chars = frozenset(chr(at) for low, high in unit.ranges for at in range(ord(low), ord(high) + 1))
    if unit.ignores_case:
        chars |= {form for char in chars for form in (char.lower(), char.upper()) if len(form) == 1}
    return Chars(chars | star.chars, is_negated=True) if unit.is_negated else Chars(chars - star.chars)


@attrs.define
class _Automaton:
    """States as numbers: where each character leads, and where no character is needed."""

    edges: list[list[tuple[Chars, int]]] = attrs.field(factory=list)
    empty: list[list[int]] = attrs.field(factory=list)

    def new(self) -> int:
        check_time()
        if len(self.edges) > _MOST_STATES:
            raise TooLargeError
        self.edges.append([])
        self.empty.append([])
        return len(self.edges) - 1

    def add(self, start: int, expression: Expression) -> int:
        """Add an expression behind a state, and return the state behind it."""
        match expression:
            case str() as text:
                return self._follow(start, (Chars(frozenset(char)) for char in text))
            case Chars():
                return self._follow(start, [expression])
            case Alternatives(each=each):
                end = self.new()
                self._add_texts(start, [inner for inner in each if isinstance(inner, str)], end)
                for inner in each:
                    if not isinstance(inner, str):
                        self.empty[self.add(start, inner)].append(end)
                return end
            case Repeat(inner=inner, least=least, most=most):
                for _ in range(least):
                    start = self.add(start, inner)
                return self._repeat(start, inner) if most is None else self._up_to(start, inner, most - least)
            case _:
                for inner in expression:
                    start = self.add(start, inner)
                return start

    def _follow(self, start: int, every: Iterable[Chars]) -> int:
        for chars in every:
            end = self.new()
            self.edges[start].append((chars, end))
            start = end
        return start

    def _add_texts(self, start: int, every: Iterable[str], end: int) -> None:
        """Add texts between two states; those that begin alike share their first states."""
        known: dict[tuple[int, str], int] = {}
        root = self.new()
        self.empty[start].append(root)
        for text in every:
            at = root
            for char in text:
                if (at, char) not in known:
                    known[at, char] = self._follow(at, [Chars(frozenset(char))])
                at = known[at, char]
            self.empty[at].append(end)

    def _repeat(self, start: int, inner: Expression) -> int:
        loop = self.new()
        self.empty[start].append(loop)
        self.empty[self.add(loop, inner)].append(loop)
        return loop

    def _up_to(self, start: int, inner: Expression, times: int) -> int:
        end = self.new()
        self.empty[start].append(end)
        for _ in range(times):
            start = self.add(start, inner)
            self.empty[start].append(end)
        return end


_State: TypeAlias = frozenset[int]


class Language:
    """The texts of an expression. `chars` are the characters that it tells apart from all others."""

    def __init__(self, expression: Expression) -> None:
        self._automaton = _Automaton()
        first = self._automaton.new()
        self._end = self._automaton.add(first, expression)
        self._steps: dict[tuple[_State, str], _State] = {}
        self.start = self._close({first})
        self._full = frozenset(at for at in range(len(self._automaton.edges)) if self._has_all(at))
        edges = itertools.chain.from_iterable(self._automaton.edges)
        self.chars = frozenset[str]().union(*(chars.chars for chars, _ in edges))

    def step(self, state: _State, char: str) -> _State:
        """Return where a character leads; empty where no text of the language goes on so."""
        key = state, char
        found = self._steps.get(key)
        if found is None:
            edges = (edge for at in state for edge in self._automaton.edges[at])
            found = self._close({end for chars, end in edges if (char in chars.chars) is not chars.is_negated})
            self._steps[key] = found
        return found

    def accepts(self, state: _State) -> bool:
        """Return whether a text that leads to a state is one of the language."""
        return self._end in state

    def has_all(self, state: _State) -> bool:
        """Return whether all that can follow makes a text of the language; False where that is not seen."""
        return not self._full.isdisjoint(state)

    def _has_all(self, at: int) -> bool:
        check_time()
        loops = (at in self._close({end}) for chars, end in self._automaton.edges[at] if chars == _ANY)
        return any(loops) and self._end in self._close({at})

    def __contains__(self, text: str) -> bool:
        state = self.start
        for char in text:
            state = self.step(state, char)
        return self.accepts(state)

    def _close(self, states: set[int]) -> _State:
        waiting = list(states)
        while waiting:
            for end in self._automaton.empty[waiting.pop()]:
                if end not in states:
                    states.add(end)
                    waiting.append(end)
        return frozenset(states)


def shortest(wanted: Sequence[Language], refused: Sequence[Language] = ()) -> str | None:
    """Return the shortest text that is in each of `wanted` and in none of `refused`; None if there is none.

    Of texts of one length, one of letters and digits goes first. Raises: `TooLargeError`, `OutOfTimeError`.
    """
    return next(texts(wanted, refused), None)


def texts(wanted: Sequence[Language], refused: Sequence[Language] = ()) -> Iterator[str]:
    """Yield texts as `shortest` does, one for each state of all languages. Raises: as that."""
    every = (*wanted, *refused)
    known = frozenset[str]().union(*(each.chars for each in every))
    other = next((char for char in _LIKED if char not in known), _RARE)
    order = (other, *sorted(known, key=lambda char: (not char.isalpha(), not char.isalnum(), char)))
    start = tuple(each.start for each in every)
    before: dict[tuple[_State, ...], tuple[tuple[_State, ...], str] | None] = {start: None}
    waiting = collections.deque([start])
    while waiting:
        states = waiting.popleft()
        pairs = list(zip(every, states, strict=True))
        if all(each.accepts(state) is (at < len(wanted)) for at, (each, state) in enumerate(pairs)):
            yield _spell(before, states)
        for char in order:
            check_time()
            reached = tuple(each.step(state, char) for each, state in pairs)
            ours, theirs = reached[: len(wanted)], reached[len(wanted) :]
            if all(ours) and reached not in before and not any(map(Language.has_all, refused, theirs)):
                before[reached] = states, char
                waiting.append(reached)
                if len(before) > _MOST_REACHED:
                    raise TooLargeError


def _spell(
    before: "dict[tuple[_State, ...], tuple[tuple[_State, ...], str] | None]", states: tuple[_State, ...]
) -> str:
    """Return the characters that led to some states."""
    letters: list[str] = []
    while (step := before[states]) is not None:
        states, char = step
        letters.append(char)
    return "".join(reversed(letters))
