"""The rule `ignore-list`."""

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.rules.ignore_list import ToolIgnoreListRule

CONTEXT = AuthContext(tool_ignore_list=("bash", "mcp:docs/search", "write_*"))


@for_each("tool", ["bash", "mcp:docs/search"])
def test_it_matches_the_names_on_the_list(tool: str) -> None:
    """Names as rules see them."""
    assert ToolIgnoreListRule().matches(Request(ToolCall(tool), CONTEXT))


@for_each("tool", ["Bash", "bas", "search", "write_file", "mcp:other/search", "mcp:docs/bash"])
def test_it_matches_no_other_name(tool: str) -> None:
    """An approval was for one tool: no glob, no part of a name, no other server."""
    assert not ToolIgnoreListRule().matches(Request(ToolCall(tool), CONTEXT))


def test_an_empty_list_matches_nothing() -> None:
    """By default nothing is ignored."""
    assert not ToolIgnoreListRule().matches(Request(ToolCall("bash"), AuthContext()))


def test_it_is_a_permission_of_priority_310() -> None:
    """Its place in the order: the last of the six."""
    rule = ToolIgnoreListRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("ignore-list", 310, Verdict.ALLOW, "built-in")


def test_it_has_no_near_miss() -> None:
    """A tool that was never approved missed nothing."""
    assert ToolIgnoreListRule().near_miss(Request(ToolCall("grep"), CONTEXT)) is None
