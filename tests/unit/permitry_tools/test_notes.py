"""The tool `think`."""

from collections.abc import Callable

import pytest

from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry_tools import notes
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the tool alone."""
    registry = ToolRegistry()
    notes.register(registry, workspace)
    return registry


def test_a_thought_is_noted(use: Use) -> None:
    """It comes back as it was."""
    assert use("think", note="first\nthen") == ToolResult(True, "Thought noted: first\nthen")


def test_a_thought_may_be_left_out(use: Use) -> None:
    """Nothing depends on it."""
    assert use("think") == ToolResult(True, "Thought noted: ")


def test_the_tool_touches_nothing(registry: ToolRegistry) -> None:
    """It only reads, and its argument is only words."""
    spec = registry.get("think")
    assert spec is not None
    assert (spec.only_reads, dict(spec.roles or {})) == (True, {"note": ArgumentRole.TEXT})
