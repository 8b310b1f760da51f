"""What the file tools share: which file is meant, what it holds, and whether the model has seen it."""

import hashlib
import io
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import attrs
from pydantic import model_validator

from permitry.port import ToolError
from permitry_tools._spec import Arguments
from permitry_tools.workspace import Workspace

__all__ = [
    "MOST_BYTES",
    "Asked",
    "ReadMemory",
    "body_of",
    "exact_text",
    "line_hash",
    "lines_of",
    "locate",
    "read_bytes",
]

MOST_BYTES = 4 * 1024 * 1024


class Asked(Arguments):
    """Arguments some of which are asked for in words of their own when they are missing, null or empty."""

    asked: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _ask(cls, given: Any) -> Any:  # noqa: ANN401 -- whatever a model has sent
        for name, question in cls.asked.items():
            if given.get(name) in (None, ""):
                raise ToolError(question)
        return given


@attrs.define
class ReadMemory:
    """Which contents of files the model knows, as it was shown them or wrote them itself.

    A file that has changed on the disk since then is not known any more.
    """

    _known: dict[Path, bytes] = attrs.field(factory=dict, init=False)

    def note(self, where: Path, data: bytes) -> None:
        """Take `data` for what the model knows of the file at `where`."""
        self._known[where] = hashlib.sha256(data).digest()

    def follow(self, where: Path, before: bytes, after: bytes) -> None:
        """Take note of an edit: who knew the file before knows it afterwards."""
        if self.knows(where, before):
            self.note(where, after)

    def has_met(self, where: Path) -> bool:
        """Return whether the model has known the file at `where` at some time."""
        return where in self._known

    def knows(self, where: Path, data: bytes) -> bool:
        """Return whether the model knows that the file at `where` holds `data`."""
        return self._known.get(where) == hashlib.sha256(data).digest()


def locate(workspace: Workspace, path: str) -> Path:
    """Return where `path` really is, relative to the root of the workspace.

    Raises: `ToolError` when that is outside the workspace.
    """
    # The workspace refuses such a path by itself; only the words are said here.
    is_inside = "\0" in path or Path(os.path.realpath(workspace.root / path)).is_relative_to(workspace.root)
    if not is_inside:
        raise ToolError(f"Path escapes workspace: {path}")
    return workspace.locate(path)


def read_bytes(workspace: Workspace, path: str) -> tuple[Path, bytes]:
    """Return where a file of the workspace is, relative to the root, and what it holds.

    Raises: `ToolError` when there is no such file, or it is larger than 4 MiB.
    """
    where = locate(workspace, path)
    real = workspace.root / where
    if os.path.isdir(real):  # noqa: PTH112 -- answers False where `Path.is_dir` raises
        raise ToolError(f"Path is a directory, not a file: {path}")
    if not os.path.lexists(real):
        raise ToolError(f"File not found: {path}")
    data = workspace.read(path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ToolError(f"`{path}` is larger than {MOST_BYTES} bytes.")
    return where, data


def exact_text(path: str, data: bytes) -> str:
    """Return the text of a file that is to be written back: it must come out byte for byte.

    Raises: `ToolError` when `data` is not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"`{path}` is not UTF-8 text.") from error


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a newline ends a line."""
    return list(io.StringIO(text, newline="\n"))


def body_of(line: str) -> str:
    """Return a line without its end."""
    return line.removesuffix("\n").removesuffix("\r")


def line_hash(body: str) -> str:
    """Return the four hexadecimal digits that identify a line: the lower half of the CRC-32 of all of it."""
    return f"{zlib.crc32(body.encode(errors='surrogatepass')) & 0xFFFF:04x}"
