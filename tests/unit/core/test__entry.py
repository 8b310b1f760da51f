"""A rule as a policy keeps it: what it may be made of, and that a fault of its counts against the call."""

from typing import Any, cast

import pytest
from tests.unit.core.stubs import StubRule

from permitry.core._entry import Entry, compiled
from permitry.core._known import Unresolved
from permitry.core._version import Version
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, RuleFailure, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.origin import Origin
from permitry.core.rule import Question, Unsure
from permitry.errors import RuleError

QUESTION = Question(ToolCall("t"), AuthContext())
BLOCKS: dict[str, Any] = {"effect": Verdict.BLOCK, "priority_number": 150}


def _entries(*rules: object) -> list[Entry]:
    return list(compiled(cast("Any", rules), Version(lambda: "v1")))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"id": ""}, "has no id"),
        ({"id": 5}, "has no id"),
        ({"effect": "allow"}, "must be a Verdict"),
        ({"priority_number": 250.0}, "whole number"),
        ({"priority_number": True}, "whole number"),
        ({"priority_number": -1}, "does not fit"),
        ({"priority_number": 400}, "does not fit"),
        ({"priority_number": 199}, "does not fit"),
        ({"effect": Verdict.BLOCK}, "does not fit"),
    ],
)
def test_an_unusable_rule_is_refused(changes: dict[str, Any], why: str) -> None:
    """By a policy as a whole: it never goes on without one of its rules."""
    with pytest.raises(RuleError, match=why):
        _entries(StubRule(**{"id": "r", **changes}))


@pytest.mark.parametrize("thing", [None, "rule", object()])
def test_what_is_not_a_rule_is_refused(thing: object) -> None:
    """It has neither an effect nor the two methods of a permission."""
    with pytest.raises(RuleError, match="is not a rule"):
        _entries(thing)


def test_two_rules_with_one_id_are_refused() -> None:
    """A record could not say which of them decided."""
    with pytest.raises(RuleError, match="two rules have the id `r`"):
        _entries(StubRule("r"), StubRule("r"))


def test_a_two_method_rule_is_only_ever_a_permission() -> None:
    """Whatever its priority; a second one of its class has an id of its own."""

    class ReadsOnly:
        def priority(self) -> int:
            return 0

        def should_allow_without_confirmation(self, tool: str, _: AuthContext) -> bool:
            return tool == "t"

    first, second = _entries(ReadsOnly(), ReadsOnly())
    assert (first.rule_id, second.rule_id) == ("reads-only", "reads-only-2")
    assert (first.phase, first.effect) == (Phase.PERMISSION, Verdict.ALLOW)
    assert first.decides(QUESTION, []) is not None


@pytest.mark.parametrize("answer", [ValueError("broken"), None, 1, "yes"])
def test_a_rule_that_fails_counts_against_the_call(answer: object) -> None:
    """A restriction counts as matched and a permission does not, and the record has the failure."""
    restriction, permission = _entries(StubRule("no", answer, **BLOCKS), StubRule("yes", answer))
    failures: list[RuleFailure] = []
    assert restriction.decides(QUESTION, failures) is restriction.decision
    assert permission.decides(QUESTION, failures) is None
    assert [failure.rule_id for failure in failures] == ["no", "yes"]


def test_a_rule_that_is_unsure_never_blocks_and_never_allows() -> None:
    """A restriction asks, with the reason of its doubt; a permission does not match."""
    doubt = Unsure("the text is open", "delete files")
    restriction, permission = _entries(StubRule("no", doubt, **BLOCKS), StubRule("yes", doubt))
    found = restriction.decides(QUESTION, [])
    assert found is not None
    assert found.verdict is Verdict.CONFIRM
    assert found.reason == "the text is open, so rules such as `no` could apply: it may delete files"
    assert permission.decides(QUESTION, []) is None


def test_a_doubt_cannot_steer_the_terminal_of_a_host() -> None:
    """It may name what a model wrote."""
    (restriction,) = _entries(StubRule("no", Unsure("`\x1b[2J`\n", "\u202e"), **BLOCKS))
    found = restriction.decides(QUESTION, [])
    assert found is not None
    assert found.reason == r"`\u001b[2J`\n, so rules such as `no` could apply: it may \u202e"


@pytest.mark.parametrize("covered", [ValueError("broken"), None, 5])
def test_a_permission_that_cannot_say_what_it_covers_covers_nothing(covered: object) -> None:
    """And the record has the failure."""
    (entry,) = _entries(StubRule("yes", answer=False, covered=covered))
    failures: list[RuleFailure] = []
    assert entry.covered(QUESTION, failures) == frozenset()
    assert len(failures) == 1


def test_a_restriction_covers_nothing() -> None:
    """Only permissions share the actions of a call."""
    (entry,) = _entries(StubRule("no", covered=frozenset({0}), **BLOCKS))
    assert not entry.can_cover
    assert entry.covered(QUESTION, []) == frozenset()


def test_a_rule_that_does_not_say_it_is_pure_is_not_asked_by_stand_ins() -> None:
    """Its answer could depend on anything, so that nothing may be concluded from it."""
    (entry,) = _entries(made := StubRule("r"))
    with pytest.raises(Unresolved):
        entry.for_trial.answer(QUESTION, [])
    assert made.asked == 0


def test_a_decision_is_made_once() -> None:
    """Equal decisions are one object, also for two policies of one version."""
    version = Version(lambda: "v1")
    (first,), (second,) = (list(compiled(cast("Any", [StubRule("r")]), version)) for _ in range(2))
    assert first.decision is second.decision
    assert first.decision.policy_version == "v1"


@pytest.mark.parametrize(
    ("answer", "covered", "outcome"),
    [
        (True, frozenset(), RuleOutcome.MATCHED),
        (False, frozenset(), RuleOutcome.NOT_MATCHED),
        (False, frozenset({0}), RuleOutcome.COVERED),
        (Unsure("open"), frozenset(), RuleOutcome.UNSURE),
        (ValueError("broken"), frozenset(), RuleOutcome.FAILED),
        (False, ValueError("broken"), RuleOutcome.FAILED),
    ],
)
def test_a_trace_says_how_the_rule_answered(answer: object, covered: object, outcome: RuleOutcome) -> None:
    """And what it failed at, or is in doubt about."""
    (entry,) = _entries(StubRule("r", answer, covered))
    trace = entry.trace(QUESTION, "r")
    assert (trace.outcome, trace.deciding) == (outcome, True)
    assert (trace.error is not None) is (outcome in (RuleOutcome.UNSURE, RuleOutcome.FAILED))


def test_an_exception_of_a_rule_that_matched_is_explained() -> None:
    """As far as the rule can say it; a failure there costs nothing."""

    class _Excepting(StubRule):
        def not_lifted(self, _: Question) -> str:
            return "`b` (a)" if self.id == "says" else str(1 // 0)

    entries = _entries(*(_Excepting(name, **BLOCKS) for name in ("says", "fails")), StubRule("no", **BLOCKS))
    assert [entry.trace(QUESTION, None).unless for entry in entries] == ["`b` (a)", None, None]


def test_where_values_came_from_is_a_courtesy() -> None:
    """A rule that fails at it costs nothing."""

    class _Knowing(StubRule):
        def origins(self, _: Question) -> list[Origin]:
            return [Origin("to", "5" if self.id == "says" else str(1 // 0))]

    entries = _entries(*(_Knowing(name) for name in ("says", "fails")), StubRule("no"))
    assert [entry.trace(QUESTION, None).origins for entry in entries] == [(Origin("to", "5"),), (), ()]
