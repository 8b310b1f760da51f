"""Words as the strict reader reads them: quotes and escapes, and a refusal for whatever bash would expand."""

import pytest

from permitry.actions.shell.words import UnreadableError, WordReader, has_wildcard
from permitry.core.action import Word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ab c", Word("ab")),
        ("'a b'c", Word("a bc")),
        ('"a\\"b\\c"', Word('a"b\\c')),
        ("a\\ b", Word("a b")),
        ("''", Word("")),
        ("*.py", Word("*.py", is_glob=True)),
        ("'*'.py", Word("*.py")),
        ("~/a", Word("~/a", is_home=True)),
        ("'~'/a", Word("~/a")),
        ("a~", Word("a~")),
        ("{}", Word("{}")),
        ('"$"', Word("$")),
        ("[", Word("[")),
    ],
)
def test_a_word_is_what_the_program_receives(text: str, word: Word) -> None:
    """Without its quotes; a pattern or a tilde counts where it is not quoted."""
    assert WordReader(text).word() == word


@pytest.mark.parametrize(
    "text",
    ["$A", '"$A"', "`id`", "$(id)", "{a,b}", "~root", "a=~", "'a", '"a', "a\\", "a\\\nb", "a(b", "{a}>f", "$'a'"],
)
def test_what_bash_would_expand_is_refused(text: str) -> None:
    """Or what has no end, or becomes something else by what follows."""
    with pytest.raises(UnreadableError):
        WordReader(text).word()


def test_the_variable_of_a_loop_has_its_value() -> None:
    """Without quotes only if the value is one plain word."""
    reader = WordReader('$A-"$B"')
    reader.values = {"A": "x.py", "B": "a *"}
    assert reader.word() == Word("x.py-a *")
    for value in ("", "a b", "*"):
        reader = WordReader("$A")
        reader.values = {"A": value}
        with pytest.raises(UnreadableError, match="other words"):
            reader.word()


def test_a_tilde_in_an_assignment_is_refused() -> None:
    """Bash looks for one behind each colon."""
    with pytest.raises(UnreadableError):
        WordReader("~/a").word(in_assignment=True)


def test_an_error_says_where_reading_stopped() -> None:
    """Counted from one, for a human."""
    with pytest.raises(UnreadableError) as raised:
        WordReader("ab$C").word()
    assert (raised.value.offset, str(raised.value)) == (2, "an expansion at character 3")


@pytest.mark.parametrize(
    ("plain", "found"), [("a*", True), ("?", True), ("[a]", True), ("[", False), ("]a[", False), ("", False)]
)
def test_a_bracket_is_a_pattern_where_it_is_closed(plain: str, *, found: bool) -> None:
    """Alone it is a name."""
    assert has_wildcard(plain) is found
