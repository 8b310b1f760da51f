"""Patterns over the text of a command."""

import pytest

from permitry.config.importers.commands import examples_of, pattern_of


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("npm test", "npm test"),
        ("npm test:*", "npm test *"),
        ("git *", "git *"),
        ("npm*", "npm* *"),
        ("git * main", "git ** main"),
        ("* --version", "* ** --version"),
        ("*", "*"),
        ("", "*"),
    ],
)
def test_a_star_may_be_several_words(text: str, pattern: str) -> None:
    """And at the end none."""
    assert pattern_of(text) == pattern


@pytest.mark.parametrize(
    ("pattern", "examples"),
    [
        ("git push *", (("git push",), ("git",))),
        ("make", (("make",), ())),
        ("git ** main", ((), ())),
        ("a 'b", ((), ())),
        ("*", ((), ())),
    ],
)
def test_examples_are_made_of_plain_patterns(pattern: str, examples: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
    """A command that fits, and one that has a word too few."""
    assert examples_of(pattern) == examples
