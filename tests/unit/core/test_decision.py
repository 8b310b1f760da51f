"""Verdicts and decisions; a version is worked out late, and the same decision is the same object."""

import copy
import itertools
import pickle
from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core import decision
from permitry.core.decision import Decision, DecisionCache, Phase, RuleFailure, Verdict
from permitry.errors import UnevaluableError


def _decision() -> Decision:
    return Decision(Verdict.BLOCK, "r", Phase.RESTRICTION, "why", "what", (RuleFailure("x", "E: no"),), "f:1", "v1")


def test_verdicts_are_ordered_by_strictness() -> None:
    """ALLOW, CONFIRM, BLOCK: every comparison follows that order."""
    order = [Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK]
    assert sorted([Verdict.BLOCK, Verdict.ALLOW, Verdict.CONFIRM]) == order
    assert [verdict.strictness for verdict in order] == [0, 1, 2]
    for (i, a), (j, b) in itertools.product(enumerate(order), repeat=2):
        assert (a < b, a <= b, a > b, a >= b, a == b) == (i < j, i <= j, i > j, i >= j, i == j)


@for_each("other", ["block", 1, None])
def test_a_verdict_compares_with_verdicts_only(other: object) -> None:
    """A verdict and its text are two things."""
    assert other != Verdict.CONFIRM
    with pytest.raises(TypeError):
        max(Verdict.CONFIRM, cast("Verdict", other))


@for_each("verdict", Verdict)
def test_a_decision_is_no_yes_or_no(verdict: Verdict) -> None:
    """Whatever the verdict, a decision in a condition is an error."""
    decision = attrs.evolve(_decision(), verdict=verdict)
    for ask in (bool, lambda d: not d, lambda d: d or None, lambda d: 1 if d else 0):
        with pytest.raises(TypeError, match="not a yes or no"):
            ask(decision)


def test_a_decision_is_a_frozen_value() -> None:
    """A decision cannot be changed, and equal decisions are one key."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        cast("Any", _decision()).verdict = Verdict.ALLOW
    assert len({_decision(), _decision()}) == 1


def test_a_decision_survives_copying_and_pickling() -> None:
    """Copies and pickles are equal."""
    assert copy.deepcopy(_decision()) == _decision()
    assert pickle.loads(pickle.dumps(_decision())) == _decision()  # noqa: S301 -- our own bytes


def test_a_failure_reads_as_rule_and_error() -> None:
    """One line for the record."""
    assert str(RuleFailure("plan-mode", "KeyError: 'x'")) == "plan-mode: KeyError: 'x'"


class _UnprintableError(Exception):
    def __str__(self) -> str:
        raise ValueError


@for_each(
    ("error", "text"),
    [
        (UnevaluableError("no `n`"), "UnevaluableError: no `n`"),
        (_UnprintableError(), "_UnprintableError: a _UnprintableError that cannot be shown"),
    ],
)
def test_a_failure_is_its_exception_as_text(error: Exception, text: str) -> None:
    """One that cannot even be printed is named by its class."""
    assert RuleFailure.of("r", error) == RuleFailure("r", text)


# What is kept -------------------------------------------------------------------------------------------------------


def test_the_version_is_computed_once_and_late() -> None:
    """A policy that decides nothing yet has not been hashed."""
    texts = iter(("v1", "v2"))
    version = DecisionCache(lambda: next(texts))
    assert next(texts) == "v1"
    assert (version.version, version.version) == ("v2", "v2")


def test_where_no_rule_matched_a_human_is_asked() -> None:
    """The default never permits, and is one object."""
    version = DecisionCache(lambda: "v1")
    assert version.default is version.default
    found = version.default
    assert (found.verdict, found.rule_id, found.phase) == (Verdict.CONFIRM, None, Phase.DEFAULT)
    assert found.policy_version == "v1"


def test_a_decision_with_failures_lists_them() -> None:
    """The decision without them is unchanged, and the same of both is one object."""
    version, failures = DecisionCache(lambda: "v1"), [RuleFailure("r", "broken")]
    found = version.with_failures(version.default, failures)
    assert found.errors == tuple(failures)
    assert version.default.errors == ()
    assert version.with_failures(version.default, failures) is found
    keeping = Decision(Verdict.ALLOW, "r", Phase.PERMISSION, "why", keeps=True)
    assert version.with_failures(keeping, failures).keeps


def test_a_decision_made_for_one_call_is_not_kept() -> None:
    """Its reason may hold what a model wrote, and there is no end of that."""
    version = DecisionCache(lambda: "v1")
    doubt = Decision(Verdict.CONFIRM, None, Phase.RESTRICTION, "unsure")
    failures = [RuleFailure("r", "broken")]
    assert version.with_failures(doubt, failures) == version.with_failures(doubt, failures)
    assert version.with_failures(doubt, failures) is not version.with_failures(doubt, failures)


def test_past_the_bound_decisions_are_made_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the same decisions all the same."""
    monkeypatch.setattr(decision, "_MOST", 0)
    version, failures = DecisionCache(lambda: "v1"), [RuleFailure("r", "no `n`")]
    first, second = (version.with_failures(version.default, failures) for _ in range(2))
    assert first == second
    assert first is not second


def test_versions_are_equal_by_their_texts() -> None:
    """And equal to nothing else."""
    assert DecisionCache(lambda: "a") == DecisionCache(lambda: "a")
    assert hash(DecisionCache(lambda: "a")) == hash(DecisionCache(lambda: "a"))
    assert DecisionCache(lambda: "a") != DecisionCache(lambda: "b")
    assert DecisionCache(lambda: "a") != "a"
