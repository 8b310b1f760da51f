"""What every condition says of itself: files, editors, lint and explanations know it by its class."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeAlias, cast

from permitry.core.rule import Question
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
]

Place: TypeAlias = tuple[str | int, ...]
"""Where something is below the key of a condition."""

Problem: TypeAlias = tuple[str, str]
"""A message, and a hint how to mend it."""

Table: TypeAlias = Any
"""The type of what is written under a key: `Words`, `int`, `bool` or `dict`.

Metadata of `Annotated` says what a word or number must be besides: a `range`, an enumeration, or a
function that returns the `Problem` of a word, or None.
"""

Value: TypeAlias = Any
"""What is written under a key: of the type that the condition has as its `table`."""

Words: TypeAlias = tuple[str, ...]
"""The type of a word or a list of words."""


def bare_type(table: Table) -> tuple[Table, tuple[Value, ...]]:
    """Return a type without its metadata, and the metadata."""
    return (table.__origin__, table.__metadata__) if hasattr(table, "__metadata__") else (table, ())


class Written:
    """What a rule file may say in `when` and `unless` under one key.

    `description` is for editors. `has_wildcards`: the words are patterns.
    """

    __slots__ = ()

    key: ClassVar[str]
    table: ClassVar[Table]
    description: ClassVar[str]
    has_wildcards: ClassVar[bool] = False

    @classmethod
    def parts(cls, value: Value, /) -> Iterable[tuple[Place, Value]]:
        """Return what is read on its own in the value of the key, and where it is."""
        return [((), value)]

    @classmethod
    def read(cls, _place: Place, part: Value, /) -> Self:
        """Return what one part of the value says.

        Raises: `RuleError`.
        """
        return cast("Callable[[Value], Self]", cls)(part)


class Condition(Protocol):
    """A condition on the call and its context, as opposed to one on the actions of the call."""

    __slots__ = ()

    def holds(self, question: Question, *, over_approximate: bool) -> bool:
        """Return whether it holds.

        Raises: `UnevaluableError` when the call gives no answer.

        A condition may also have `is_pure`, True or a property that its own class says, and `needs`: facts of which one
        is met before it can hold or fail.
        """
        ...

    def fact(self, question: Question) -> str:
        """Return what is the case instead, as in `mode = default`."""
        ...


class PlainCondition(Written, Condition):
    """A condition on the call and its context that a rule file may have.

    `is_answered`: every call has an answer, the same in whichever way it is asked. `example` is the
    type of its value in an example, None if an example says nothing about it.
    """

    __slots__ = ()

    is_answered: ClassVar[bool] = False
    example: ClassVar[Table] = None

    def implies(self, other: object) -> bool:
        """Return whether `other` surely holds wherever this condition does."""
        return self == other

    @classmethod
    def context(cls, _value: Value, _templates: Mapping[str, Template], /) -> Mapping[str, Any]:
        """Return the fields of a context that an example with this value is decided in."""
        return {}


class WrittenPattern(Written):
    """A pattern of actions: each word under its key is one, and one of them must match."""

    __slots__ = ()

    table: ClassVar[Table] = Words
    has_wildcards: ClassVar[bool] = True

    @classmethod
    def parts(cls, value: Words, /) -> Iterable[tuple[Place, Value]]:
        """Return each word, and its number."""
        return (((number,), word) for number, word in enumerate(value))
