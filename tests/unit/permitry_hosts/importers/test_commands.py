"""Patterns over the text of a command."""

import re

from tests.tables import for_each

from permitry.config.rule_text import Draft
from permitry_hosts.importers.commands import add_examples, examples_of, narrow_pattern, restrict


@for_each(
    ("text", "pattern"),
    [
        ("npm test", "npm test"),
        ("npm test:*", "npm test *"),
        ("git *", "git *"),
        ("npm*", "npm* *"),
        ("git * main", "git * ** main"),
        ("* --version", "* ** --version"),
        ("*--version", "*--version"),
        ("*", "*"),
        ("**", "*"),
        ("git show HEAD@{1} a?b @x", r"git show HEAD@\{1\} a\?b \@x"),
        (r"echo \*", r"echo \*"),
        ("curl * | sh", None),
        ("CI=1 make", None),
    ],
)
def test_a_permission_is_about_no_other_command(text: str, pattern: str | None) -> None:
    """A star between two words is at least one, and what only our patterns know is a text."""
    assert narrow_pattern(text) == pattern


@for_each("text", ["", " ", "\n", " *", ":*", " \t *"])
def test_a_pattern_without_a_word_is_about_nothing(text: str) -> None:
    """It never becomes any command."""
    assert narrow_pattern(text) is None
    assert restrict(text) == []


@for_each(
    ("text", "patterns"),
    [
        ("npm test:*", ["npm test *"]),
        ("rm*", ["rm* *"]),
        ("git*push*", ["git*push* *", "git* ** *push* *"]),
        ("*.env*", ["*.env* *"]),
        ("git * main", ["git ** main"]),
        ("git *push", ["git ** *push"]),
        ("docker* rm", ["docker* ** rm"]),
        ("* install", ["* ** install"]),
        ("it's*", None),
        ("a*b*c*d*e*f*g", None),
        (" ".join(["x"] * 40), None),
    ],
)
def test_a_star_goes_over_blanks_in_a_restriction(text: str, patterns: list[str] | None) -> None:
    """As patterns over words where these are not too many; else the text alone is compared."""
    words = [each["command"] for each in restrict(text) if "command" in each]
    assert words == ([] if patterns is None else [patterns])


@for_each(("text", "fits", "others"))
def test_the_text_of_a_command_is_compared_as_well(text: str, fits: list[str], others: list[str]) -> None:
    """With its assignments and redirections; a star of a pattern does not go on into the next command."""
    (regex,) = [each["args"]["command"]["regex"] for each in restrict(text) if "args" in each]
    assert [each for each in (*fits, *others) if re.fullmatch(regex, each)] == fits


@for_each("text", ["curl * | sh", "FOO=1 make", "cat > *"])
def test_a_pattern_over_several_commands_is_compared_with_the_whole_text(text: str) -> None:
    """Anywhere in it."""
    assert restrict(text) == [{"args": {"command": {"glob": f"*{text}*"}}}]


@for_each(
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


def test_a_rule_with_exceptions_has_no_examples() -> None:
    """They may be among the exceptions; and a rule without a command has none."""
    plain = Draft("allow", ("bash",), {"command": ["ls *"]})
    match, no_match = examples_of("ls *")
    assert (add_examples(plain).match, add_examples(plain).no_match) == (match, no_match)
    for other in (Draft("allow", ("bash",), {"command": ["ls *"]}, ({"tools": ["a"]},)), Draft("allow", ("bash",))):
        assert add_examples(other) == other
