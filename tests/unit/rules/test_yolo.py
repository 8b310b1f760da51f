"""The rule `yolo`."""

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.rules.yolo import YoloModeRule


@for_each("tool", ["bash", "never_heard_of", "mcp:docs/delete"])
@for_each("context", [AuthContext(yolo_mode=True), AuthContext(mode="yolo")])
def test_it_matches_everything_in_yolo_mode(tool: str, context: AuthContext) -> None:
    """By flag or by word, every tool is let through."""
    assert YoloModeRule().matches(Request(ToolCall(tool), context))


@for_each("context", [AuthContext(), AuthContext(mode="YOLO"), AuthContext(is_plan_mode=True)])
def test_it_matches_nothing_otherwise(context: AuthContext) -> None:
    """Another word is another mode."""
    assert not YoloModeRule().matches(Request(ToolCall("bash"), context))


def test_it_is_a_permission_of_priority_300() -> None:
    """Its place in the order: behind every allowlist."""
    rule = YoloModeRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("yolo", 300, Verdict.ALLOW, "built-in")


def test_its_near_miss_is_the_mode() -> None:
    """Only the mode keeps it from matching."""
    assert YoloModeRule().near_miss(Request(ToolCall("bash"), AuthContext())) == "yolo_mode = false"
