"""The condition `server`."""

from tests.matching import matches
from tests.tables import for_each

from permitry.conditions.match import Match
from permitry.conditions.server import ServerCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.names import NamePattern
from permitry.core.rule import Request


def _request(tool: str) -> Request:
    return Request(ToolCall(tool), AuthContext())


@for_each("needed", [Match.YES, Match.ALIKE])
@for_each(
    ("patterns", "tool", "holds"),
    [
        (("docs",), "mcp:docs/search", True),
        (("x", "doc*"), "mcp:docs/search", True),
        (("docs",), "mcp:docs2/search", False),
        (("docs",), "docs", False),
        (("*",), "search", False),
        (("*",), "mcp:docs/search", True),
        ((), "mcp:docs/search", False),
    ],
)
def test_one_pattern_must_fit_the_server(*, patterns: tuple[str, ...], tool: str, holds: bool, needed: Match) -> None:
    """A tool of the agent itself belongs to no server, whatever the pattern."""
    condition = ServerCondition(tuple(map(NamePattern, patterns)))
    assert matches(condition, _request(tool), needed) is holds


@for_each("tool", ["mcp__docs__search", "docs.search", "mcp:DOCS/search", "Mcp_docs_search", "docs:x"])
def test_a_server_that_a_name_may_mean_is_met_by_restrictions(tool: str) -> None:
    """A permission, and what lifts a restriction, needs the very server."""
    condition = ServerCondition((NamePattern("docs"),))
    assert [matches(condition, _request(tool), each) for each in (Match.ALIKE, Match.YES)] == [True, False]


@for_each(("tool", "fact"), [("search", "no server"), ("mcp:docs/search", "server = docs")])
def test_its_fact_is_the_server_of_the_tool(tool: str, fact: str) -> None:
    """A near miss names it, or says that there is none."""
    assert ServerCondition((NamePattern("x"),)).fact(_request(tool)) == fact
