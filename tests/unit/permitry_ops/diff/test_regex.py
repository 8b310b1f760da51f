"""Patterns of RE2 as languages: the same texts as RE2 finds."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.conditions._regex import Regex
from permitry.errors import RuleError
from permitry_ops.diff.language import Language, TooLargeError
from permitry_ops.diff.regex import UnreadError, read_regex

WORDS = ["".join(word) for length in range(4) for word in itertools.product("abK\n0-{\u017f", repeat=length)]
ATOMS = (
    "a", "b", "K", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"\s", r"\W", r"\.", "(a|b)", "(?:ab)", "-", "{", "[]a]",
    "[a-]", "(ab|)", "^", "$", "|", "(?P<n>a)", r"[\d_]", "\u017f",
)  # fmt: skip
TIMES = ("", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "{,2}", "{")
PARTS = st.lists(st.tuples(st.sampled_from(ATOMS), st.sampled_from(TIMES)), min_size=1, max_size=4)


@given(PARTS, st.sampled_from(("", "(?i)", "(?s)", "^", r"\A")), st.sampled_from(("", "$", r"\$")))
def test_a_pattern_has_the_texts_that_the_engine_finds(parts: list[tuple[str, str]], head: str, tail: str) -> None:
    """Or it is not read."""
    text = head + "".join(atom + times for atom, times in parts) + tail
    try:
        regex, language = Regex(text), Language(read_regex(text))
    except (RuleError, UnreadError, TooLargeError):
        return
    assert [word for word in WORDS if word in language] == [word for word in WORDS if regex.matches(word)]


@pytest.mark.parametrize(
    "text", [r"\bfoo", "(?i:a)", "[[:alpha:]]", r"\pL", "a$b", "(^a|b)$", r"\x41", "[^\\D]", "(?i)é", "[一-龥]"]
)
def test_what_is_not_read_is_said(text: str) -> None:
    """So that nothing is proven by it."""
    with pytest.raises(UnreadError):
        read_regex(text)
