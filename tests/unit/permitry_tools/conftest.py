"""A workspace, something outside of it, and the shipped tools behind a handler that allows them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import workspace_tools
from permitry_tools._tree import TurnBounds
from permitry_tools.turn_diff import TurnDiffTracker
from permitry_tools.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return the folder of the workspace."""
    root = tmp_path / "work"
    root.mkdir()
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder next to the workspace, with a file `secret.txt` in it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("secret", encoding="utf-8")
    return outside


@pytest.fixture
def workspace(root: Path) -> Workspace:
    """Return the workspace."""
    return Workspace(root)


@pytest.fixture
def registry(root: Path) -> ToolRegistry:
    """Return the shipped tools, working in the workspace."""
    return workspace_tools(root)


@pytest.fixture
def use(registry: ToolRegistry) -> Callable[..., ToolResult]:
    """Return a function that runs a tool through the door: `use("read_file", path="a")`."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    return lambda tool, **arguments: handler.handle(ToolCall(tool, arguments))


@pytest.fixture
def preview(registry: ToolRegistry) -> Callable[..., str | None]:
    """Return a function that previews a call: `preview("write_file", path="a", content="b")`."""
    return lambda tool, **arguments: registry.preview(ToolCall(tool, arguments))


@pytest.fixture
def begun(root: Path) -> Callable[..., TurnDiffTracker]:
    """Return a function that begins a turn in the workspace with some of its bounds changed."""

    def begin(bounds: TurnBounds | None = None) -> TurnDiffTracker:
        tracker = TurnDiffTracker(root, TurnBounds() if bounds is None else bounds)
        tracker.begin()
        return tracker

    return begin
