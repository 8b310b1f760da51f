"""Law 8: a rule that can match, cover or fail is found by the facts it declares that it needs.

This is the whole contract between rules and the index over facts: what is declared may leave out only rules that answer
False, and cover nothing. Rules and calls are put together from the same small words, so that they nearly meet.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.actions.extract import ReadActions
from permitry.conditions._patterns import CommandPatterns, HostPatterns, PathPatterns
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.config.conditions import host_pattern
from permitry.core.action import Access
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.finder import Finder
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.errors import UnevaluableError
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule

# Rules ------------------------------------------------------------------------------------------------------------

_patterns = st.sampled_from(
    (
        "git push *", "git *", "git {push,pull} *", "GIT push", "/usr/bin/git push *", "g* push", "rm *", "rm -rf *",
        "rm * a", "cat src/a", "*", "curl **", "./run *", "npm run *", "sh -c *", "git -C * push",
        "'g?t' push", "{git,rm} a *", "s* **", "s?c **", "./s* *", "/usr/* push *", "stra?e", "'STRASSE' *",
    )
).map(ArgvPattern)  # fmt: skip
_paths = st.sampled_from(
    ("src/**", "src/a", "SRC/a", "**/a", "**", "*.py", "~/.ssh/**", "/etc/passwd", "/etc/**", "src/*/x", "/w/src/**",
     "a", "/", "~/**", "é/x", "src/[a]", "[s]rc/a")
).map(PathPattern)  # fmt: skip
_hosts = st.sampled_from(("*", "private", "example.com", "*.example.com", "http://a.example.com:8080")).map(
    host_pattern
)
_tables: tuple[tuple[str, Any], ...] = (
    ("n", 1), ("n", True), ("n", "1"), ("n", {"in": ["1", "a"]}), ("n", {"le": 3}), ("a.b", "x"), ("n", {"ne": 1}),
    ("n", {"in": [1, 2.0]}), ("n", {"eq": ["a"]}), ("n", {"ge": 1, "eq": 1}), ("command", "git push"),
)  # fmt: skip
_plain = st.one_of(
    st.sampled_from(_tables).map(lambda pair: argument_condition(*pair)), st.just(ModeCondition(("default",)))
)


def _few(patterns: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.one_of(st.just(()), st.just(()), st.lists(patterns, min_size=1, max_size=2).map(tuple))


_conditions = st.builds(
    Conditions,
    plain=_few(_plain),
    commands=_few(_patterns),
    paths=_few(_paths),
    hosts=_few(_hosts),
    accesses=st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(Access), max_size=1)),
)
_scopes = st.builds(Scope, st.just(()), _conditions, st.one_of(st.none(), st.none(), _conditions))
_effects = st.sampled_from(((Verdict.BLOCK, 150), (Verdict.CONFIRM, 160), (Verdict.ALLOW, 250), (Verdict.ALLOW, 50)))
_rules: st.SearchStrategy[Callable[[str], ConfiguredRule]] = st.builds(
    lambda effect, scope: lambda name: ConfiguredRule(name, effect[0], effect[1], scope), _effects, _scopes
)

# Questions --------------------------------------------------------------------------------------------------------

_words = st.sampled_from(
    (
        "git", "push", "pull", "GIT", "/usr/bin/git", "./git", "~/bin/git", "g?t", "$X", "rm", "-rf", "-r", "-f", "a",
        "src/a", "src", "src/*", "SRC/a", "../w/src/a", "~/.ssh/id", "~", "/", "/etc/passwd", "e\u0301/x", "cat",
        "curl", "https://a.example.com/x", "http://a.example.com:8080", "http://127.0.0.1", "sudo", "timeout", "5",
        "find", "-exec", "{}", "\\;", "xargs", "npm", "run", "sh", "-c", "'git push'", '"git push"', "$(git push)",
        "{git,rm}", "-C", ".", "> src/a", "< src/a", ">> ~/.ssh/x", "&&", "|", ";", "FOO=1", "`rm a`",
        "<(cat src/a)", "src/{a,b}/x", "'*'", "s/c", "./s/c/a", "'s\\c'", "stra\u00dfe",
    )
)  # fmt: skip
_commands = st.lists(_words, min_size=1, max_size=7).map(" ".join)
_values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from((1, 1.0, 2, True, False, "1", "a", None, "x")),
    st.just(["a"]),
    st.just({"b": "x"}),
)
_arguments: st.SearchStrategy[Mapping[str, Any]] = st.fixed_dictionaries(
    {}, optional={"n": _values, "a": _values, "command": _commands}
)
_calls = st.one_of(
    st.builds(lambda command, rest: ToolCall("bash", {**rest, "command": command}), _commands, _arguments),
    st.builds(lambda path, rest: ToolCall("read_file", {**rest, "path": path}), _words, _arguments),
    st.builds(lambda path, rest: ToolCall("grep", {**rest, "path": path}), _words, _arguments),
    st.builds(lambda url, rest: ToolCall("web_fetch", {**rest, "url": url}), _words, _arguments),
    st.builds(ToolCall, st.sampled_from(("Bash", "functions.bash", "other")), _arguments),
)
_contexts = st.sampled_from((AuthContext(workspace="/w"), AuthContext(), AuthContext(workspace="/w/src", mode="night")))
_READER = ReadActions("/home/u")


def _request(call: ToolCall, context: AuthContext) -> Request:
    return AuthorizationPolicy(reader=_READER).request(call, context)


def _with_all_patterns() -> AbstractContextManager[object]:
    """Return what makes rules ask each of their patterns."""
    stack = ExitStack()
    for kind in (CommandPatterns, PathPatterns, HostPatterns):
        stack.enter_context(patch.object(kind, "narrow", lambda patterns, _: patterns))
        stack.enter_context(patch.object(kind, "may_match", lambda *_: True))
        stack.enter_context(patch.object(kind, "near", lambda patterns, _: patterns.patterns))
    return stack


def _could_matter(rule: ConfiguredRule, request: Request) -> bool:
    """Return whether a rule matches, covers something, or fails."""
    try:
        with _with_all_patterns():
            return rule.matches(request) is not False or (rule.effect is Verdict.ALLOW and bool(rule.covers(request)))
    except UnevaluableError:
        return True


@settings(max_examples=20 * settings().max_examples)
@given(make=_rules, call=_calls, context=_contexts)
def test_a_rule_that_can_matter_is_found(
    make: Callable[[str], ConfiguredRule], call: ToolCall, context: AuthContext
) -> None:
    """By one fact of each of the sets it declares."""
    rule, request = make("r"), _request(call, context)
    if _could_matter(rule, request):
        facts = request.facts
        for needed in rule.needs():
            assert Finder([[needed]]).find(facts) == {0}, (rule, needed)


@settings(max_examples=2 * settings().max_examples)
@given(
    makes=st.lists(_rules, min_size=1, max_size=12), calls=st.lists(_calls, min_size=1, max_size=5), context=_contexts
)
def test_what_is_found_decides_as_all_rules_do(
    makes: list[Callable[[str], ConfiguredRule]], calls: list[ToolCall], context: AuthContext
) -> None:
    """With every part of the decision, and from the first rule on that is looked for."""
    rules = [make(f"r{number}") for number, make in enumerate(makes)]
    policy = AuthorizationPolicy((*BUILT_IN_RULES, *rules), reader=_READER)
    with _with_all_patterns():
        explained = [policy.explain(call, context).decision for call in calls]
    assert [policy.decide(call, context) for call in calls] == explained


def test_the_law_is_not_empty() -> None:
    """A command of another program finds no rule, one that is not known finds each, and those known to be meant."""
    rules = [
        ConfiguredRule(f"r{n}", Verdict.BLOCK, 150, Scope(when=Conditions(commands=(ArgvPattern(f"p{n} a *"),))))
        for n in range(9)
    ]
    finder = Finder([rule.needs() for rule in rules])
    found = [
        finder.find(_request(ToolCall("bash", {"command": command}), AuthContext()).facts)
        for command in ("p3 -x a b", "p3 b", "q a", "P3 a", "$X a", "p3 $X")
    ]
    everything = set(range(9))
    assert found == [{3}, set(), set(), {3}, everything, everything]
    unread = _request(ToolCall("bash", {"command": "p3 a; echo ${X@P}"}), AuthContext()).facts
    assert unread.of_actions.is_unread
    assert finder.find(unread, is_of_known=True) == {3}


@for_each(
    ("pattern", "command"),
    [("s* **", "s/c"), ("s?c", "s/c"), ("./s* x", "./s/c x"), ("s*", r"'s\c'"), ("stra?e", "stra\u00dfe")],
)
def test_a_wildcard_of_a_program_may_stand_for_a_slash_and_for_a_letter_that_is_folded_to_two(
    pattern: str, command: str
) -> None:
    """So such a rule is found, and its pattern asked, where other rules and patterns are about other programs."""
    conditions = Conditions(commands=(ArgvPattern(pattern), ArgvPattern("rm")))
    rule = ConfiguredRule("r", Verdict.BLOCK, 150, Scope(when=conditions))
    others = (ConfiguredRule(f"r{n}", Verdict.BLOCK, 150, Scope(when=_about(f"p{n}"))) for n in range(9))
    policy = AuthorizationPolicy((rule, *others), reader=_READER)
    assert policy.decide(ToolCall("bash", {"command": command}), AuthContext()).verdict is Verdict.BLOCK


def _about(pattern: str) -> Conditions:
    return Conditions(commands=(ArgvPattern(pattern),))
