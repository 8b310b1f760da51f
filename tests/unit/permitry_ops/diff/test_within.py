"""Command patterns within another one."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

from tests.tables import for_each

from permitry.conditions.command import ArgvPattern
from permitry.conditions.match import Match
from permitry.conditions.path import PathPattern
from permitry.conditions.tools import ToolSelector
from permitry.config.catalogue import list_shipped
from permitry.config.load import load_rules
from permitry.core.action import Run
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.names import readings
from permitry_ops.diff.within import is_within, selects_all

DISGUISES = Path(__file__).parents[3] / "disguises.txt"
ORDINARY = Path(__file__).parents[3] / "golden" / "ordinary_commands.jsonl"


@for_each(
    ("narrower", "wider"),
    [
        ("git push", "git push *"),
        ("git push origin *", "git push *"),
        ("git checkout HEAD .", "git {checkout,restore} ** {.,..} **"),
        ("git checkout .", "git ** . **"),
        ("k3d cluster delete *", "{kind,k3d} ** delete *"),
        ("a b c d", "a ** c **"),
        ("a ** c", "a **"),
    ],
)
def test_a_pattern_is_within_one_that_can_be_laid_over_it(narrower: str, wider: str) -> None:
    """Each word is one of the wider pattern, or is where any number of words may be; not the other way round."""
    assert is_within(ArgvPattern(narrower), ArgvPattern(wider))
    assert not is_within(ArgvPattern(wider), ArgvPattern(narrower))


@for_each(
    ("narrower", "wider"),
    [
        ("git pull", "git push *"),
        ("git push *", "git push"),
        ("{git,hg} push", "git push *"),
        ("git * push", "git push *"),
        ("git push -f *", "git push *"),
        ("git push", "git push ** -f **"),
        ("A=1 git push", "git push *"),
        ("git push", "* push"),
    ],
)
def test_of_others_nothing_is_said(narrower: str, wider: str) -> None:
    """Nor of those with options, which may be anywhere in a command."""
    assert not is_within(ArgvPattern(narrower), ArgvPattern(wider))


def test_only_patterns_of_commands_are_compared() -> None:
    """Those of paths are matched otherwise."""
    assert not is_within(PathPattern("/a"), PathPattern("/**"))
    assert not is_within(ArgvPattern("a"), PathPattern("/**"))


def shipped() -> Iterator[tuple[ArgvPattern, ArgvPattern]]:
    """Yield the pairs of shipped patterns of which one is within the other."""
    rules = load_rules(list_shipped()).rules
    every = {pattern for rule in rules for each in (rule.scope.when, *rule.scope.unless) for pattern in each.commands}
    for narrower, wider in itertools.permutations(every, 2):
        if is_within(narrower, wider):
            yield narrower, wider


def test_what_is_within_matches_no_command_that_the_other_does_not() -> None:
    """Whatever is run in them, by the wildest spellings that are known."""
    policy = load_rules([]).policy()
    texts = DISGUISES.read_text(encoding="utf-8").replace("␤", "\n").splitlines()
    texts += [json.loads(line)["command"] for line in ORDINARY.read_text(encoding="utf-8").splitlines()]
    pairs = list(shipped())
    assert len(pairs) > 20
    # Every eighth, as each is compared with all of the pairs.
    for text in texts[::8]:
        request = policy.request(ToolCall("run_shell", {"command": text}), AuthContext(), None)
        for run in (each for each in request.actions.possible if isinstance(each, Run)):
            for narrower, wider in pairs:
                found, other = (
                    each.match_words(run.words, run.bare, run.sets, Match.OPEN, Match.ALIKE)
                    for each in (narrower, wider)
                )
                assert other >= min(found, Match.ALIKE), text


@for_each(
    ("wider", "narrower", "of_permission"),
    [
        ("*", "@shell", True),
        ("send_*", "send_mail", True),
        ("send*", "send_*", True),
        ("*pay*", "mcp:*/pay_*", True),
        ("mcp:bank/*", "mcp:bank/pay", True),
        ("send_?", "send_?", True),
        ("Send-Mail", "send_mail", False),
    ],
)
def test_a_selector_selects_all_that_a_narrower_one_does(wider: str, narrower: str, *, of_permission: bool) -> None:
    """A permission compares names as they are written."""
    both = ToolSelector(wider), ToolSelector(narrower)
    assert selects_all(*both, is_permission=False)
    assert selects_all(*both, is_permission=True) is of_permission


@for_each(
    ("wider", "narrower"),
    [
        ("send_*", "send*"),
        ("send_?", "send_*"),
        ("@shell", "run_shell"),
        ("*_a", "a_*"),
        ("mcp:a/*", "mcp:b/x"),
        ("pay", "*"),
    ],
)
def test_what_is_no_part_of_a_selector_is_not_taken_for_one(wider: str, narrower: str) -> None:
    """Nor is anything that only a trait of a tool could tell."""
    assert not any(
        selects_all(ToolSelector(wider), ToolSelector(narrower), is_permission=each) for each in (True, False)
    )


def test_what_a_narrower_selector_selects_the_wider_one_does() -> None:
    """Of all selectors of the shipped sets, and names written in several ways."""
    words = dict.fromkeys(
        selector
        for rule in load_rules(list_shipped()).rules
        for selector in rule.scope.selectors
        if selector.pattern is not None
    )
    names = [each.text.replace("*", star).replace("?", "q") for each in words for star in ("", "x", "_x")]
    names += [name.removeprefix("mcp:").replace("/", "__").upper() for name in names]
    calls = [(name, frozenset({name}) | readings(name)) for name in dict.fromkeys(names) if name]
    met = {
        each: {name for name, read in calls if each.pattern is not None and each.pattern.may_mean(read)}
        for each in words
    }
    pairs = [both for both in itertools.permutations(words, 2) if selects_all(*both, is_permission=False)]
    assert len(pairs) > 10
    assert [both for both in pairs if not met[both[1]] <= met[both[0]]] == []
