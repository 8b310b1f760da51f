"""Patterns over argv; that what holds may hold too is a law in `tests/property/test_conditions.py`."""

import pickle
import shlex

import attrs
import pytest
from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.core.action import Word
from permitry.errors import RuleError


def words(command: str) -> list[Word]:
    """Return words; `…` marks one that is open, `*` in it a glob, a tilde before it the home folder."""
    return [
        Word(text, is_glob="*" in text or "[" in text, is_home=text.startswith("~"), is_open="…" in text)
        for text in shlex.split(command)
    ]


@for_each(("pattern", "command"))
def test_a_pattern_holds(pattern: str, command: str) -> None:
    """A permission covers what its pattern describes, and a restriction sees it as well."""
    made = [Word("[") if word.text == "[" else word for word in words(command)]
    assert ArgvPattern(pattern).match_words(made) is Match.YES
    assert ArgvPattern(pattern).match_words(made) is not Match.NO


@for_each(("pattern", "command"))
def test_a_pattern_does_not_hold(pattern: str, command: str) -> None:
    """A permission covers nothing that is not sure."""
    assert ArgvPattern(pattern).match_words(words(command)) is not Match.YES


@for_each(("pattern", "command"))
def test_a_pattern_may_hold(pattern: str, command: str) -> None:
    """A restriction sees through folders, options between, split flags and what the shell may make of a word."""
    assert ArgvPattern(pattern).match_words(words(command)) is not Match.NO


@for_each(("pattern", "command"))
def test_a_pattern_must_hold(pattern: str, command: str) -> None:
    """However the words are spelled, and whatever an expansion adds where any words may stand."""
    assert ArgvPattern(pattern).match_words(words(command)) >= Match.ALIKE


@for_each(("pattern", "command"))
def test_a_pattern_holds_by_a_guess(pattern: str, command: str) -> None:
    """What a word may become is not what it is, and letters of another option may be no flags."""
    assert ArgvPattern(pattern).match_words(words(command)) < Match.ALIKE
    assert ArgvPattern(pattern).match_words(words(command)) is not Match.NO


def test_a_wildcard_with_a_dot_becomes_no_flags() -> None:
    """`*` may become `-rf`, and `*.log` may not."""
    pattern = ArgvPattern("rm -r *")
    for text in ("*", "-*f", "?[a-z]"):
        assert pattern.match_words([Word("rm"), Word(text, is_glob=True)]) is not Match.NO
    for text in ("*.log", "?.c", "a*"):
        assert pattern.match_words([Word("rm"), Word(text, is_glob=True)]) is Match.NO


def test_a_wildcard_may_become_a_flag_with_a_value() -> None:
    """`-Ix.log` is a file for `*.log`, and a program to run for `tar`."""
    rest = [Word("*.log", is_glob=True), Word("x")]
    assert ArgvPattern("tar -I *").match_words([Word("tar"), *rest]) is not Match.NO
    assert ArgvPattern("{rm,tar} -I *").match_words([Word("/bin/tar"), *rest]) is not Match.NO


def test_a_pattern_is_compared_without_the_options_of_the_program() -> None:
    """The value of such an option is not a sub-command; a pattern with options is about them."""
    written, bare = words("git -C push status"), words("git status")
    assert ArgvPattern("git push *").match_words(written, bare) < Match.ALIKE
    assert ArgvPattern("git status *").match_words(written, bare) >= Match.ALIKE
    assert ArgvPattern("git -C * status").match_words(written, bare) >= Match.ALIKE
    assert ArgvPattern("git -C *").match_words(written, bare) >= Match.ALIKE
    assert ArgvPattern("git -C *").match_words(written) is Match.YES


@for_each("option")
def test_a_long_option_is_no_cluster(option: str) -> None:
    """Only where its letters are few may it be flags of one letter; and it is never certain."""
    pattern, made = ArgvPattern("networksetup -set *"), words(f"networksetup {option} x")
    assert pattern.match_words(made) < Match.ALIKE
    assert (pattern.match_words(made) is not Match.NO) is (option == "-setter")


@for_each(("pattern", "count"), [("*", 0), ("rm *", 1), ("git push ** -f *", 3), ("a * b", 2)])
def test_a_pattern_counts_what_is_written_out(pattern: str, count: int) -> None:
    """The more of it there is, the narrower it is."""
    assert ArgvPattern(pattern).literals == count


@for_each(("pattern", "command"))
def test_a_pattern_cannot_hold(pattern: str, command: str) -> None:
    """A restriction leaves alone what cannot be what it describes."""
    assert ArgvPattern(pattern).match_words(words(command)) is Match.NO


@for_each(
    ("pattern", "argument", "fits"),
    [("'*'", "*", True), ("\\*", "*", True), ("\\*", "x", False), ("'?'", "x", False), ("a'*'*", "a*b", True)],
)
def test_quoted_wildcards_are_none(*, pattern: str, argument: str, fits: bool) -> None:
    """Quotes and backslashes take the meaning of a wildcard away."""
    match = ArgvPattern(f"echo {pattern} end").match_words([Word("echo"), Word(argument), Word("end")])
    assert (match is Match.YES) is fits


def test_no_words_are_no_command() -> None:
    """Nothing is run by no words, and nothing is said of it."""
    assert ArgvPattern("*").match_words([]) is not Match.YES
    assert ArgvPattern("*").match_words([]) is Match.NO


@for_each(
    ("pattern", "told"),
    [
        ("", "write `*` for any command"),
        (" \t", "write `*` for any command"),
        ("** x", "the program comes first"),
        ("git log | head", "`git log | head`: `|` joins or redirects commands, and a pattern is for one command"),
        ("a && b", "`&` joins"),
        ("a; b", "`;` joins"),
        ("a > b", "`>` joins"),
        ("a\nb", "a line break joins"),
        ("echo $HOME", "`$` begins an expansion"),
        ("echo 'a", "the quote at character 6 is not closed"),
        ("echo {a,b", "the brace at character 6 is not closed"),
        ("echo {a, b}", "the brace at character 6 is not closed"),
        ("echo a}", "a brace is closed"),
        ("echo {a,{b,c}}", "braces inside braces"),
        ("find . -exec {}", "the braces at character 14 give no choice"),
        ("echo {a}", "give no choice"),
        ("git {,log}", "an alternative is empty"),
        ("echo a\\", "nothing follows the last backslash"),
        ("echo " + "{a,b}" * 7, "more than 64 alternatives"),
        ("x " * 33, "has 33 words; 32 are the most"),
        ("x" * 1_001, "has 1001 characters; 1000 are the most"),
    ],
)
def test_a_mistake_is_named(pattern: str, told: str) -> None:
    """What is not a pattern for one command is refused, with what is wrong and a way out."""
    with pytest.raises(RuleError) as caught:
        ArgvPattern(pattern)
    assert told in str(caught.value)


def test_a_pattern_is_a_value() -> None:
    """A pattern is equal to its copy, which works the same, and is reported as it was written."""
    pattern = ArgvPattern("npm run {test,'*'} *")
    copy: ArgvPattern = pickle.loads(pickle.dumps(pattern))  # noqa: S301 -- our own bytes
    assert (copy, hash(copy), str(copy)) == (pattern, hash(pattern), "npm run {test,'*'} *")
    assert copy.match_words([Word("npm"), Word("run"), Word("*")]) is Match.YES


def test_many_wildcards_cost_little() -> None:
    """A pattern that would keep a backtracking matcher busy for ever ends at once."""
    pattern = ArgvPattern("a " + "** a " * 3 + "b")
    assert pattern.match_words([Word("a")] * 2_000) is not Match.YES
    assert pattern.match_words([Word("a"), *[Word("-a")] * 2_000]) is Match.NO


@for_each("pattern", ["git pu**", "git **sh", "git {pu**,log}", "git {pu*,log}*", "git ***", "g**"])
def test_two_stars_inside_a_word_are_refused(pattern: str) -> None:
    """They stand for any words, and a word cannot hold those."""
    with pytest.raises(RuleError, match="only as a word of its own"):
        ArgvPattern(pattern)


def test_two_stars_that_are_meant_literally_are_text() -> None:
    """Quotes and backslashes take their meaning away."""
    for pattern in ("echo 'a**'", "echo a\\*\\*"):
        assert ArgvPattern(pattern).match_words([Word("echo"), Word("a**")]) is Match.YES
        assert ArgvPattern(pattern).match_words([Word("echo"), Word("ab")]) is Match.NO


def test_a_pattern_has_three_gaps_at_most() -> None:
    """More of them cost more than any command is worth."""
    assert ArgvPattern("a ** b ** c ** d").match_words(words("a x b c y z d")) is Match.YES
    with pytest.raises(RuleError, match=r"more than 3 times `\*\*`"):
        ArgvPattern("a ** b ** c ** d ** e")


def test_any_command_is_written_with_a_star_alone() -> None:
    """Blanks do not count; a space that does not break is a part of the name of a program."""
    assert [ArgvPattern(text).is_any for text in ("*", " *\t", "\u00a0*", "* *")] == [True, True, False, False]


def test_a_list_of_the_pattern_is_known() -> None:
    """A pattern that is made in code has the values of its lists itself."""
    assert ArgvPattern("git push @b", (("b", ("main",)),)).match_words(words("git push main")) is Match.YES
    with pytest.raises(RuleError, match="unknown list `@b`; define"):
        ArgvPattern("git push @b")


@for_each(("pattern", "command", "is_single", "may_hold"))
def test_a_quoted_expansion_is_one_word(pattern: str, command: str, *, is_single: bool, may_hold: bool) -> None:
    """Of unknown text: it may be any word of the pattern, but one alone."""
    found = [attrs.evolve(word, is_single=word.is_open and is_single) for word in words(command)]
    assert (ArgvPattern(pattern).match_words(found) is not Match.NO) is may_hold


@for_each(
    ("pattern", "word", "may_hold"),
    [
        ("git ** push **", Word("p$x", is_open=True, is_single=True), True),
        ("git ** push **", Word("x$x", is_open=True, is_single=True), False),
        ("git ** push **", Word("x$x", is_open=True), True),
        ("git ** *.py **", Word("x$x", is_open=True, is_single=True), True),
        ("git ** '*' **", Word("x$x", is_open=True, is_single=True), False),
        ("git ** '*' **", Word("*$x", is_open=True, is_single=True), True),
        ("git ** -f **", Word("$x", is_open=True, is_single=True), True),
        ("git ** -f **", Word("$x", is_open=True, is_single=True, is_value=True), False),
        ("git ** {-f,wip} **", Word("$x", is_open=True, is_single=True, is_value=True), True),
        ("git ** -f **", Word("-$x", is_open=True, is_single=True), True),
        ("git ** -f **", Word("--a=$x", is_open=True, is_single=True), False),
        ("git ** --a=b **", Word("--a=$x", is_open=True, is_single=True), True),
    ],
)
def test_what_an_expansion_may_become_is_compared(pattern: str, word: Word, *, may_hold: bool) -> None:
    """What is before it in one word stays there, and the value of an option is no option."""
    assert (ArgvPattern(pattern).match_words((*words("git log -n"), word)) is not Match.NO) is may_hold


_SET = ("LD_PRELOAD=./e.so", "PYTHONPATH=src")


@for_each(
    ("pattern", "sets", "must", "may"),
    [
        ("PYTHONPATH=src pytest *", _SET, True, True),
        ("PYTHONPATH=src LD_PRELOAD=* pytest *", _SET, True, True),
        ("PYTHONPATH=* *", _SET, True, True),
        ("pytest *", _SET, True, True),
        ("PYTHONPATH=lib pytest *", _SET, False, False),
        ("PYTHONPATH=src PATH=* pytest *", _SET, False, False),
        ("PYTHONPATH=src pytest *", (), False, False),
        ("PYTHONPATH=src tox *", _SET, False, False),
        ("PYTHONPATH=src pytest *", ("PYTHONPATH=$x",), False, True),
        ("PYTHONPATH=* pytest *", ("PYTHONPATH=$x",), True, True),
        ("PATH=* pytest *", ("PYTHONPATH=$x",), False, False),
    ],
)
def test_a_restriction_finds_the_assignments_of_its_pattern(
    *, pattern: str, sets: tuple[str, ...], must: bool, may: bool
) -> None:
    """Among others and in any order; what a value becomes is a guess."""
    made = words("/usr/bin/pytest -q")
    assert (ArgvPattern(pattern).match_words(made, (), sets) >= Match.ALIKE) is must
    assert (ArgvPattern(pattern).match_words(made, sets=sets) is not Match.NO) is may


def test_a_permission_names_each_assignment_in_order() -> None:
    """Another one, or one less, makes it another command."""
    pattern = ArgvPattern("PYTHONPATH=src pytest *")
    assert pattern.match_words(words("pytest -q"), sets=("PYTHONPATH=src",)) is Match.YES
    for sets in ((), ("PYTHONPATH=lib",), _SET):
        assert pattern.match_words(words("pytest -q"), sets=sets) is not Match.YES
    assert [fact.value for fact in pattern.needs] == ["pytest"]
    assert pattern.programs == frozenset({"pytest"})
