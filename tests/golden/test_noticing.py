"""The golden cases and examples match every shipped rule, and notice nearly each mistake that one could have."""

import functools
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from permitry.config.catalogue import list_shipped
from permitry.config.drafts import drafts_of
from permitry.config.load import load_rules
from permitry.golden.case import find_cases
from permitry.rules.configured import ConfiguredRule
from permitry_ops.coverage.coverage import measure
from permitry_ops.coverage.judge import Judge
from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.probes import Probe, read_cases
from permitry_ops.coverage.score import Fate, Outcome, Score
from tests.tables import for_each

CASES = find_cases(Path(__file__).parents[2] / "golden" / "cases")
LEAST = 95.0
# Where patterns are other spellings of one thing, decide only how sure the reason is, or need a terminal or a folder that
# is not everywhere, no call notices that one is lost.
LEAST_OF = {
    "permitry:base": 93.5,
    "permitry:coding-agent": 94.0,
    "permitry:destructive": 94.0,
    "permitry:destructive-code": 90.0,
    "permitry:destructive-downloads": 63.0,
    "permitry:destructive-files": 92.0,
    "permitry:destructive-git": 89.0,
    "permitry:destructive-hosting": 91.0,
    "permitry:guard": 91.0,
    "permitry:hooks": 94.0,
    "permitry:hooks-codex": 94.0,
    "permitry:plan": 93.5,
    "permitry:secrets": 90.0,
}


@functools.cache
def probes() -> Sequence[Probe]:
    """Return the calls of all golden cases that name their rules."""
    return tuple(read_cases(CASES, None))


def file_of(rule: ConfiguredRule) -> str:
    """Return the shipped set whose file a rule is in."""
    return str(rule.source).rpartition(":")[0]


@functools.cache
def judge_file(name: str) -> Sequence[Outcome]:
    """Return what becomes of the mutants of the rules in the file of a set."""
    rules = load_rules([name])
    judge = Judge(rules, probes(), drafts_of(rules).rules)
    own = [rule for rule in rules.rules if file_of(rule) == name]
    return tuple(judge.judge(mutant) for rule in own for mutant in list_mutants(rule))


def list_unmatched(name: str, calls: Sequence[Probe]) -> list[str]:
    """Return the rules of a set that no case and no example matches."""
    rules = load_rules([name])
    found = measure(rules, rules.rules, calls, drafts_of(rules).rules)
    return [rule.rule_id for rule in found.rules if not rule.whole.held]


def score(name: str) -> Score:
    """Return what becomes of the mutants of all rules of a set; each is judged in the set of its own file."""
    files = dict.fromkeys(map(file_of, load_rules([name]).rules))
    return Score(tuple(outcome for file in files for outcome in judge_file(file)))


def show_lost(outcomes: Iterable[Outcome]) -> str:
    """Return a line for each mutant that nothing notices."""
    lost = (each for each in outcomes if each.fate in (Fate.MISSED, Fate.UNPROVEN))
    return "\n".join(f"{each.mutant.rule.id}: {each.mutant.what} ({each.fate.value})" for each in lost)


def check(name: str) -> None:
    """Fail where a set lacks something, with what it lacks."""
    assert list_unmatched(name, probes()) == []
    found = score(name)
    assert found.percent >= LEAST_OF.get(name, LEAST), f"{found.percent:.1f} %\n{show_lost(found.outcomes)}"


def test_a_small_set_is_noticed() -> None:
    """The check of the large run, of one set."""
    check("permitry:money")


def test_what_is_not_noticed_is_named() -> None:
    """Without a case that a rule is left out goes unnoticed, and without examples as well that it matches nothing."""
    rules = load_rules(["permitry:money"])
    judge = Judge(rules, (), {})
    outcomes = [judge.judge(mutant) for mutant in list_mutants(rules.rules[0])]
    assert show_lost(outcomes).splitlines()[0] == "ask-payment: the rule is left out (missed)"
    assert list_unmatched("permitry:money", ()) == []
    assert Score(tuple(outcomes)).percent == 0.0


@pytest.mark.large
@for_each("name", list_shipped())
def test_each_shipped_set_is_noticed(name: str) -> None:
    """A rule that is lost, loosened or emptied does not leave the house."""
    check(name)
