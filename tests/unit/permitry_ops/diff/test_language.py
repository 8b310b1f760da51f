"""Languages of texts: what is in them, and the shortest text of a combination."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.core.pattern import Pattern
from permitry_ops.diff.language import (
    ANYTHING,
    Alternatives,
    Chars,
    Language,
    Repeat,
    TooLargeError,
    glob,
    shortest,
    texts,
)

WORDS = ["".join(word) for length in range(5) for word in itertools.product("ab*", repeat=length)]
GLOBS = st.text("ab*?", max_size=5)


@given(GLOBS)
def test_a_glob_has_the_texts_that_its_pattern_matches(pattern: str) -> None:
    """All of them, and no others."""
    language = Language(glob(Pattern(pattern)))
    assert [word for word in WORDS if word in language] == [word for word in WORDS if Pattern(pattern).matches(word)]


@given(st.lists(GLOBS, max_size=3), st.lists(GLOBS, max_size=3))
def test_the_shortest_text_is_in_those_that_are_wanted_and_in_no_other(wanted: list[str], refused: list[str]) -> None:
    """Where there is none, no short text has what is asked for."""
    kept, others = ([Language(glob(Pattern(each))) for each in some] for some in (wanted, refused))
    fitting = [
        word
        for word in WORDS
        if all(Pattern(each).matches(word) for each in wanted)
        and not any(Pattern(each).matches(word) for each in refused)
    ]
    found = shortest(kept, others)
    if found is None:
        assert fitting == []
    else:
        assert all(found in each for each in kept)
        assert not any(found in each for each in others)
        assert not fitting or len(found) <= len(fitting[0])


def test_a_text_is_made_of_letters_where_any_will_do() -> None:
    """And of a sign that no language names, where all letters are taken."""
    assert shortest([Language(("tmp_", Repeat(Chars(is_negated=True), 1)))]) == "tmp_a"
    letters = Chars(frozenset("abcdefghijklmnopqrstuvwxyz0123456789"))
    other = shortest([Language(Chars(is_negated=True))], [Language(letters)])
    assert other is not None
    assert not other.isalnum()


def test_several_texts_are_given_the_shortest_first() -> None:
    """One for each state that they lead to."""
    language = Language(Alternatives(("b", ("a", Repeat("c", 1, 3)))))
    assert list(texts([language])) == ["b", "ac", "acc", "accc"]


def test_what_is_too_large_is_not_compared() -> None:
    """An automaton of more states, and a product of more."""
    with pytest.raises(TooLargeError):
        Language(Repeat(Repeat("a", 0, 1_000), 0, 1_000))
    each = [Language((ANYTHING, char, Repeat(Chars(is_negated=True), 12, 12))) for char in "ab"]
    with pytest.raises(TooLargeError):
        shortest(each)


def test_what_follows_a_refused_text_is_not_looked_at() -> None:
    """A language that has every longer text as well ends the search there, so that many of them cost little."""
    refused = [Language((ANYTHING, each, ANYTHING)) for each in ("write", "delete", "remove", "create", "move", "edit")]
    assert shortest([Language((ANYTHING, "e"))], refused) == "e"
    assert shortest([Language((ANYTHING, "edit"))], refused) is None
    assert refused[0].has_all(refused[0].step(refused[0].start, "x")) is False
