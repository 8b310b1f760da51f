"""The options of a pattern, in whatever place a command has them."""

import shlex

import attrs
from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.core.action import Word


def _words(command: str) -> list[Word]:
    """Return words; `…` marks one that is open and in quotes, `*` a glob."""
    return [
        Word(text, is_glob="*" in text, is_open="…" in text, is_single="…" in text)
        for text in shlex.split(command.replace("…", "$x…"))
    ]


@for_each(("pattern", "command"))
def test_an_option_is_met_in_every_place(pattern: str, command: str) -> None:
    """Also behind operands, and with its value joined to it or not, in whichever way the pattern has it."""
    assert ArgvPattern(pattern).match_words(_words(command)) >= Match.ALIKE
    assert ArgvPattern(pattern).match_words(_words(command)) is not Match.NO


@for_each(("pattern", "command"))
def test_what_may_be_an_option_is_a_guess(pattern: str, command: str) -> None:
    """A restriction asks where it is not certain that the command has the option, or the value."""
    assert ArgvPattern(pattern).match_words(_words(command)) < Match.ALIKE
    assert ArgvPattern(pattern).match_words(_words(command)) is not Match.NO


@for_each(("pattern", "command"))
def test_what_is_no_option_is_left_alone(pattern: str, command: str) -> None:
    """Behind `--` there are operands, and an option has its whole name."""
    assert ArgvPattern(pattern).match_words(_words(command)) is Match.NO


@for_each(("pattern", "command"))
def test_a_long_option_may_be_cut_short(pattern: str, command: str) -> None:
    """Where no other option begins like it, as git and GNU's programs take it; nothing is certain of that."""
    assert ArgvPattern(pattern).match_words(_words(command)) is not Match.NO
    assert ArgvPattern(pattern).match_words(_words(command)) < Match.ALIKE


def test_a_permission_takes_options_as_they_are_written() -> None:
    """What is one thing for a restriction is not for a permission."""
    assert ArgvPattern("git push --force *").match_words(_words("git push origin --force")) is not Match.YES
    joined = _words("npm publish --access=public")
    assert ArgvPattern("npm publish --access public").match_words(joined) is not Match.YES


def test_the_value_of_an_option_is_no_option() -> None:
    """Where it is known that an open word is such a value."""
    value = attrs.evolve(_words("…")[0], is_value=True)
    assert ArgvPattern("git commit --amend *").match_words([*_words("git commit x -m"), value]) is Match.NO


def test_what_may_be_the_value_of_an_option_is_not_needed_as_a_word() -> None:
    """The index does not look for `prod`, as `--context=prod` is another word."""
    assert [fact.value for fact in ArgvPattern("kubectl --context prod delete *").needs] == ["delete"]
