"""Templates: what they allow, and what they inherit."""

from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.core.template import Template


def test_a_template_allows_what_it_lists() -> None:
    """Names and globs are allowed, nothing else."""
    template = Template("docs", ["read_file", "mcp:docs/*"])
    assert [template.allows(tool) for tool in ("read_file", "mcp:docs/search", "read_files", "docs")] == [
        True,
        True,
        False,
        False,
    ]


@for_each("tools", [None, (), []])
def test_a_template_without_tools_allows_nothing(tools: Any) -> None:  # noqa: ANN401 -- three kinds of nothing
    """No list and an empty list both allow nothing."""
    template = Template("empty", tools)
    assert template.allowed_tools == ()
    assert not template.allows("bash")


def test_one_string_is_no_list() -> None:
    """A string where a list belongs is an error, not a list of letters."""
    with pytest.raises(TypeError, match="`allowed_tools` must be a list of names"):
        Template("docs", "bash")


def test_a_template_allows_what_its_parents_allow() -> None:
    """Inheritance reaches all the way up, along every parent."""
    root = Template("root", ["read_file"])
    middle = Template("middle", extends=(root,))
    child = Template("child", ["bash"], extends=(Template("other", ["grep"]), middle))
    assert all(child.allows(tool) for tool in ("bash", "grep", "read_file"))
    assert not middle.allows("bash")


def test_a_template_has_the_names_of_all_it_extends() -> None:
    """Its own name and those of all its ancestors."""
    root = Template("root")
    child = Template("child", extends=(Template("middle", extends=(root,)),))
    assert child.names() == {"child", "middle", "root"}


def test_a_template_is_frozen_and_keeps_no_alias() -> None:
    """Neither assignment nor the list it was made from changes a template."""
    tools = ["grep"]
    template = Template("docs", tools)
    tools.append("bash")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        cast("Any", template).allowed_tools = ("bash",)
    assert not template.allows("bash")


def test_templates_with_the_same_content_are_equal() -> None:
    """Equality and hash go by content."""
    assert {Template("docs", ["grep"]), Template("docs", ("grep",))} == {Template("docs", ("grep",))}
    assert Template("docs", ["grep"]) != Template("docs", ["bash"])
