"""The words of one command come out as bash would pass them."""

from tests.tables import for_each

from permitry.actions.reading.simple_command import read_simple_command


@for_each(("text", "words"))
def test_words_are_unquoted(text: str, words: list[str]) -> None:
    """Quotes, escapes, codes and braces are taken off."""
    assert [word.text for word in read_simple_command(text).words] == words


def test_patterns_and_homes_are_marked() -> None:
    """Only where they are not quoted."""
    words = read_simple_command("~/a* '~/a*'").words
    assert [(word.is_glob, word.is_home) for word in words] == [(True, True), (False, False)]


def test_too_many_braces_make_a_word_open() -> None:
    """No one expands a bomb."""
    (word,) = read_simple_command("{a,b}" * 10).words
    assert word.is_open


def test_redirections_are_taken_out() -> None:
    """A duplicated descriptor is not a file."""
    simple = read_simple_command("<in ls 2>&1 >>out &>all {fd}>x -a")
    assert ([word.text for word in simple.words], simple.reads) == (["ls", "-a"], ("in",))
    assert simple.writes == ("out", "all", "x")


def test_assignments_stand_before_the_words() -> None:
    """Behind the program they are arguments."""
    simple = read_simple_command("A=1 b+=2 env C=3")
    assert simple.assignments == (("A", "1"), ("b", "2"))
    assert [word.text for word in simple.words] == ["env", "C=3"]


@for_each("text", ["[", "[[", "]", "a[", "]a[", "'['a]", "[a']'", "\\[a]", "a]b"])
def test_a_bracket_that_nothing_closes_is_a_letter(text: str) -> None:
    """`[` and `[[` are names of commands."""
    assert not read_simple_command(text).words[0].is_glob


@for_each("text", ["[a]", "[]", "[[]", "a[b]c", "[!a]", "['a']", "[$x]", "[a]'b'"])
def test_a_closed_bracket_is_a_wildcard(text: str) -> None:
    """Whatever is in it."""
    assert read_simple_command(text).words[0].is_glob
