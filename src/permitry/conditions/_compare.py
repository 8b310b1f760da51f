"""Three-valued comparison of JSON values: true, false, or a text why it is undefined."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from permitry.core.facts import argument_class
from permitry.core.json_values import JsonValue

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "array", type(None): "null"}
"""JSON types by Python type; a frozen value of any other type is an object."""

Truth: TypeAlias = bool | str
"""True, false, or a text that explains why it is undefined."""


# Three-valued logic -----------------------------------------------------------------------------------------------


def all_of(truths: Iterable[Truth]) -> Truth:
    return _settle(truths, by=False)


def any_of(truths: Iterable[Truth]) -> Truth:
    return _settle(truths, by=True)


def _settle(truths: Iterable[Truth], *, by: bool) -> Truth:
    doubt = None
    for truth in truths:
        if truth is by:
            return by
        if isinstance(truth, str):
            doubt = doubt or truth
    return not by if doubt is None else doubt


def negate(truth: Truth) -> Truth:
    return truth if isinstance(truth, str) else not truth


# Comparisons ------------------------------------------------------------------------------------------------------


def kind_of(value: JsonValue) -> str:
    """Return the JSON type; `integer` for a number without a fraction."""
    return _KINDS.get(type(value), "object")


def class_of(value: JsonValue) -> str:
    """Return the JSON type for comparisons: an integer is a number, and `true` is not."""
    return argument_class(value) or kind_of(value)


def same(value: JsonValue, operand: JsonValue) -> Truth:
    if class_of(value) != class_of(operand):
        return f"is {describe_kind(value)}, which cannot be compared with {describe_kind(operand)}"
    if isinstance(value, tuple) and isinstance(operand, tuple):
        return len(value) == len(operand) and all_of(map(same, value, operand))
    return value == operand


def describe_kind(value: JsonValue) -> str:
    kind = kind_of(value)
    return kind if value is None else f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def among(value: JsonValue, operands: tuple[JsonValue, ...]) -> Truth:
    return any_of(same(value, operand) for operand in operands)


def order_by(compare: Callable[[Any, Any], bool]) -> Callable[[JsonValue, JsonValue], Truth]:
    def truth(value: JsonValue, operand: JsonValue) -> Truth:
        if class_of(value) != class_of(operand):
            return f"is {describe_kind(value)}, which has no order with {describe_kind(operand)}"
        return compare(value, operand)

    return truth


def only_of(kind: type, named: str, test: Callable[[Any, Any], Truth]) -> Callable[[JsonValue, Any], Truth]:
    def truth(value: JsonValue, operand: object) -> Truth:
        return test(value, operand) if isinstance(value, kind) else f"is {describe_kind(value)}, not {named}"

    return truth
