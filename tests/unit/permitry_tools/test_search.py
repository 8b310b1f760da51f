"""The tool `search_files`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.core.result import ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry_tools import _looking, search
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]


@pytest.fixture
def registry(workspace: Workspace) -> ToolRegistry:
    """Return the tool alone."""
    registry = ToolRegistry()
    search.register(registry, workspace)
    return registry


@pytest.fixture
def tree(root: Path) -> Path:
    """Return a workspace with some files."""
    contents = {"a.txt": "alpha\r\nbeta\n", "src/x.py": "y = 1\nAlpha = 1", ".env": "alpha", ".git/config": "alpha"}
    for name, content in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode())
    return root


@pytest.mark.parametrize(
    ("query", "glob", "expected"),
    [
        ("ALPHA", "*", ".env:1:alpha\na.txt:1:alpha\nsrc/x.py:2:Alpha = 1"),
        ("alpha", "*.py", "src/x.py:2:Alpha = 1"),
        ("= 1", "", "src/x.py:1:y = 1\nsrc/x.py:2:Alpha = 1"),
        (".*", "*", "(no matches)"),
        ("alpha\nbeta", "*", "(no matches)"),
        ("alpha", "*.rs", "(no matches)"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_lines_are_found(use: Use, query: str, glob: str, expected: str) -> None:
    """The text counts as it is, without regard to case, within one line."""
    assert use("search_files", query=query, glob=glob) == ToolResult(True, expected)


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": " \n"}, {"query": None}])
def test_a_query_is_asked_for(use: Use, arguments: dict[str, str]) -> None:
    """A blank occurs everywhere."""
    assert use("search_files", **arguments) == ToolResult(False, "search_files requires non-empty query")


@pytest.mark.parametrize(("count", "is_marked"), [(200, False), (201, True), (5_000, True)])
def test_at_most_200_matches_are_shown(root: Path, use: Use, count: int, is_marked: bool) -> None:  # noqa: FBT001 -- a table
    """A marker says that there are more."""
    (root / "a").write_text("x\n" * count, encoding="utf-8")
    lines = use("search_files", query="x").text.split("\n")
    assert lines[:200] == [f"a:{number}:x" for number in range(1, 201)]
    assert lines[200:] == ["...[only the first 200 matches are shown]..."] * is_marked


def test_a_long_line_is_cut(root: Path, use: Use) -> None:
    """Two hundred of them would be too much."""
    (root / "a").write_text("x" * 501, encoding="utf-8")
    assert use("search_files", query="x").text == f"a:1:{'x' * 500}...[truncated 1 chars]..."


def test_what_was_not_searched_is_reported(root: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """No match in what was looked at is not no match at all."""
    monkeypatch.setattr(_looking, "_MOST_SEEN", 2)
    for name in ("a", "b", "c"):
        (root / name).write_bytes(b"x\0")
    assert use("search_files", query="x").text.split("\n") == [
        "(no matches)",
        "...[skipped 2 files: binary, over 4 MiB, or not readable]...",
        "...[only the first 2 files were looked at]...",
    ]


def test_nothing_outside_is_searched(root: Path, outside: Path, use: Use) -> None:
    """Neither through a link to a file nor through one to a folder."""
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    assert "secret.txt:" not in use("search_files", query="secret").text
    assert ":1:" not in use("search_files", query="secret").text


def test_the_tool_says_that_it_reads_everything(registry: ToolRegistry) -> None:
    """Rules about paths see a search of the whole workspace."""
    spec = registry.get("search_files")
    assert spec is not None
    assert (spec.only_reads, dict(spec.roles or {})) == (True, {"path?": ArgumentRole.READ_TREE})
    assert spec.parameters["required"] == ("query",)
