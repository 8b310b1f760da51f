"""Checks of an argument as plain functions: True, False, or None where the answer takes a closer look.

Only values of the very types an operator speaks of are judged here; for all others `ArgumentTest.truth` says why not.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from permitry.core.pattern import Pattern

__all__ = ["ValueTest", "all_hold", "quick_check"]

ValueTest: TypeAlias = Callable[[Any], bool | None]

_TEXT = frozenset({str})
_NUMBER = frozenset({int, float})
_BOOLEAN = frozenset({bool})


def quick_check(name: str, operand: Any) -> ValueTest | None:  # noqa: ANN401 -- each operator has an operand of its own
    """Return the check of one operator, or None for an operator that always takes a closer look."""
    if name in ("eq", "ne"):
        return _among((operand,), is_negated=name == "ne")
    if name in ("in", "not_in"):
        return _among(operand, is_negated=name == "not_in")
    if name in ("lt", "le", "gt", "ge"):
        return _ordered(name, operand)
    if name in ("glob", "prefix", "suffix", "contains"):
        return _text(name, operand)
    return _matching(operand.matches) if name == "regex" else None


def all_hold(tests: Iterable[ValueTest]) -> ValueTest:
    """Return the test whether all hold; it stops at the first that does not, or cannot tell."""
    each = tuple(tests)
    if len(each) == 1:
        return each[0]

    def test(value: Any) -> bool | None:  # noqa: ANN401 -- any argument
        for one in each:
            answer = one(value)
            if answer is not True:
                return answer
        return True

    return test


def _class_of(operands: Iterable[Any]) -> frozenset[type] | None:
    """Return the types that compare with operands of one type; None where there are several, or lists."""
    kinds = set(map(type, operands))
    return next((kind for kind in (_TEXT, _NUMBER, _BOOLEAN) if kinds <= kind), None)


def _among(operands: tuple[Any, ...], *, is_negated: bool) -> ValueTest | None:
    kinds = _class_of(operands)
    if kinds is None:
        return None
    values = frozenset(operands)

    def test(value: Any) -> bool | None:  # noqa: ANN401 -- any argument
        return (value in values) is not is_negated if type(value) in kinds else None

    return test


def _ordered(name: str, operand: Any) -> ValueTest | None:  # noqa: ANN401 -- a number or a text
    kinds = _class_of((operand,))
    if kinds is None:
        return None
    tests: dict[str, ValueTest] = {
        "lt": lambda value: value < operand if type(value) in kinds else None,
        "le": lambda value: value <= operand if type(value) in kinds else None,
        "gt": lambda value: value > operand if type(value) in kinds else None,
        "ge": lambda value: value >= operand if type(value) in kinds else None,
    }
    return tests[name]


def _text(name: str, operands: tuple[str, ...]) -> ValueTest:
    if name == "prefix":
        return lambda value: value.startswith(operands) if type(value) is str else None
    if name == "suffix":
        return lambda value: value.endswith(operands) if type(value) is str else None
    if name == "contains":
        return _matching(lambda value: any(part in value for part in operands))
    patterns = tuple(map(Pattern, operands))
    return _matching(lambda value: any(pattern.matches(value) for pattern in patterns))


def _matching(matches: Callable[[str], bool]) -> ValueTest:
    return lambda value: matches(value) if type(value) is str else None
