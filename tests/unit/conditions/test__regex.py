"""Regular expressions without backtracking: the whole text must fit, and a pattern has bounds."""

import copy

import pytest
from tests.tables import for_each

from permitry.conditions._regex import Regex
from permitry.errors import RuleError


@for_each(("pattern", "text", "fits"))
def test_the_whole_text_must_fit(pattern: str, text: str, *, fits: bool) -> None:
    """A line break hides nothing behind it."""
    assert Regex(pattern).matches(text) is fits


@for_each(
    ("pattern", "why"),
    [
        ("(", "not a pattern RE2 takes"),
        (r"(a)\1", "not a pattern RE2 takes"),
        ("a(?=b)", "not a pattern RE2 takes"),
        ("(a{1000}){1000}", "not a pattern RE2 takes"),
        ("a" * 1_001, "1000 are the most"),
    ],
)
def test_an_unusable_pattern_is_refused(pattern: str, why: str) -> None:
    """One that is invalid, too long, or too large when it is compiled."""
    with pytest.raises(RuleError, match=why):
        Regex(pattern)


@for_each(("pattern", "hint"))
def test_what_re2_lacks_has_a_hint(pattern: str, hint: str) -> None:
    """Where another way leads to the same."""
    with pytest.raises(RuleError, match=f"{hint}$"):
        Regex(pattern)


def test_a_pattern_is_its_text() -> None:
    """Equal by it, also as a copy."""
    assert Regex("a+") == Regex("a+") != Regex("b+")
    assert str(Regex("a+")) == "a+"
    again = copy.deepcopy(Regex("a+"))
    assert again.matches("aa")
