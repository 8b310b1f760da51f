"""One component of a path pattern: `*`, `?` and `[sets]`, matched by splitting at the stars.

The cost is at most the product of the lengths of name and pattern. No component has a `/`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, groupby
from typing import Any, TypeAlias

import attrs

from permitry.core.pattern import ANY, CharSet, Piece, Unit, fold, has_pieces, is_one
from permitry.errors import RuleError

Row: TypeAlias = tuple[bool, ...]
"""For each beginning of a sequence, the empty one first, whether it matches the elements so far."""

_SET = re.compile(r"\[[!^]?\]?(?:[^\[\]]|\[:[a-z]+:\])*\]")
_DIGIT, _DIGITS = "\0", "[!\1-/:-\x7f]"
"""The sign for the set of digits while a text is read; and that set, with the digits of other scripts."""
_UNIT = re.compile(r"\[([!^]?+)(.[^\]]*+)\]|(.)", re.DOTALL)
_RANGE = re.compile("(.)-(.)|(.)", re.DOTALL)
_MOST_PAIRS = 250_000  # beyond any name a disk can hold; more than that is taken to overlap


@attrs.frozen
class Segment:
    """A pattern of one component: `pieces` of fixed length, with a star between every two of them.

    `hides_dots`: it fits no name that begins with a dot. `is_wide`: it may be so many names that it
    is compared only with patterns that are one literal name (`guess` of a text such as `[*].py`).
    """

    pieces: tuple[Piece, ...]
    hides_dots: bool = False
    is_wide: bool = False

    @classmethod
    def parse(cls, text: str) -> "Segment":
        """Return the pattern that `text` in a rule file denotes. Raises: `RuleError` for a wrong set."""
        return cls(_pieces(text))

    @classmethod
    def guess(cls, text: str) -> "Segment":
        """Return a pattern for all that a shell may make of `text`; a simple set becomes `?`, but for digits."""
        is_wide, hides_dots = text.startswith("[*]"), text[:1] in ("*", "?", "[")
        simple = text if is_wide else _SET.sub(_simplify, text)
        head, opening, rest = simple.partition("[")
        tail = rest.rpartition("]")[2].replace("[", "?")
        # In a bracket that is not closed, a set is a part of another one.
        text = f"{head}*{tail}".replace(_DIGIT, "?") if opening else head.replace(_DIGIT, _DIGITS)
        pieces = _pieces(text)
        # A shell's leading wildcard matches no dot, not even a set that contains one.
        return cls(pieces, hides_dots=hides_dots and not is_wide, is_wide=is_wide)

    @property
    def literal(self) -> str | None:
        """The only name that fits, or None if more than one may fit."""
        first = self.pieces[0]
        return first if len(self.pieces) == 1 and isinstance(first, str) else None

    @property
    def globs(self) -> frozenset[str]:
        """Globs with no wildcard but `*`; one of them fits each name, or folded name, that fits."""
        return frozenset("*".join(map(_text_of, each.pieces)) for each in (self, self.folded))

    def writes_out(self, name: str, signs: frozenset[str]) -> bool:
        """Return whether it has a set for each of `signs` in a name, as `x[*]` has for `x*`."""
        units = self.pieces[0]
        if len(self.pieces) > 1 or len(units) != len(name):
            return False
        return all(
            isinstance(unit, CharSet) and not unit.is_negated and char in unit
            for unit, char in zip(units, name, strict=True)
            if char in signs
        )

    @cached_property
    def hint(self) -> str:
        """A text in every folded path, ending in a slash, that has a component which fits."""
        if self.literal is not None:
            return f"/{self.folded.literal}/"
        *runs, last = f"/{'*'.join(map(_text_of, self.folded.pieces))}/".split("*")
        # The last letter before a wildcard may be composed with what follows; no ASCII letter is with what is before.
        sure = [run for run in (*(run[:-1] for run in runs), last) if run.isascii()]
        return max(sure, key=len, default="/")

    @cached_property
    def folded(self) -> "Segment":
        """The pattern for folded names: without case, composition and invisible characters."""
        return Segment(tuple(map(_fold_piece, self.pieces)), self.hides_dots, self.is_wide)

    def matches(self, name: str) -> bool:
        return has_pieces(name, self.pieces)

    def may_name(self, name: str) -> bool:
        """Return whether the whole of `name` fits, as written or folded."""
        folded = fold(name)
        return self.hint in f"/{folded}/" and (self.matches(name) or self.folded.matches(folded))

    def may_match(self, other: "Segment") -> bool:
        """Return whether some name may fit both patterns, as written or folded."""
        if other.hides_dots and tuple(self.pieces[0][:1]) == (".",):
            return False
        if other.is_wide and self.literal is None:
            return False
        if other.literal is not None:
            return self.may_name(other.literal)
        return _overlap(self, other) or _overlap(self.folded, other.folded)


def _simplify(found: re.Match[str]) -> str:
    """Return one character for a set: of digits, or any."""
    return _DIGIT if found[0] == "[0-9]" else "?"


def align(left: Sequence[object], right: Sequence[object], meet: Callable[[Any, Any], bool]) -> bool:
    """Return whether two sequences can match, by `meet` of two elements; None matches any number."""
    row = begin(right)
    for here in left:
        if True not in row:
            return False
        row = advance(row, here, right, meet)
    return row[-1]


def begin(right: Sequence[object]) -> Row:
    """Return which beginnings of a sequence match no element."""
    return tuple(accumulate(right, lambda so_far, there: so_far and there is None, initial=True))


def advance(row: Row, here: object, right: Sequence[object], meet: Callable[[Any, Any], bool]) -> Row:
    """Return the same of one element more than for `row`; `meet` as in `align`."""
    below = [row[0] and here is None]
    for at, there in enumerate(right):
        if here is None or there is None:
            below.append(row[at + 1] or below[at])
        else:
            below.append(row[at] and meet(here, there))
    return tuple(below)


def _text_of(piece: Piece) -> str:
    """Return a piece as text, with a star for each unit that is not a single character."""
    return "".join(unit if isinstance(unit, str) else "*" for unit in piece)


def _fold_piece(piece: Piece) -> Piece:
    if isinstance(piece, str):
        return fold(piece)
    units: list[Unit] = []
    # Letters together: one and the accent behind it are one letter.
    for _, run in groupby(piece, lambda unit: isinstance(unit, str)):
        every = list(run)
        units += fold("".join(unit for unit in every if isinstance(unit, str)))
        units += [attrs.evolve(unit, ignores_case=True) for unit in every if isinstance(unit, CharSet)]
    return tuple(units)


def _pieces(text: str) -> tuple[Piece, ...]:
    pieces: list[list[Unit]] = [[]]
    for negation, body, char in _UNIT.findall(text):
        if char == "*":
            pieces.append([])
        elif char == "[":
            raise RuleError(f"the set in `{text}` is never closed; write `[[]` for the character `[`")
        elif body:
            pieces[-1].append(CharSet(tuple(_ranges(text, body)), bool(negation)))
        else:
            pieces[-1].append(ANY if char == "?" else char)
    joined = list(map(_join, pieces))
    return tuple(piece for at, piece in enumerate(joined) if piece or at in (0, len(joined) - 1))


def _join(units: list[Unit]) -> Piece:
    letters = [unit for unit in units if isinstance(unit, str)]
    return "".join(letters) if len(letters) == len(units) else tuple(units)


def _ranges(text: str, body: str) -> Iterator[tuple[str, str]]:
    """Yield the ranges of a set in a text, whose brackets are taken off."""
    if any(f"[{mark}" in body[:-1] and body.endswith(mark) for mark in ":.="):
        raise RuleError(f"the set in `{text}` holds a class; write its ranges, such as `[a-z]`")
    for low, high, alone in _RANGE.findall(body):
        if low > high:
            raise RuleError(f"the range `{low}-{high}` runs backwards, and can never match; write `{high}-{low}`")
        yield low or alone, high or alone


def _overlap(left: Segment, right: Segment) -> bool:
    ours, theirs = _units(left), _units(right)
    return len(ours) * len(theirs) > _MOST_PAIRS or align(ours, theirs, _meet)


def _units(segment: Segment) -> Sequence[Unit | None]:
    return [unit for piece in segment.pieces for unit in (None, *piece)][1:]


def _meet(left: Unit, right: Unit) -> bool:
    if isinstance(left, str):
        return is_one(right, left)
    # Two sets may share a character; assuming so costs at most an unnecessary question.
    return not isinstance(right, str) or right in left
