"""The rule `template`."""

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.rule import Request
from permitry.core.template import Template
from permitry.rules.template import TemplateAllowedToolsRule

DOCS = Template("docs", ["write_*", "mcp:docs/*"], extends=(Template("base", ["grep"]),))


def _request(tool: str, template: Template | None) -> Request:
    return Request(ToolCall(tool), AuthContext(active_template=template))


@for_each("tool", ["write_file", "mcp:docs/search", "grep"])
def test_it_matches_the_tools_of_the_active_template(tool: str) -> None:
    """Names, globs, and what the template inherits."""
    assert TemplateAllowedToolsRule().matches(_request(tool, DOCS))


@for_each(
    ("tool", "template"),
    [("bash", DOCS), ("search", DOCS), ("mcp:other/search", DOCS), ("grep", None), ("grep", Template("empty"))],
)
def test_it_matches_nothing_else(tool: str, template: Template | None) -> None:
    """A tool that is not listed, no template, and a template without tools."""
    assert not TemplateAllowedToolsRule().matches(_request(tool, template))


def test_it_asks_for_the_name_rules_see() -> None:
    """The tool of a server is not the agent's own tool of that name."""
    context = AuthContext(active_template=Template("docs", ["search"]))
    assert not TemplateAllowedToolsRule().matches(Request(ToolCall("search", server="docs"), context))


def test_it_is_a_permission_of_priority_210() -> None:
    """Its place in the order."""
    rule = TemplateAllowedToolsRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == ("template", 210, Verdict.ALLOW, "built-in")


def test_its_near_miss_is_the_template() -> None:
    """The template that does not list the tool is named; without one there is nothing to miss."""
    rule = TemplateAllowedToolsRule()
    assert rule.near_miss(_request("bash", DOCS)) == "template = docs, which does not list the tool"
    assert rule.near_miss(_request("bash", None)) is None
