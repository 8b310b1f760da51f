"""A rule as a policy keeps it: what it may be made of, and that a fault of its counts against the call."""

from typing import Any, cast

import attrs
from tests.tables import for_each
from tests.unit.core.stubs import StubRule

from permitry.core.call import ToolCall
from permitry.core.compile import compile_rules
from permitry.core.compiled_rule import CompiledRule
from permitry.core.context import AuthContext
from permitry.core.decision import DecisionCache, RuleFailure, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.facts import Fact, Kind
from permitry.core.origin import Origin
from permitry.core.rule import Request, Unsure

REQUEST = Request(ToolCall("t"), AuthContext())
BLOCKS: dict[str, Any] = {"effect": Verdict.BLOCK, "priority_number": 150}


def _entries(*rules: object) -> list[CompiledRule]:
    return list(compile_rules(cast("Any", rules), DecisionCache(lambda: "v1")))


@for_each("answer", [ValueError("broken"), None, 1, "yes"])
def test_a_rule_that_fails_counts_against_the_call(answer: object) -> None:
    """A restriction counts as matched and a permission does not, and the record has the failure."""
    restriction, permission = _entries(StubRule("no", answer, **BLOCKS), StubRule("yes", answer))
    failures: list[RuleFailure] = []
    assert restriction.decision_for(restriction.ask(REQUEST, failures)) is restriction.decision
    assert permission.decision_for(permission.ask(REQUEST, failures)) is None
    assert [failure.rule_id for failure in failures] == ["no", "yes"]


def test_a_rule_that_is_unsure_never_blocks_and_never_allows() -> None:
    """A restriction asks, with the reason of its doubt; a permission does not match."""
    doubt = Unsure("the text is open", "delete files")
    restriction, permission = _entries(StubRule("no", doubt, **BLOCKS), StubRule("yes", doubt))
    found = restriction.decision_for(restriction.ask(REQUEST, []))
    assert found is not None
    assert found.verdict is Verdict.CONFIRM
    assert found.reason == "possibly why, for example (the text is open)"
    assert permission.decision_for(permission.ask(REQUEST, [])) is None


def test_a_doubt_cannot_steer_the_terminal_of_a_host() -> None:
    """It may name what a model wrote."""
    (restriction,) = _entries(StubRule("no", Unsure("`\x1b[2J`\n", "\u202e"), reason="", **BLOCKS))
    found = restriction.decision_for(restriction.ask(REQUEST, []))
    assert found is not None
    assert found.reason == r"may \u202e, for example (`\u001b[2J`\n)"


@for_each(
    ("rule", "reason"),
    [
        ({"reason": "deletes it"}, "possibly deletes it (the text is open)"),
        ({"reason": "Leave it.", "message": "Leave it."}, "may delete files (the text is open)"),
        (
            {"reason": "", "answer": Unsure("the text is open", likeness=1)},
            "may do what a rule is about (the text is open)",
        ),
    ],
)
def test_what_is_only_possible_is_worded_so(rule: dict[str, Any], reason: str) -> None:
    """By the reason that the rule has for the operator, or else by its conditions; then comes what is not certain."""
    given: dict[str, Any] = {"answer": Unsure("the text is open", "delete files", likeness=1)} | rule
    (restriction,) = _entries(StubRule("no", **given, **BLOCKS))
    found = restriction.decision_for(restriction.ask(REQUEST, []))
    assert found is not None
    assert found.reason == reason
    assert found.message is not None
    assert "what it would do is not certain (the text is open)" in found.message


def test_what_programs_do_together_is_said_by_the_reason_and_how_they_do_it() -> None:
    """The message is that of the rule, too; without a reason it is only possible."""
    joined = Unsure("`a` and `b` together", "run `b`", likeness=4, by="x\n (`a | b`)")
    restriction, silent = _entries(
        StubRule("no", joined, reason="runs it", message="Leave it.", **BLOCKS),
        StubRule("silent", joined, reason="", **BLOCKS),
    )
    found, other = (each.decision_for(each.ask(REQUEST, [])) for each in (restriction, silent))
    assert found is not None
    assert (found.verdict, found.reason, found.message) == (Verdict.CONFIRM, r"runs it: x\n (`a | b`)", "Leave it.")
    assert other is not None
    assert other.reason == "may run `b` (`a` and `b` together)"


@for_each("covered", [ValueError("broken"), None, 5])
def test_a_permission_that_cannot_say_what_it_covers_covers_nothing(covered: object) -> None:
    """And the record has the failure."""
    (entry,) = _entries(StubRule("yes", answer=False, covered=covered))
    failures: list[RuleFailure] = []
    assert entry.cover(REQUEST, failures) == frozenset()
    assert len(failures) == 1


def test_a_restriction_covers_nothing() -> None:
    """Only permissions share the actions of a call."""
    (entry,) = _entries(StubRule("no", covered=frozenset({0}), **BLOCKS))
    assert not entry.can_cover
    assert entry.cover(REQUEST, []) == frozenset()


def test_a_decision_is_made_once() -> None:
    """Equal decisions are one object, also for two policies of one version."""
    version = DecisionCache(lambda: "v1")
    (first,), (second,) = (list(compile_rules(cast("Any", [StubRule("r")]), version)) for _ in range(2))
    assert first.decision is second.decision
    assert first.decision.policy_version == "v1"


@for_each(
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
    trace = entry.trace(REQUEST, "r")
    assert (trace.outcome, trace.deciding) == (outcome, True)
    assert (trace.error is not None) is (outcome in (RuleOutcome.UNSURE, RuleOutcome.FAILED))


def test_an_exception_of_a_rule_that_matched_is_explained() -> None:
    """As far as the rule can say it; a failure there costs nothing."""

    class _Excepting(StubRule):
        def not_lifted(self, _: Request) -> str:
            return "`b` (a)" if self.id == "says" else str(1 // 0)

    entries = _entries(*(_Excepting(name, **BLOCKS) for name in ("says", "fails")), StubRule("no", **BLOCKS))
    assert [entry.trace(REQUEST, None).unless for entry in entries] == ["`b` (a)", None, None]


def test_where_values_came_from_is_a_courtesy() -> None:
    """A rule that fails at it costs nothing."""

    class _Knowing(StubRule):
        def origins(self, _: Request) -> list[Origin]:
            return [Origin("to", "5" if self.id == "says" else str(1 // 0))]

    entries = _entries(*(_Knowing(name) for name in ("says", "fails")), StubRule("no"))
    assert [entry.trace(REQUEST, None).origins for entry in entries] == [(Origin("to", "5"),), (), ()]


def test_a_rule_that_fails_to_say_how_narrow_it_is_is_as_wide_as_can_be() -> None:
    """Neither making a policy nor a decision fails for it."""

    class _Broken(StubRule):
        def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 -- whatever is there
            return 1 // 0 if name == "specificity" else super().__getattribute__(name)

    (entry,) = _entries(_Broken("r", **BLOCKS))
    assert entry.specificity == (0, 0)


def test_facts_that_cannot_be_looked_up_are_none() -> None:
    """The name of a tool is a text: a rule that needs another thing is asked about every call."""

    class _Odd(StubRule):
        __slots__ = ()

        def needs(self) -> list[frozenset[Fact]]:
            return [frozenset({Fact(Kind.TOOL, False, 5)})]

    entries = _entries(attrs.define(slots=True)(_Odd)("r"))
    assert entries[0].needs() == ()
