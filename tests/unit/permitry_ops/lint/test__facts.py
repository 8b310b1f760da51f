"""What rules find each other by: no need that is missing among the facts where one rule has to do with another."""

import itertools

from tests.unit.permitry_ops.lint.test__index import COMMANDS, HOSTS, PATHS, TOOLS

from permitry.actions.hosts import read_host
from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.host import HostPattern
from permitry.conditions.mode import ModeCondition
from permitry.conditions.path import PathPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.pattern import Pattern
from permitry.core.well_known import WELL_KNOWN
from permitry_ops.lint._facts import (
    command_facts,
    command_needs,
    name_facts,
    needs_within,
    scope_facts,
    tool_needs,
    word_facts,
    word_needs,
)
from permitry_ops.lint._index import Key, Need
from permitry_ops.lint._scopes import command_samples, contains, covers_pattern, matches, may_match

PLAIN = (
    (),
    (ModeCondition(("plan",)),),
    (ModeCondition(("plan", "review")),),
    (argument_condition("n", 1),),
    (argument_condition("n", 1), argument_condition("m", {"regex": "a+"})),
)
SETS = (
    *(Conditions(commands=(ArgvPattern(text),)) for text in COMMANDS),
    *(Conditions(commands=(ArgvPattern("ls *"), ArgvPattern(text))) for text in COMMANDS),
    *(Conditions(paths=(PathPattern(text),)) for text in PATHS),
    *(Conditions(hosts=(HostPattern.parse(text, read_host),)) for text in HOSTS),
    *(Conditions(plain) for plain in PLAIN),
)
SCOPES = (
    *(Scope((), each) for each in SETS),
    *(Scope((ToolSelector(text),)) for text in TOOLS),
    *(Scope((ToolSelector("xy"), ToolSelector(text))) for text in TOOLS),
)


def _is_found(needs: "itertools.chain[Need] | list[Need]", facts: set[Key]) -> bool:
    """Return whether each need is met, so that it does not matter under which a rule is filed."""
    return all(not facts.isdisjoint((*need.keys, *need.wide)) for need in needs)


def test_whatever_contains_a_scope_is_found_by_it() -> None:
    """Of all pairs, none that would be a finding is missed."""
    facts = {inner: set(scope_facts(inner)) for inner in SCOPES}
    pairs = [(a, b) for a, b in itertools.product(SCOPES, repeat=2) if contains(a, b, WELL_KNOWN)]
    assert len(pairs) > 3 * len(SCOPES)
    assert [(a, b) for a, b in pairs if not _is_found(list(needs_within(a)), facts[b])] == []


def test_whatever_covers_a_command_is_found_by_it() -> None:
    """Surely, by what it begins with; perhaps, by its program and a word."""
    for wide, narrow in itertools.product(map(ArgvPattern, COMMANDS), repeat=2):
        scope, samples = Scope((), Conditions(commands=(wide,))), command_samples(narrow)
        if any(matches(wide, words) for words in samples):
            assert _is_found(list(command_needs(scope)), set(command_facts(samples))), (wide, narrow)
        for words in (each for each in samples if may_match(wide, each)):
            assert _is_found(list(word_needs(scope)), set(word_facts(words))), (wide, narrow)


def test_a_glob_that_covers_a_name_is_found_by_it() -> None:
    """Also one that covers another glob."""
    for wide, narrow in itertools.product(TOOLS, repeat=2):
        if not Pattern(wide).is_exact and covers_pattern(Pattern(wide), narrow):
            assert _is_found(list(tool_needs(Scope((ToolSelector(wide),)))), set(name_facts(narrow))), (wide, narrow)
