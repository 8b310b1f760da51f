"""The finding `other-types-pass`."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.config.load import Origin, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

TOOL = 'tools = ["send_mail"]'
FOUND = [("other-types-pass", "a")]
MANY = "unless.args.files = { exists = true, type = 'array', length = { ge = 1 } }"
SOUND = "unless.args.files = { exists = true, length = { ge = 1 } }"


def test_an_exception_for_one_type_lets_the_others_through(linted: Linted, rule: Rule) -> None:
    """A bare string is no array, so it is no exception."""
    (found,) = linted(rule("a", "allow", TOOL, MANY))
    assert (found.kind, found.level, found.source) == ("other-types-pass", "warning", "rules.toml:2")
    told = "is about values of the type `array` alone, so those of other types are let through"
    assert found.reason == f"`unless.args.files` {told}"
    assert found.suggestion.startswith("take `type` out")


@pytest.mark.parametrize(
    ("line", "files", "verdict"),
    [
        (MANY, "a.txt", Verdict.ALLOW), (MANY, ("a.txt",), Verdict.CONFIRM), (MANY, (), Verdict.ALLOW),
        (SOUND, "a.txt", Verdict.CONFIRM), (SOUND, ("a.txt",), Verdict.CONFIRM), (SOUND, (), Verdict.ALLOW),
        (SOUND, 5, Verdict.CONFIRM), (SOUND, None, Verdict.CONFIRM), (SOUND, {"a": "b"}, Verdict.CONFIRM),
        (SOUND, True, Verdict.CONFIRM),
    ],
)  # fmt: skip
def test_the_suggestion_is_sound(
    write: Callable[[str, str], Origin], rule: Rule, line: str, files: object, verdict: Verdict
) -> None:
    """Without `type`, what the other operators cannot judge takes the permission back."""
    policy = load_rules([write("rules.toml", "schema = 1\n" + rule("a", "allow", TOOL, line))]).policy()
    assert policy.decide(ToolCall("send_mail", {"files": files}), AuthContext()).verdict is verdict
    assert policy.decide(ToolCall("send_mail", {}), AuthContext()).verdict is Verdict.ALLOW


@for_each(("effect", "line"))
def test_what_a_type_lets_through(kinds: Kinds, rule: Rule, effect: str, line: str) -> None:
    """In an exception of a permission, and in a restriction; also of the elements of a list."""
    assert kinds(rule("a", effect, TOOL, line)) == FOUND


@for_each(
    ("effect", "lines"),
    [
        ("allow", (SOUND,)),
        ("allow", ("when.args.to = { type = 'string', prefix = 'ann' }",)),
        ("allow", ("when.args.files = { type = 'array' }", MANY)),
        ("allow", ("when.args.files = { length = { ge = 0 } }", MANY)),
        ("block", ("when.args.to = { type = 'array' }",)),
        ("block", ("when.args.to = { exists = true, type = 'null' }",)),
        ("block", ("unless.args.to = { type = 'string', prefix = 'ann' }",)),
        ("confirm", ("unless.args.to = { type = 'string' }",)),
        ("allow", ("unless.args.files = { exists = true }",)),
    ],
)
def test_what_lets_nothing_through(kinds: Kinds, rule: Rule, effect: str, lines: tuple[str, ...]) -> None:
    """Where `when` judges the same argument, other types are judged there; what lifts a restriction is sure."""
    assert kinds(rule("a", effect, TOOL, *lines)) == []


def test_an_existing_argument_judges_no_type(kinds: Kinds, rule: Rule) -> None:
    """That it is there says nothing of what it is."""
    assert kinds(rule("a", "allow", TOOL, "when.args.files = { exists = true }", MANY)) == FOUND


@for_each(
    "other",
    ["when.args.text = { type = 'array', length = { gt = 20 } }", "unless.args.text = { type = 'string' }"],
)
def test_restrictions_that_share_the_types(kinds: Kinds, rule: Rule, other: str) -> None:
    """A length is another thing of a text than of a list, so it takes two rules."""
    long = rule("a", "confirm", TOOL, "when.args.text = { type = 'string', length = { gt = 2000 } }")
    assert kinds(long + rule("b", "confirm", TOOL, other)) == []
    assert kinds(long + rule("b", "confirm", TOOL, other).replace("args.text", "args.title"))[:1] == FOUND
