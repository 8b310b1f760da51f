"""The rule `present-plan`."""

from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec
from permitry.rules.present_plan import PresentPlanRule


@for_each("context", [AuthContext(), AuthContext(is_plan_mode=True), AuthContext(yolo_mode=True)])
def test_a_plan_may_be_presented_in_every_mode(context: AuthContext) -> None:
    """The mode makes no difference, nor does a spec."""
    assert PresentPlanRule().matches(Request(ToolCall("present_plan"), context))
    assert PresentPlanRule().matches(Request(ToolCall("present_plan"), context, ToolSpec("present_plan")))


@for_each(
    "call",
    [
        ToolCall("present_plans"),
        ToolCall("Present_plan"),
        ToolCall("exit_plan_mode"),
        ToolCall("mcp:docs/present_plan"),
        ToolCall("present_plan", server="docs"),
        ToolCall("present_plan", kind=PayloadKind.CUSTOM),
    ],
)
def test_no_other_tool_passes_for_it(call: ToolCall) -> None:
    """Another name, a server's tool and another payload are not the agent's own tool."""
    assert not PresentPlanRule().matches(Request(call, AuthContext(is_plan_mode=True)))


def test_it_is_an_override_of_priority_0() -> None:
    """Its place in the order."""
    rule = PresentPlanRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("present-plan", 0, Verdict.ALLOW, "built-in")


def test_it_has_no_near_miss() -> None:
    """A name that is another name missed nothing."""
    assert PresentPlanRule().near_miss(Request(ToolCall("bash"), AuthContext())) is None
