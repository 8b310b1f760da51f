"""The tools `view_image` and `read_image`."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from permitry.core.call import ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.core.spec import ArgumentRole
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.images import MOST_IMAGE_BYTES, register
from permitry_tools.workspace import Workspace

RECORDED = Path(__file__).resolve().parents[3] / ".." / "shared" / "cases" / "openplanter_tool_golden.jsonl"
PNG = b"\x89PNG\r\n\x1a\n..."

Look: TypeAlias = Callable[..., ToolResult]


@pytest.fixture
def images(workspace: Workspace) -> ToolRegistry:
    """Return a registry of the two tools."""
    registry = ToolRegistry()
    register(registry, workspace)
    return registry


@pytest.fixture
def look(images: ToolRegistry) -> Look:
    """Return a function that runs a tool through the door: `look("view_image", path="a.png")`."""
    handler = ToolHandler(Session(yolo_mode=True), registry=images)
    return lambda tool, **arguments: handler.handle(ToolCall(tool, arguments))


@pytest.mark.parametrize("tool", ["view_image", "read_image"])
@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0....", "image/jpeg"),
        (b"GIF87a...", "image/gif"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\x00\x01\x02\x03WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_handed_over(root: Path, look: Look, tool: str, data: bytes, media_type: str) -> None:
    """What it is says its content; its name may say anything."""
    (root / "a.txt").write_bytes(data)
    text = f"Image a.txt ({len(data)} bytes, {media_type})"
    assert look(tool, path="./a.txt") == ToolResult(True, text, parts=(MediaPart(data, media_type),))


@pytest.mark.parametrize("detail", ["high", "original", None])
def test_detail_changes_nothing_here(root: Path, look: Look, detail: str | None) -> None:
    """The one who sends the image to the model may scale it."""
    (root / "a.png").write_bytes(PNG)
    assert look("view_image", path="a.png", detail=detail).parts == (MediaPart(PNG, "image/png"),)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.png", b"text"),
        ("a.PNG", b""),
        ("a.webp", b"RIFF\x00\x01\x02\x03WAVEfmt "),
        ("a.webp", b"RIFFWEBP"),
        ("a.gif", b"GIF88a"),
    ],
)
def test_other_files_are_no_images(root: Path, look: Look, name: str, data: bytes) -> None:
    """Nothing but an image leaves the workspace by this way, whatever it is called."""
    (root / name).write_bytes(data)
    for tool in ("view_image", "read_image"):
        assert look(tool, path=name) == ToolResult(False, f"The file `{name}` holds no image of a supported kind.")


@pytest.mark.parametrize(
    ("name", "data", "expected"), [("a", b"<svg>", "no suffix"), ("a.bmp", b"BM......", ".bmp"), ("a.pn", b"x", ".pn")]
)
def test_other_formats_are_not_supported(root: Path, look: Look, name: str, data: bytes, expected: str) -> None:
    """Those that are, are named."""
    (root / name).write_bytes(data)
    text = f"Unsupported image format: {expected}. Supported: .gif, .jpeg, .jpg, .png, .webp"
    for tool in ("view_image", "read_image"):
        assert look(tool, path=name) == ToolResult(False, text)


def test_each_tool_has_its_own_errors(root: Path, look: Look) -> None:
    """They are those of the tools they mean."""
    (root / "d").mkdir()
    assert look("view_image", path="a").text == "unable to locate image at `a`"
    assert look("view_image", path="d").text == "image path `d` is not a file"
    assert look("read_image", path="a").text == "File not found: a"
    assert look("read_image", path="d").text == "Path is a directory, not a file: d"
    assert look("read_image", path="").text == "read_image requires path"


@pytest.mark.parametrize("tool", ["view_image", "read_image"])
def test_an_image_outside_is_not_seen(root: Path, outside: Path, look: Look, tool: str) -> None:
    """Neither by a path nor by a link; whether there is one is not reported."""
    (outside / "a.png").write_bytes(PNG)
    (root / "link.png").symlink_to(outside / "a.png")
    for path in ("../outside/a.png", "../outside/none.png", "link.png"):
        assert look(tool, path=path) == ToolResult(False, f"The path `{path}` lies outside the workspace.")


def test_an_image_too_large_is_refused(root: Path, look: Look) -> None:
    """Twenty MiB are the most."""
    (root / "a.png").write_bytes(PNG.ljust(MOST_IMAGE_BYTES, b"."))
    assert look("view_image", path="a.png").ok
    (root / "a.png").write_bytes(PNG.ljust(MOST_IMAGE_BYTES + 1, b"."))
    assert look("view_image", path="a.png") == ToolResult(False, "Image too large: a.png is larger than 20971520 bytes")


def _scenario() -> dict[str, Any]:
    if not RECORDED.exists():
        pytest.skip("the folder `shared` is not beside this checkout")
    rows = map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    return next(row for row in rows if row["id"] == "op-008-read_image")


def test_the_recorded_answers_are_given(root: Path, look: Look) -> None:
    """Those of the tool of that name, word for word."""
    scenario = _scenario()
    for name, content in scenario["files"].items():
        (root / name).write_bytes(base64.b64decode(content["base64"]))
    for step in scenario["steps"]:
        assert look(step["tool"], **step["args"]).text == step["observation"]


def test_the_tools_say_that_they_read(images: ToolRegistry) -> None:
    """Their path is one that is read."""
    assert [(spec.name, spec.only_reads, dict(spec.roles or {})) for spec in images] == [
        (name, True, {"path": ArgumentRole.READ_PATH}) for name in ("view_image", "read_image")
    ]
