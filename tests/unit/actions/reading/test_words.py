"""Words as the strict reader reads them: quotes and escapes, and a refusal for whatever bash would expand."""

import pytest
from tests.tables import for_each

from permitry.actions.reading.words import UnreadableError, WordReader, has_wildcard
from permitry.core.action import Word


@for_each(
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


@for_each(
    "text",
    ["${!A}", "$((A))", "`id", "{a,b}", "~root", "a=~", "'a", '"a', "a\\", "a\\\nb", "a(b", "{a}>f", "$'\\x61'"],
)
def test_what_is_not_read_is_refused(text: str) -> None:
    """Or what has no end, or becomes something else by what follows."""
    with pytest.raises(UnreadableError):
        WordReader(text).word()


def test_the_variable_of_a_loop_has_its_value() -> None:
    """Without quotes only if the value is one plain word."""
    reader = WordReader('$A-"$B"')
    reader.values = {"A": Word("x.py"), "B": Word("a *")}
    assert reader.word() == Word("x.py-a *")
    for value in ("", "a b", "*"):
        reader = WordReader("$A")
        reader.values = {"A": Word(value)}
        assert reader.word() == Word("$A", is_open=True)


def test_a_file_that_fits_a_pattern_is_one_word_in_quotes() -> None:
    """With other text it is a word of unknown text."""
    pattern = Word("*.py", is_glob=True)
    for text, word in [
        ('"$A"', pattern),
        ("$A", Word("$A", is_open=True)),
        ('"$A.x"', Word("$A.x", is_open=True, is_single=True)),
    ]:
        reader = WordReader(text)
        reader.values = {"A": pattern}
        assert reader.word() == word


@for_each(("text", "is_single"))
def test_an_expansion_makes_an_open_word(text: str, is_single: bool) -> None:  # noqa: FBT001 -- a parameter
    """One word only in quotes, and where it is a number."""
    word = WordReader(text).word()
    assert (word.is_open, word.is_single) == (True, is_single)


@for_each(("text", "word"), [("a$", "a$"), ('"$/"', "$/"), ("$'a\\tb'", "a\tb"), ("$=", "$=")])
def test_a_dollar_may_be_a_character(text: str, word: str) -> None:
    """Before what begins no expansion; or it quotes."""
    assert WordReader(text).word() == Word(word)


@for_each(
    ("text", "words"),
    [
        ("{a,b}", ["a", "b"]), ("x{a,b}y{c,d}", ["xayc", "xayd", "xbyc", "xbyd"]), ("a{,.bak}", ["a", "a.bak"]),
        ("{3..1}", ["3", "2", "1"]), ("f{-1..1}", ["f-1", "f0", "f1"]), ("{a}", ["{a}"]),
    ],
)  # fmt: skip
def test_braces_make_several_words(text: str, words: list[str]) -> None:
    """As bash writes them out."""
    assert [word.text for word in WordReader(text).words()] == words


@for_each(
    ("text", "word"),
    [
        ("$HOME", Word("~", is_home=True)), ('"$HOME/a b"', Word("~/a b", is_home=True)),
        ('"${HOME}"/x', Word("~/x", is_home=True)), ("$HOME/$A", Word("~/$A", is_home=True, is_open=True)),
        ("x$HOME", Word("x$HOME", is_open=True)), ('"$HOME"x', Word("$HOMEx", is_open=True, is_single=True)),
    ],
)  # fmt: skip
def test_the_home_folder_has_a_variable(text: str, word: Word) -> None:
    """It is that folder only at the beginning of a word, and whole."""
    reader = WordReader(text)
    reader.values = {"HOME": Word("~", is_home=True)}
    assert reader.word() == word


def test_a_tilde_in_an_assignment_is_refused() -> None:
    """Bash looks for one behind each colon."""
    with pytest.raises(UnreadableError):
        WordReader("~/a").word(in_assignment=True)


def test_an_error_says_where_reading_stopped() -> None:
    """Counted from one, for a human."""
    with pytest.raises(UnreadableError) as raised:
        WordReader("ab$[C").word()
    assert (raised.value.offset, str(raised.value)) == (2, "an expansion at character 3")


@for_each(("plain", "found"), [("a*", True), ("?", True), ("[a]", True), ("[", False), ("]a[", False), ("", False)])
def test_a_bracket_is_a_pattern_where_it_is_closed(plain: str, *, found: bool) -> None:
    """Alone it is a name."""
    assert has_wildcard(plain) is found
