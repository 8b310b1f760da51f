"""The tools `list_files`, `read_file` and `write_file`."""

import difflib
import io
from itertools import islice
from pathlib import Path

from pydantic import Field

from permitry.core.pattern import Pattern
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.tools._spec import READS, ROLES, WRITES, Arguments, handler, preview, spec
from permitry.tools.workspace import Workspace

__all__ = ["MOST_BYTES", "lines_of", "read_text", "register", "unified_diff"]

_MOST_FILES = 400
_MOST_SEEN = 50_000
_MOST_DIFFED = 4_000
MOST_BYTES = 4 * 1024 * 1024


class ListFiles(Arguments):
    """The arguments of `list_files`."""

    glob: str = Field(
        "*", max_length=256, description="A name, or a pattern such as `*.py` or `src/*`; `*` crosses folders."
    )


class ReadFile(Arguments):
    """The arguments of `read_file`."""

    path: str = Field(description="The file, relative to the workspace.")
    offset: int = Field(1, ge=1, description="The first line to show; lines count from 1.")
    limit: int = Field(2000, ge=1, le=10_000, description="How many lines to show at most.")


class WriteFile(Arguments):
    """The arguments of `write_file`."""

    path: str = Field(description="The file, relative to the workspace; missing folders are made.")
    content: str = Field(description="The whole new content.")


def register(registry: ToolRegistry, workspace: Workspace) -> None:
    """Add the file tools to `registry`, confined to `workspace`."""

    def list_files(arguments: ListFiles) -> tuple[bool, str]:
        pattern = Pattern(arguments.glob)
        files = workspace.files()
        seen = islice(files, _MOST_SEEN)
        found = [path for path in seen if pattern.matches(path) or pattern.matches(path.rsplit("/", 1)[-1])]
        rest = len(found) - _MOST_FILES
        shown = [*found[:_MOST_FILES], *([f"...[{rest} files left out]..."] if rest > 0 else [])]
        if next(files, None) is not None:
            shown.append(f"...[only the first {_MOST_SEEN} files were looked at]...")
        return True, "\n".join(shown) or "(no files)"

    def read_file(arguments: ReadFile) -> tuple[bool, str]:
        lines = [line.removesuffix("\n").removesuffix("\r") for line in lines_of(read_text(workspace, arguments.path))]
        start = arguments.offset - 1
        chosen = lines[start : start + arguments.limit]
        numbered = [f"{number}|{line}" for number, line in enumerate(chosen, arguments.offset)]
        if start >= len(lines) and start > 0:
            return False, f"`{arguments.path}` has {len(lines)} lines; line {arguments.offset} is past its end."
        rest = len(lines) - start - len(chosen)
        marker = [f"...[{rest} lines left out]..."] if rest > 0 else []
        return True, "\n".join([f"# {workspace.locate(arguments.path).as_posix()}", *numbered, *marker])

    def write_file(arguments: WriteFile) -> tuple[bool, str]:
        workspace.write(arguments.path, arguments.content.encode())
        where = workspace.locate(arguments.path).as_posix()
        return True, f"Wrote {len(arguments.content)} characters to {where}."

    def diff(arguments: WriteFile) -> str:
        where = workspace.locate(arguments.path)
        before = read_text(workspace, arguments.path) if workspace.has(arguments.path) else ""
        return unified_diff(where, before, arguments.content)

    registry.register(
        spec("list_files", "List the files of the workspace.", ListFiles, READS), handler(ListFiles, list_files)
    )
    registry.register(
        spec(
            "read_file", "Read a text file, with line numbers.", ReadFile, READS,
            roles={"path": ROLES.READ_PATH}, output_limit=20_000,
        ),
        handler(ReadFile, read_file),
    )  # fmt: skip
    registry.register(
        spec("write_file", "Create or replace a file.", WriteFile, WRITES, roles={"path": ROLES.WRITE_PATH}),
        handler(WriteFile, write_file),
        preview=preview(WriteFile, diff),
    )


def read_text(workspace: Workspace, path: str) -> str:
    """Return the text of a file of the workspace; bytes that are not UTF-8 show as replacement characters.

    Raises: `ToolError` when there is no such file, or it is larger than 4 MiB.
    """
    data = workspace.read(path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ToolError(f"`{path}` is larger than {MOST_BYTES} bytes.")
    return data.decode(errors="replace")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a newline ends a line."""
    return list(io.StringIO(text, newline="\n"))


def unified_diff(where: Path, before: str, after: str) -> str:
    """Return the unified diff between two contents of a file; where that would take long, a sentence instead."""
    old, new = lines_of(before), lines_of(after)
    if len(old) + len(new) > _MOST_DIFFED:
        return f"({len(old)} lines become {len(new)}; too many to compare)"
    name = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in where.as_posix())
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
