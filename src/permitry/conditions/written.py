"""The base classes of conditions: what files, editors, lint and explanations ask of each."""

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeAlias, cast

from permitry.conditions.match import Match
from permitry.core.effects import Effect
from permitry.core.rule import Request
from permitry.core.template import Template

__all__ = [
    "Condition",
    "Place",
    "PlainCondition",
    "Problem",
    "Table",
    "Value",
    "Words",
    "Written",
    "WrittenPattern",
    "bare_type",
    "sorted_repr",
]

Place: TypeAlias = tuple[str | int, ...]
"""The path of a value below the key of a condition, such as `("to", 0)` in `when.args`."""

Problem: TypeAlias = tuple[str, str]
"""A message, and a hint how to solve the problem."""

Table: TypeAlias = Any
"""The type of the value of a key: `Words`, `int`, `bool` or `dict`.

It may be `Annotated` with a further constraint on a word or number: a `range`, an enumeration, or a
function that returns the `Problem` of a word, or None.
"""

Value: TypeAlias = Any
"""The value of a key, of the type that the condition has as its `table`."""

Words: TypeAlias = tuple[str, ...]
"""The type of a word or a list of words."""


def sorted_repr(values: Iterable[enum.Enum]) -> str:
    """Return a set as text, the same in every process: the version of a policy has it."""
    return f"{{{', '.join(sorted(map(repr, values)))}}}"


def bare_type(table: Table) -> tuple[Table, tuple[Value, ...]]:
    """Return a type without its metadata, and the metadata."""
    return (table.__origin__, table.__metadata__) if hasattr(table, "__metadata__") else (table, ())


class Written:
    """One key of `when` and `unless`, described for editors; `has_wildcards`: of patterns."""

    __slots__ = ()

    key: ClassVar[str]
    table: ClassVar[Table]
    description: ClassVar[str]
    has_wildcards: ClassVar[bool] = False

    @classmethod
    def parts(cls, value: Value, /) -> Iterable[tuple[Place, Value]]:
        """Return the parts of the value that are each read as a condition, and their places."""
        return [((), value)]

    @classmethod
    def read(cls, _place: Place, part: Value, /) -> Self:
        """Return the condition that one part of the value denotes. Raises: `RuleError`."""
        return cast("Callable[[Value], Self]", cls)(part)


class Condition(Protocol):
    """A condition on the call and its context, as opposed to one on the actions of the call."""

    __slots__ = ()

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Return how far the condition matches: `YES`, `NO`, or `ALIKE` where it only may.

        `needed` is `YES` for a permission and `ALIKE` for a restriction. What makes no difference to such
        a reader need not be evaluated.

        Raises: `UnevaluableError` when it cannot be evaluated for the call.

        A condition may also have `is_pure` (True, in its own class and not inherited): it depends on the
        request alone; and `needs`: facts of which one is present if it holds or fails.
        """

    def fact(self, request: Request) -> str:
        """Return what is true if the condition does not hold, as in `mode = default`."""

    @property
    def expected(self) -> str | None:
        """What would have to be true instead of its `fact`; None if that says it all."""
        return None


class PlainCondition(Written, Condition):
    """A condition on the call and its context that a rule file may have.

    `is_answered`: it can be evaluated for every call. `example` is the type of its value in an
    example, if one can have the key; `in_context` is the field of the context that such a value is,
    and `any_of` the field of the condition with words of which one must be true, if it has one.
    """

    __slots__ = ()

    is_answered: ClassVar[bool] = False
    example: ClassVar[Table] = None
    in_context: ClassVar[str] = ""
    any_of: ClassVar[str] = ""

    def match(self, request: Request, _needed: Match = Match.YES, /) -> Match:
        """Return how far the condition matches: `YES` if it holds, and `NO` otherwise."""
        return Match.YES if self.holds(request) else Match.NO

    def holds(self, request: Request) -> bool:
        """Return whether the condition holds, of which nothing is in doubt. Raises: as `match`."""
        raise NotImplementedError

    def fact(self, request: Request) -> str:
        """Return what the context has instead, as shown in near misses."""
        value = getattr(request.context, self.in_context)
        return f"{self.key} = {str(value).lower() if isinstance(value, bool) else value}"

    @property
    def expected(self) -> str | None:
        """What it asks for, as shown in near misses; None if its `fact` says it all."""
        return " or ".join(getattr(each, "text", each) for each in getattr(self, self.any_of)) if self.any_of else None

    def implies(self, other: object) -> bool:
        """Return whether `other` holds whenever this does: it is equal, or has all its words."""
        if type(self) is not type(other) or self.has_wildcards or not self.any_of:
            return self == other
        return set(getattr(self, self.any_of)) <= set(getattr(other, self.any_of))

    @classmethod
    def context(cls, value: Value, _templates: Mapping[str, Template], /) -> Mapping[str, Any]:
        """Return the fields of the context in which an example with this value is decided."""
        return {cls.in_context: value} if cls.in_context else {}


class WrittenPattern(Written):
    """A pattern of actions: each word of the key is a pattern, and one of them must match."""

    __slots__ = ()

    table: ClassVar[Table] = Words
    has_wildcards: ClassVar[bool] = True

    def match(self, effect: Effect, least: Match = Match.OPEN, enough: Match = Match.YES, /) -> Match:
        """Return how far the pattern matches one effect of a call.

        A reader does not distinguish what is below `least`, which may be `NO`, nor above `enough`.
        """
        raise NotImplementedError

    @classmethod
    def parts(cls, value: Words, /) -> Iterable[tuple[Place, Value]]:
        """Return each word, and its 0-based index."""
        return (((number,), word) for number, word in enumerate(value))
