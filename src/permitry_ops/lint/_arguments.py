"""Whether a test of an argument can ever be passed."""

from collections.abc import Iterator
from typing import Any

from permitry.conditions._compare import class_of
from permitry.conditions.args import ArgumentCondition

__all__ = ["contradiction"]

_LOWER, _UPPER, _STRICT = ("ge", "gt"), ("le", "lt"), ("gt", "lt")


def contradiction(condition: ArgumentCondition) -> str | None:
    """Return why no value can pass the test, or None if no contradiction is found."""
    for check in condition.test.checks:
        candidates = {"eq": lambda value: (value,), "in": tuple}.get(check.name)
        # Only the values that one operator lists can pass, so they are tried against all of them.
        if candidates is not None and not any(condition.test.truth(each) is True for each in candidates(check.operand)):
            return f"no value passes `{condition}`"
    return f"no value passes `{condition}`" if any(_is_empty(*pair) for pair in _bounds(condition)) else None


def _bounds(condition: ArgumentCondition) -> Iterator[tuple[Any, Any, bool]]:
    checks = condition.test.checks
    for low in (check for check in checks if check.name in _LOWER):
        for high in (check for check in checks if check.name in _UPPER):
            yield low.operand, high.operand, low.name in _STRICT or high.name in _STRICT


def _is_empty(low: Any, high: Any, is_strict: bool) -> bool:  # noqa: ANN401, FBT001 -- numbers or texts; one triple
    return class_of(low) != class_of(high) or low > high or (low == high and is_strict)
