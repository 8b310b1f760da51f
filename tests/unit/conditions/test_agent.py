"""The condition `agent`."""

from tests.tables import for_each

from permitry.conditions.agent import AgentCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.pattern import Pattern
from permitry.core.rule import Request


def _request(agent: str) -> Request:
    return Request(ToolCall("bash"), AuthContext(agent=agent))


@for_each(
    ("patterns", "agent", "holds"),
    [
        (("main",), "main", True),
        (("main",), "Main", False),
        (("x", "sub-*"), "sub-1", True),
        (("sub-?",), "sub-12", False),
        (("sub",), "sub-1", False),
        ((), "main", False),
    ],
)
def test_one_pattern_must_fit_the_whole_name(*, patterns: tuple[str, ...], agent: str, holds: bool) -> None:
    """The name is always known, so a restriction sees no more than a permission."""
    condition = AgentCondition(tuple(map(Pattern, patterns)))
    assert condition.holds(_request(agent)) is holds


def test_a_child_goes_by_its_own_name() -> None:
    """The agents above it are asked in their own contexts."""
    context = AuthContext(agent="main").child("low")
    condition = AgentCondition((Pattern("main"),))
    assert not condition.holds(Request(ToolCall("bash"), context))


def test_its_fact_is_the_agent_that_calls() -> None:
    """A near miss names it."""
    assert AgentCondition((Pattern("x"),)).fact(_request("main")) == "agent = main"
