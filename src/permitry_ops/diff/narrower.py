"""Which of two conditions is the narrower one, where that can be said without a call that shows it.

One is narrower than another if the other certainly holds wherever it does, and it certainly fails wherever the other
does; where one of them cannot be evaluated, nothing is said. A condition of a class that is not named here is narrower
than its equal alone.
"""

from collections.abc import Callable, Mapping
from typing import Any

from permitry.conditions.args import ArgumentCondition, ArgumentTest, SourceCondition
from permitry.conditions.prompt import PromptCondition
from permitry.conditions.text import TextCondition
from permitry.conditions.tool_digest import ToolDigestCondition
from permitry.conditions.traits import TraitsCondition

__all__ = ["is_narrower"]


def is_narrower(one: object, other: object) -> bool:
    """Return whether a part of a rule is known to be narrower than another one of the same class, or equal."""
    compare = _BY_CLASS.get(type(one))
    return one == other or (compare is not None and type(one) is type(other) and compare(one, other))


def _of_argument(one: ArgumentCondition, other: ArgumentCondition) -> bool:
    return one.path == other.path and _is_optional_alike(one.test, other.test) and _has_checks(one.test, other.test)


def _has_checks(one: ArgumentTest, other: ArgumentTest) -> bool:
    """Return whether a test has all checks of another one, of which each must hold."""
    return all(check in one.checks for check in other.checks)


def _is_optional_alike(one: ArgumentTest | SourceCondition, other: ArgumentTest | SourceCondition) -> bool:
    """Return whether what is left out, and passes the one, passes the other."""
    return other.is_optional or not one.is_optional


def _of_source(one: SourceCondition, other: SourceCondition) -> bool:
    if one.path != other.path or one.is_negative is not other.is_negative:
        return False
    # That a value is from none of many sources says more than that it is from none of few.
    few, many = (other, one) if one.is_negative else (one, other)
    if not _is_optional_alike(few, many):
        return False
    if few.share is None or many.share is None:
        return few.share is many.share and all(source in many.sources for source in few.sources)
    return few.share >= many.share


def _of_prompt(one: PromptCondition, other: PromptCondition) -> bool:
    return set(one.words) <= set(other.words) and (one.regex is None or one.regex == other.regex)


def _of_text(one: TextCondition, other: TextCondition) -> bool:
    if one.test.is_optional is not other.test.is_optional:
        return False
    return all(any(_is_within(check, wider) for check in one.test.checks) for wider in other.test.checks)


def _is_within(check: Any, wider: Any) -> bool:  # noqa: ANN401 -- a check of a test, of which only the tests know
    """Return whether each text that passes a check passes another one: what contains `rm -r` contains `rm`."""
    if check == wider or check.name != "contains" or wider.name != "contains":
        return bool(check == wider)
    return all(any(part in text for part in wider.operand) for text in check.operand)


def _of_words(one: TraitsCondition | ToolDigestCondition, other: object) -> bool:
    return one.implies(other)


_BY_CLASS: Mapping[type, Callable[[Any, Any], bool]] = {
    ArgumentCondition: _of_argument,
    SourceCondition: _of_source,
    PromptCondition: _of_prompt,
    TextCondition: _of_text,
    ToolDigestCondition: _of_words,
    TraitsCondition: _of_words,
}
