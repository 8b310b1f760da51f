"""The tool `apply_patch` behind a handler that allows it, and all that lies in a folder, for comparison."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.patch import register
from permitry_tools.workspace import Workspace

Tree: TypeAlias = dict[str, tuple[int, object]]


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return a registry of `apply_patch` alone."""
    registry = ToolRegistry()
    register(registry, workspace)
    return registry


@pytest.fixture
def apply(registry: ToolRegistry) -> Callable[..., ToolResult]:
    """Return a function that applies a patch through the door; it gives the lines between the markers."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)

    def applied(*lines: str) -> ToolResult:
        patch = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
        return handler.handle(ToolCall("apply_patch", {"patch": patch}))

    return applied


def _entry(path: Path) -> tuple[int, object]:
    mode = path.lstat().st_mode
    if path.is_symlink():
        return mode, path.readlink()
    return mode, path.read_bytes() if path.is_file() else None


@pytest.fixture
def tree(root: Path) -> Callable[[], Tree]:
    """Return a function that tells all that lies in the workspace: modes, contents, and where links lead to."""
    return lambda: {path.relative_to(root).as_posix(): _entry(path) for path in root.rglob("*")}
