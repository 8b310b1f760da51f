"""The tools `list_files`, `read_file` and `write_file`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from permitry.port import ToolError, ToolRegistry
from permitry_tools._looking import LONGEST_GLOB, LONGEST_LOOK, Look
from permitry_tools._reading import MOST_BYTES, Asked, ReadMemory, body_of, line_hash, lines_of, locate, read_bytes
from permitry_tools._spec import READS, ROLES, WRITES, Arguments, preview, tool
from permitry_tools.patch.preview import hunks_of
from permitry_tools.workspace import Workspace

__all__ = ["register", "unified_diff"]

_MOST_FILES = 400
_MOST_DIFFED = 4_000
_MOST_SHOWN = 20_000


class ListFiles(Arguments):
    """The arguments of `list_files`."""

    glob: str = Field(
        "*",
        max_length=LONGEST_GLOB,
        description="A name, or a pattern such as `*.py`, `src/*` or `*.{js,ts}`; `*` crosses folders.",
    )


class ReadFile(Asked):
    """The arguments of `read_file`."""

    asked: ClassVar[Mapping[str, str]] = {"path": "read_file requires path"}
    path: str = Field(description="The file, relative to the workspace.")
    offset: int = Field(1, ge=1, description="The first line to show; lines count from 1.")
    limit: int = Field(2000, ge=1, le=10_000, description="How many lines to show at most.")
    hashline: bool = Field(
        default=True, description="Whether each line carries its hash, as `N:HHHH|line`, for hashline_edit."
    )


class WriteFile(Asked):
    """The arguments of `write_file`."""

    asked: ClassVar[Mapping[str, str]] = {"path": "write_file requires path"}
    path: str = Field(description="The file, relative to the workspace; missing folders are made.")
    content: str = Field(description="The whole new content.")


def register(registry: ToolRegistry, workspace: Workspace, memory: ReadMemory | None = None) -> None:
    """Add the file tools to `registry`, confined to `workspace`; `memory` holds what the model knows of files."""
    known = memory or ReadMemory()

    @tool(registry, ListFiles, "List the files of the workspace.", READS, timeout=LONGEST_LOOK)
    def list_files(arguments: ListFiles) -> tuple[bool, str]:
        look = Look(workspace, arguments.glob)
        found = list(look.names())
        rest = len(found) - _MOST_FILES
        omitted = [f"...[omitted {rest} files]..."] if rest > 0 else []
        return True, "\n".join([*found[:_MOST_FILES], *omitted, *look.notes()]) or "(no files)"

    @tool(
        registry, ReadFile, "Read a text file, with line numbers.", READS,
        roles={"path": ROLES.READ_PATH}, output_limit=_MOST_SHOWN,
    )  # fmt: skip
    def read_file(arguments: ReadFile) -> tuple[bool, str]:
        where, data = read_bytes(workspace, arguments.path)
        shown = _show(where, data.decode(errors="replace"), arguments)
        known.note(where, data)
        return True, shown

    def diff(arguments: WriteFile) -> str:
        where = locate(workspace, arguments.path)
        before = read_bytes(workspace, arguments.path)[1] if workspace.has(arguments.path) else b""
        return unified_diff(where, before.decode(errors="replace"), arguments.content)

    @tool(
        registry, WriteFile, "Create a file, or replace one that was read before.", WRITES,
        roles={"path": ROLES.WRITE_PATH}, preview=preview(WriteFile, diff),
    )  # fmt: skip
    def write_file(arguments: WriteFile) -> tuple[bool, str]:
        where = locate(workspace, arguments.path)
        _refuse_unread(workspace, where, arguments.path, known)
        data = arguments.content.encode()
        workspace.write(arguments.path, data)
        known.note(where, data)
        return True, f"Wrote {len(arguments.content)} chars to {where.as_posix()}"


def _show(where: Path, text: str, arguments: ReadFile) -> str:
    """Return the chosen lines with their numbers, as many whole ones as fit, and a marker for the rest."""
    lines, start = lines_of(text), arguments.offset - 1
    if start >= len(lines) and start > 0:
        raise ToolError(f"`{arguments.path}` has {len(lines)} lines; line {arguments.offset} is past its end.")
    shown = [f"# {where.as_posix()}"]
    left = _MOST_SHOWN - len(shown[0]) - len("\n...[truncated 4194304 chars]...")
    stop = min(start + arguments.limit, len(lines))
    for at in range(start, stop):
        body = body_of(lines[at])
        numbered = f"{at + 1}:{line_hash(body)}|{body}" if arguments.hashline else f"{at + 1}|{body}"
        left -= len(numbered) + 1
        # A line that does not fit at all is left whole, to be clipped with the answer: its end is shown as well then.
        if left < 0 and at > start:
            return "\n".join([*shown, f"...[truncated {sum(map(len, lines[at:]))} chars]..."])
        shown.append(numbered)
    rest = len(lines) - stop
    return "\n".join([*shown, *[f"...[{rest} lines left out]..."] * (rest > 0)])


def _refuse_unread(workspace: Workspace, where: Path, path: str, known: ReadMemory) -> None:
    real = workspace.root / where
    if os.path.isdir(real):  # noqa: PTH112 -- answers False where `Path.is_dir` raises
        raise ToolError(f"Path is a directory, not a file: {path}")
    if os.path.lexists(real) and not known.knows(where, workspace.read(path, MOST_BYTES + 1)):
        why = "has changed since it was read" if known.has_met(where) else "has not been read"
        way_out = f"Use read_file('{path}') first, then edit via apply_patch or write_file."
        raise ToolError(f"BLOCKED: {path} already exists but {why}. {way_out}")


def unified_diff(where: Path, before: str, after: str) -> str:
    """Return the unified diff between two contents of a file; where that would take long, a sentence instead."""
    old, new = len(lines_of(before)), len(lines_of(after))
    if old + new > _MOST_DIFFED:
        return f"({old} lines become {new}; too many to compare)"
    name = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in where.as_posix())
    hunks = hunks_of(before, after)
    return hunks and f"--- a/{name}\n+++ b/{name}\n{hunks}"
