"""An explanation: every rule's part in a decision, and what each action would get alone."""

from collections.abc import Callable

from tests.unit.core.stubs import PlainRule, always, never

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Phase, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request
from permitry.core.spec import ToolSpec

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK


class SeedRule:
    """A rule of two methods."""

    def priority(self) -> int:
        """Return its place."""
        return 50

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return True."""
        return bool(tool_name and context)


def _noting(seen: list[Request]) -> Callable[[Request], bool]:
    def note(request: Request) -> bool:
        seen.append(request)
        return True

    return note


def test_an_explanation_tells_every_rule_in_order() -> None:
    """Phases first, priorities within, two-method rules among the permissions."""
    rules: list[AnyRule] = [
        PlainRule("p", ALLOW, 250),
        SeedRule(),
        PlainRule("r2", BLOCK, 160, never),
        PlainRule("r1", CONFIRM, 150),
        PlainRule("o", ALLOW, 0, never),
    ]
    explanation = AuthorizationPolicy(rules).explain(ToolCall("bash"), AuthContext())
    assert [(rule.rule_id, rule.outcome.value, rule.deciding) for rule in explanation.rules] == [
        ("o", "not matched", False),
        ("r1", "matched", True),
        ("r2", "not matched", False),
        ("seed-rule", "matched", False),
        ("p", "matched", False),
    ]


def test_a_trace_tells_what_the_rule_is() -> None:
    """Phase, priority, effect, source and reason are the rule's."""
    rule = PlainRule("r", CONFIRM, 150, reason="why", source="f:1")
    trace = AuthorizationPolicy([rule]).explain(ToolCall("bash"), AuthContext()).rules[0]
    assert (trace.phase, trace.priority, trace.effect) == (Phase.RESTRICTION, 150, CONFIRM)
    assert (trace.source, trace.reason, trace.near_miss, trace.error) == ("f:1", "why", None, None)


def test_an_explanation_asks_what_the_decision_asked() -> None:
    """Call, context and spec reach every rule once more, as they were."""
    seen: list[Request] = []
    asked = (ToolCall("tool", {"a": 1}), AuthContext(agent="x"), ToolSpec("tool"))
    AuthorizationPolicy([PlainRule("r", ALLOW, 250, _noting(seen))]).explain(*asked)
    assert seen == [Request(*asked), Request(*asked)]


def test_a_near_miss_is_asked_of_rules_that_did_not_match() -> None:
    """A rule that matched missed nothing."""
    rules = [
        PlainRule(name, ALLOW, 250, test, near=lambda _: "mode = plan")
        for name, test in (("no", never), ("yes", always))
    ]
    explanation = AuthorizationPolicy(rules).explain(ToolCall("bash"), AuthContext())
    assert [(rule.rule_id, rule.near_miss) for rule in explanation.rules] == [("no", "mode = plan"), ("yes", None)]


def test_a_near_miss_that_fails_costs_nothing() -> None:
    """A courtesy that raises is left out."""

    def fail(_: Request) -> str:
        raise RuntimeError("no")

    trace = (
        AuthorizationPolicy([PlainRule("r", BLOCK, 150, never, near=fail)])
        .explain(ToolCall("a"), AuthContext())
        .rules[0]
    )
    assert (trace.outcome, trace.near_miss, trace.error) == (RuleOutcome.NOT_MATCHED, None, None)
