"""Whether one scope surely contains another: never said where a call could be in the inner one alone."""

import attrs
from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.action import Access
from permitry.core.pattern import Pattern
from permitry.core.well_known import WELL_KNOWN
from permitry_ops.lint._scopes import (
    ONE,
    command_samples,
    contains,
    covers_pattern,
    matches,
    selects_any,
    selects_tool,
)

READ = frozenset({Access.READ})


def _tools(*texts: str) -> tuple[ToolSelector, ...]:
    return tuple(map(ToolSelector, texts))


def _command(*texts: str) -> Conditions:
    return Conditions(commands=tuple(map(ArgvPattern, texts)))


def _path(*texts: str, accesses: frozenset[Access] = frozenset()) -> Conditions:
    return Conditions(paths=tuple(map(PathPattern, texts)), accesses=accesses)


def _host(host: str, port: int | None = None) -> Conditions:
    return Conditions(hosts=(HostPattern(host, None, host, port),))


@for_each(
    ("outer", "inner", "is_within"),
    [
        (Conditions(), _command("ls"), True),
        (_command("git *"), _command("git push *"), True),
        (_command("git push *"), _command("git *"), False),
        (_command("git {a,b}"), _command("git a"), True),
        (_command("git a"), _command("git {a,b}"), False),
        (_path("src/**"), _path("src/a"), True),
        (_path("src/*"), _path("src/**"), False),
        (_path("src/**"), _path("src/[ab]"), False),
        (_path("a"), _path("a", accesses=READ), True),
        (_path("a", accesses=READ), _path("a"), False),
        (attrs.evolve(_command("a *"), looks=True), _command("a b"), False),
        (_command("a *"), attrs.evolve(_command("a b"), looks=True), True),
        (attrs.evolve(_command("a *"), looks=True), attrs.evolve(_command("a b"), looks=True), True),
        (_path("a"), _command("cat a"), False),
        (_host("*.b.example"), _host("a.b.example"), True),
        (_host("*.b.example"), _host("b.example"), False),
        (_host("a.example"), _host("a.example", 80), False),
        (Conditions((ModeCondition(("a", "b")),)), Conditions((ModeCondition(("a",)),)), True),
        (Conditions((ModeCondition(("a",)),)), Conditions((ModeCondition(("a", "b")),)), False),
        (Conditions((ModeCondition(("a",)),)), Conditions(), False),
    ],
)
def test_conditions_hold_within_others(outer: Conditions, inner: Conditions, *, is_within: bool) -> None:
    """Where every call that meets the one surely meets the other."""
    assert contains(Scope(when=outer), Scope(when=inner), {}) is is_within


def test_an_exception_of_the_outer_scope_must_be_that_of_the_inner_one() -> None:
    """One that the inner scope has alone only makes it smaller."""
    one, other = _path("a"), _path("b")
    assert contains(Scope(), Scope(unless=one), {})
    assert contains(Scope(unless=one), Scope(unless=one), {})
    assert not contains(Scope(unless=one), Scope(), {})
    assert not contains(Scope(unless=one), Scope(unless=other), {})


@for_each(
    ("outer", "inner", "is_within"),
    [
        ((), ("a",), True),
        (("*",), (), True),
        (("a",), (), False),
        (("a*",), ("ab", "a?"), True),
        (("ab",), ("a?",), False),
        (("@reads",), ("read_file",), True),
        (("@reads",), ("unknown_tool",), False),
        (("@reads",), ("@reads",), True),
        (("@writes",), ("@reads",), False),
    ],
)
def test_tools_are_among_others(outer: tuple[str, ...], inner: tuple[str, ...], *, is_within: bool) -> None:
    """By name, by pattern, or by what is known about them."""
    assert contains(Scope(_tools(*outer)), Scope(_tools(*inner)), WELL_KNOWN) is is_within


def test_every_tool_is_selected_by_nothing_or_by_all() -> None:
    """Each tool reads or writes."""
    assert all(selects_any(_tools(*texts)) for texts in ((), ("a", "*"), ("@reads", "@writes")))
    assert not any(selects_any(_tools(*texts)) for texts in (("a",), ("@reads",)))


def test_of_a_shell_it_depends_on_the_command() -> None:
    """So it is selected only as a shell, or by its name."""
    selected = [selects_tool(ToolSelector(text), "bash", WELL_KNOWN) for text in ("@shell", "bash", "@writes")]
    assert selected == [True, True, False]
    assert not selects_tool(ToolSelector("@shell"), "bash", {})


@for_each(("outer", "inner", "covers"))
def test_a_glob_covers_another(outer: str, inner: str, *, covers: bool) -> None:
    """In every length that its wildcards may have."""
    assert covers_pattern(Pattern(outer), inner) is covers


def test_samples_fit_their_pattern() -> None:
    """With each alternative, and with no, one and more further words."""
    pattern = ArgvPattern("git {push,pull} *")
    samples = command_samples(pattern)
    assert all(matches(pattern, words) for words in samples)
    assert {words[1].text for words in samples} == {"push", "pull"}
    assert {len(words) for words in samples} == {2, 3, 4}
    assert any(word.text == ONE for words in samples for word in words)
