"""The words of a command pattern: what each matches, and a reason for each that cannot be read."""

import pytest
from tests.tables import for_each

from permitry.conditions._argv import ANY, ONE, Token, list_names_in, read_tokens
from permitry.core.action import Word
from permitry.core.words import Found
from permitry.errors import RuleError


def _token(text: str) -> Token:
    return read_tokens(f"p {text} x")[1]


@for_each(("text", "matched", "other"))
def test_a_word_matches_whole_words(text: str, matched: list[str], other: list[str]) -> None:
    """By its wildcards and alternatives; what is quoted stands for itself."""
    token = _token(text)
    assert all(map(token.matches, matched))
    assert not any(map(token.matches, other))


@for_each(
    ("text", "why"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a" * 1_001, "1000 are the most"),
        ("a " * 33, "32 are the most"),
        ("p ** a ** b ** c ** d", "more than 3 times"),
        ("** a", "the program comes first"),
        ("a | b", "joins or redirects"),
        ("a\nb", "a line break joins"),
        ("a $X", "begins an expansion"),
        ("a **b", "as a word of its own"),
        ("a {b", "is not closed"),
        ("a {b c}", "is not closed"),
        ("a {b}", "give no choice"),
        ("a {b,{c,d}}", "braces inside braces"),
        ("a b}", "was not opened"),
        ("a {b,}", "an alternative is empty"),
        ("a 'b", "the quote at character 3"),
        ("a \\", "nothing follows"),
        ("p " + "{a,b}" * 7, "more than 64 alternatives"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused(text: str, why: str) -> None:
    """Each with how to mend it; nothing of it is passed over."""
    with pytest.raises(RuleError, match=why):
        read_tokens(text)


@for_each(
    ("text", "tokens"),
    [
        ("*", (ONE, ANY)),
        ("ls *", ("ls", ANY)),
        ("ls ** *", ("ls", ANY)),
        ("ls * x", ("ls", ONE, "x")),
    ],
)
def test_a_wildcard_at_the_end_is_for_any_words(text: str, tokens: tuple[object, ...]) -> None:
    """Also for none; elsewhere it is one word."""
    assert tuple(each if each in (ANY, ONE) else each.patterns[0] for each in read_tokens(text)) == tokens


@for_each(
    ("text", "flags"),
    [
        ("-rf", ({"r", "f"},)),
        ("-exec", ()),
        ("-rr", ()),
        ("--rf", ()),
        ("rf", ()),
        ("-r*", ()),
        ("{-r,-f}", ({"r"}, {"f"})),
    ],
)
def test_a_short_cluster_has_flags(text: str, flags: tuple[set[str], ...]) -> None:
    """A long word behind one hyphen is an option of its own."""
    assert list(map(set, _token(text).clusters)) == list(flags)


@for_each(
    ("text", "word", "may_be"),
    [
        ("push", Word("p*", is_glob=True), True),
        ("push", Word("*h", is_glob=True), True),
        ("push", Word("q*", is_glob=True), False),
        ("push", Word("*x", is_glob=True), False),
        ("push", Word("[p]x", is_glob=True), True),
        ("push", Word("p*"), False),
        ("/home/u/x", Word("~/x", is_home=True), True),
        ("/home/u/y", Word("~/x", is_home=True), False),
    ],
)
def test_a_word_with_wildcards_may_become_another(text: str, word: Word, *, may_be: bool) -> None:
    """Where its ends leave room for that."""
    assert _token(text).may_match(word) is may_be


@for_each(("text", "may_be"), [("-f$(nproc)", True), ("$(nproc)", False)])
def test_a_number_is_an_option_where_it_is_behind_one(text: str, *, may_be: bool) -> None:
    """Alone, it begins with no hyphen."""
    word = Word(text, is_open=True, is_single=True, found=Found((Word("[0-9]*", is_glob=True),), is_top=True))
    assert _token("-f*").may_become(word) is may_be


@for_each("name", ["rm", "/bin/rm", "./rm", "RM", "r*"])
def test_a_program_has_many_names(name: str) -> None:
    """With its folder or without, and in any case."""
    (program, *_) = read_tokens("/usr/bin/rm x")
    assert program.may_name(Word(name, is_glob="*" in name))
    assert not program.may_name(Word("rmdir"))


def test_a_token_without_wildcards_lists_its_words() -> None:
    """Any other has more than are written out."""
    assert _token("{a,b}").texts == ("a", "b")
    assert (_token("a*").texts, ANY.texts) == (None, None)
    assert [_token(text).may_be_option for text in ("-a", "{b,-a}", "a")] == [True, True, False]


def test_the_lists_of_a_pattern_are_its_unquoted_words() -> None:
    """In their order; a list may be any word of it."""
    assert list_names_in("git push @remotes @branches '@me' a@b") == ["remotes", "branches"]
    assert list_names_in("git push") == ()
    (_, branch) = read_tokens("push @b", (("b", ("main", "r/*")),))
    assert branch.patterns == ("main", "r/*")


@for_each("value", ["a b", "**", ""])
def test_a_value_of_a_list_is_one_word(value: str) -> None:
    """Several would be another pattern, and none would be any words."""
    with pytest.raises(RuleError, match="of the list `@b` is not one word"):
        read_tokens("push @b", (("b", (value,)),))
