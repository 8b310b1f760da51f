"""Named lists in conditions: how one is referred to, and what a condition is when it is empty."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import attrs

from permitry.conditions._words import nearest
from permitry.conditions.match import Match
from permitry.conditions.written import Condition
from permitry.core.json_values import JsonValue
from permitry.core.rule import Request
from permitry.errors import RuleError

__all__ = ["EmptyList", "ListedValues", "WordLists", "list_name", "unknown_list"]

_REFERENCE = re.compile(r"@([A-Za-z0-9][A-Za-z0-9_-]*)")

WordLists: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""The values of lists, next to their names."""


def list_name(word: object) -> str | None:
    """Return the name of the list that a word such as `@colleagues` refers to, or None."""
    found = _REFERENCE.fullmatch(word) if isinstance(word, str) else None
    return None if found is None else found[1]


def unknown_list(name: str, known: Iterable[str], literal: str | None) -> RuleError:
    """Return the error about an unknown list; `literal` is how the word is written, if it can."""
    hint = nearest(name, sorted(known))
    if not hint.startswith("did"):
        or_word = "" if literal is None else f", or write `{literal}` for the word itself"
        hint = f"define `[list.{name}]`{or_word}"
    return RuleError(f"unknown list `@{name}`; {hint}")


class ListedValues(tuple[JsonValue, ...]):  # noqa: SLOT001 -- a tuple cannot have slots that are not empty
    """The values of a named list, which may be empty."""

    name: str

    @classmethod
    def of(cls, name: str, values: Sequence[JsonValue]) -> "ListedValues":
        """Return the values with the name of their list."""
        listed = cls(values)
        listed.name = name
        return listed

    def __reduce__(self) -> tuple[object, ...]:
        return ListedValues.of, (self.name, tuple(self))


@attrs.frozen
class EmptyList(Condition):
    """The condition that an action fits one of these words of empty lists: none does."""

    is_pure = True

    words: tuple[str, ...]

    def match(self, _request: Request, _needed: Match = Match.YES, /) -> Match:
        """Return `NO`."""
        return Match.NO

    def fact(self, _request: Request, /) -> str:
        """Return that the words have no values."""
        return f"{', '.join(self.words)} = []"
