"""The shipped tools as one registry."""

from pathlib import Path
from typing import Any

import pytest

from permitry.dispatch.registry import ToolRegistry
from permitry.tools import workspace_tools


def test_the_five_tools_are_there(registry: ToolRegistry) -> None:
    """Enough for a coding session."""
    assert [spec.name for spec in registry] == ["list_files", "read_file", "write_file", "edit_file", "run_shell"]


def test_every_tool_is_described_for_the_model(registry: ToolRegistry) -> None:
    """Each has a description, and a strict schema that describes every argument."""
    for spec in registry:
        assert spec.description
        properties: Any = spec.parameters["properties"]
        assert all("description" in properties[name] for name in properties)
        assert spec.parameters["additionalProperties"] is False


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Tools without a workspace would work anywhere."""
    with pytest.raises(FileNotFoundError):
        workspace_tools(tmp_path / "missing")
