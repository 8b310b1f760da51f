"""What the author of a plugin writes becomes the declaration of a tool."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.dispatch.plugin import ToolContext, ToolPlugin
from permitry.errors import CallError, RegistryError


def test_a_definition_may_have_the_outer_form() -> None:
    """As the OpenAI API takes it; what a plugin declares is in the spec."""
    inner = {"name": "tool", "description": "It works.", "parameters": {"type": "object"}}
    specs = [ToolPlugin(each, print, version="2").spec for each in (inner, {"type": "function", "function": inner})]
    assert specs[0] == specs[1]
    assert (specs[0].description, specs[0].version, specs[0].timeout) == ("It works.", "2", 60.0)
    with pytest.raises(RegistryError, match="has no `name`"):
        _ = ToolPlugin({"function": "x"}, print).spec


@for_each("definition", [{}, {"function": {}}, {"function": "f"}, {"name": 3}, {"name": "a", "description": 3}])
def test_a_definition_that_declares_no_tool_is_refused(definition: dict[str, Any]) -> None:
    """When it is read, in words for its author."""
    with pytest.raises(RegistryError, match="definition"):
        _ = ToolPlugin(definition, lambda *_: "").spec


def test_a_name_that_no_call_can_have_is_refused() -> None:
    """Rules could not be written for it."""
    with pytest.raises(CallError):
        _ = ToolPlugin({"name": "a\nb"}, lambda *_: "").spec


def test_a_plugin_is_offered_unless_it_says_otherwise() -> None:
    """Its declaration has a timeout, and says nothing in its favour."""
    plugin = ToolPlugin({"name": "a", "description": "Adds."}, lambda *_: "")
    assert plugin.enabled(ToolContext())
    assert (plugin.spec.description, plugin.spec.timeout, plugin.spec.traits.read_only) == ("Adds.", 60.0, None)
