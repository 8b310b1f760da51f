"""The rule `plan-mode`."""

from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.rules.plan_mode import PlanModeBlockingRule

PLAN = AuthContext(is_plan_mode=True)
READS = ToolSpec("lookup", traits=ToolTraits(read_only=True))


@for_each(
    "call",
    [
        ToolCall("write_file"),
        ToolCall("bash"),
        ToolCall("never_heard_of"),
        ToolCall("mcp:docs/read_file"),
        ToolCall("read_file", kind=PayloadKind.CUSTOM),
    ],
)
def test_it_matches_what_is_not_known_to_read(call: ToolCall) -> None:
    """An unknown tool, a server's tool and another payload count as writing."""
    assert PlanModeBlockingRule().matches(Request(call, PLAN))


@for_each("asked", [Request(ToolCall("read_file"), PLAN), Request(ToolCall("lookup"), PLAN, READS)])
def test_it_lets_reading_pass(asked: Request) -> None:
    """A tool known to read, by name or by traits, is not its concern."""
    assert not PlanModeBlockingRule().matches(asked)


@for_each("context", [AuthContext(), AuthContext(yolo_mode=True), AuthContext(mode="review")])
def test_it_sleeps_outside_plan_mode(context: AuthContext) -> None:
    """In any other mode nothing matches."""
    assert not PlanModeBlockingRule().matches(Request(ToolCall("bash"), context))


def test_the_word_plan_is_plan_mode() -> None:
    """A host that only names its mode is in plan mode all the same."""
    assert PlanModeBlockingRule().matches(Request(ToolCall("bash"), AuthContext(mode="plan")))


def test_it_blocks_at_priority_100() -> None:
    """Its place in the order, and that it says what the model may do instead."""
    rule = PlanModeBlockingRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("plan-mode", 100, Verdict.BLOCK, "built-in")
    assert rule.message is not None
    assert "read-only tools" in rule.message


def test_it_permits_nothing() -> None:
    """Asked the seed's way, a restriction never allows: not in plan mode, and not outside it."""
    rule = PlanModeBlockingRule()
    assert rule.should_allow_without_confirmation("read_file", PLAN) is False
    assert rule.should_allow_without_confirmation("bash", AuthContext()) is False


def test_its_near_miss_is_the_mode() -> None:
    """A writing call missed it for the mode; a reading one missed nothing."""
    rule = PlanModeBlockingRule()
    assert rule.near_miss(Request(ToolCall("bash"), AuthContext())) == "is_plan_mode = false"
    assert rule.near_miss(Request(ToolCall("read_file"), AuthContext())) is None


SHELL = ToolSpec("run", traits=ToolTraits(read_only=False), roles={"command": ArgumentRole.COMMAND})
