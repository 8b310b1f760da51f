"""The version of a policy: computed late, and the same decision is the same object."""

import pytest

from permitry.core import decision_cache
from permitry.core.decision import Decision, Phase, RuleFailure, Verdict
from permitry.core.decision_cache import DecisionCache


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
    monkeypatch.setattr(decision_cache, "_MOST", 0)
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
