"""Finding lines in a file."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.errors import ToolError
from permitry_tools.patch.seek import Haystack

_LINES = st.lists(st.sampled_from(["a", "b", "a ", " a", "\u2014", "-", " -", ""]), max_size=12)


def naive(lines: list[str], wanted: list[str], start: int) -> int | None:
    """Return the same as `Haystack.find` by looking at every place with every reading."""
    dash = {0x2014: "-"}
    for read in (str, str.rstrip, str.strip, lambda line: line.strip().translate(dash)):
        for at in range(start, len(lines) - len(wanted) + 1):
            if list(map(read, lines[at : at + len(wanted)])) == list(map(read, wanted)):
                return at
    return None


@given(_LINES, _LINES.filter(bool), st.integers(0, 12))
@settings(max_examples=500, deadline=None, database=None, derandomize=True)
def test_what_is_found_is_what_a_plain_search_finds(lines: list[str], wanted: list[str], start: int) -> None:
    """The exact place comes before a nearer one that only looks alike."""
    assert Haystack(lines).find(wanted, start) == naive(lines, wanted, start)


@for_each(("line", "wanted"))
def test_typographic_characters_are_those_of_a_typewriter(line: str, wanted: str) -> None:
    """Models write the plain ones."""
    assert Haystack(["0", line]).find([wanted], 0) == 1


def test_many_lines_are_found_in_a_large_file() -> None:
    """A hundred thousand searches, each of which fails in three readings, take a moment."""
    lines = [f"  line {number}" for number in range(100_000)]
    haystack = Haystack(lines)
    for number in range(100_000):
        assert haystack.find([f"line {number}"], number) == number


def test_a_search_that_takes_too_long_is_refused() -> None:
    """Where every place is nearly right, someone is playing."""
    lines = ["a", "b"] * 50_000
    with pytest.raises(ToolError, match="too repetitive"):
        Haystack(lines).find([*["a", "b"] * 500, "b", "a"], 0)
