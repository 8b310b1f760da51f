"""The tools `view_image` and `read_image`: an image of the workspace, for the model to look at."""

import os
from pathlib import PurePath
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from permitry.port import MediaPart, ToolError, ToolRegistry, ToolResult
from permitry_tools._spec import READS, ROLES, Arguments, tool
from permitry_tools.workspace import Workspace

__all__ = ["MOST_IMAGE_BYTES", "register"]

MOST_IMAGE_BYTES = 20 * 1024 * 1024
_SUPPORTED = (".gif", ".jpeg", ".jpg", ".png", ".webp")
_LONGEST_HEAD = 12
_MAGIC = MappingProxyType(
    {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}
)


class ViewImage(Arguments):
    """The arguments of `view_image`."""

    path: str = Field(description="The image, relative to the workspace.")
    detail: Literal["high", "original"] | None = Field(
        None, description="How closely to look. The image is handed over as it is either way."
    )


class ReadImage(Arguments):
    """The arguments of `read_image`."""

    path: str = Field(description="The image, relative to the workspace.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add `view_image` and `read_image` to `registry`, confined to `workspace`. They differ in their errors only."""
    description = "Look at an image of the workspace: PNG, JPEG, GIF or WebP, up to 20 MiB."
    roles = {"path": ROLES.READ_PATH}

    @tool(registry, ViewImage, description, READS, roles=roles)
    def view_image(arguments: ViewImage) -> ToolResult:
        missing, no_file = "unable to locate image at `{}`", "image path `{}` is not a file"
        return _image(workspace, arguments.path, missing, no_file)

    @tool(registry, ReadImage, description, READS, roles=roles)
    def read_image(arguments: ReadImage) -> ToolResult:
        if not arguments.path:
            raise ToolError("read_image requires path")
        return _image(workspace, arguments.path, "File not found: {}", "Path is a directory, not a file: {}")


def _image(workspace: Workspace, path: str, missing: str, no_file: str) -> ToolResult:
    """Return the image at `path`; the last two say what is wrong where there is none."""
    where = workspace.locate(path)
    if not os.path.lexists(workspace.root / where):  # answers False where `Path.exists` raises
        raise ToolError(missing.format(path))
    if not (workspace.root / where).is_file():
        raise ToolError(no_file.format(path))
    data = workspace.read(path, MOST_IMAGE_BYTES + 1)
    if len(data) > MOST_IMAGE_BYTES:
        raise ToolError(f"Image too large: {path} is larger than {MOST_IMAGE_BYTES} bytes")
    media_type = _media_type(data[:_LONGEST_HEAD])
    if media_type is None:
        suffix = PurePath(path).suffix.lower()
        if suffix in _SUPPORTED:
            raise ToolError(f"The file `{path}` holds no image of a supported kind.")
        suffix = suffix or "no suffix"
        raise ToolError(f"Unsupported image format: {suffix}. Supported: {', '.join(_SUPPORTED)}")
    text = f"Image {where.as_posix()} ({len(data)} bytes, {media_type})"
    return ToolResult(True, text, parts=(MediaPart(data, media_type),))


def _media_type(head: bytes) -> str | None:
    """Return the type of an image by its first bytes, whatever its name says; None for everything else."""
    if head[:4] == b"RIFF" and head[8:] == b"WEBP":
        return "image/webp"
    for magic, media_type in _MAGIC.items():
        if head.startswith(magic):
            return media_type
    return None
