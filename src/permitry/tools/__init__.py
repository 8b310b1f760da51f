"""The shipped tools: real ones, confined to a workspace."""

from pathlib import Path

from permitry.dispatch.registry import ToolRegistry
from permitry.tools import edit, files, shell
from permitry.tools.workspace import Workspace

__all__ = ["workspace_tools"]


def workspace_tools(root: str | Path) -> ToolRegistry:
    """Return a registry of `list_files`, `read_file`, `write_file`, `edit_file` and `run_shell`, working in `root`.

    Raises: `FileNotFoundError` when `root` does not exist.
    """
    registry, workspace = ToolRegistry(), Workspace(root)
    for family in (files, edit, shell):
        family.register(registry, workspace)
    return registry
