"""Lists of words: a single string is refused, as it would become its letters."""

import pytest

from permitry.errors import RuleError
from permitry.rules.conditions._words import words


def test_a_list_is_kept_in_its_order() -> None:
    """An empty one is empty."""
    assert words(iter(["b", "a", "b"])) == ("b", "a", "b")
    assert words(()) == ()


@pytest.mark.parametrize("text", ["", "plan"])
def test_one_string_is_refused(text: str) -> None:
    """Even if it has no letters."""
    with pytest.raises(RuleError, match="a list of words is needed"):
        words(text)
