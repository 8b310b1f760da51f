"""The tools `list_files`, `read_file` and `write_file`."""

import difflib
from itertools import islice

from pydantic import Field

from permitry.core.pattern import Pattern
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ToolError
from permitry.tools._spec import READS, ROLES, WRITES, Arguments, handler, preview, spec
from permitry.tools.workspace import Workspace

__all__ = ["read_text", "register", "unified_diff"]

_MOST_FILES = 400
_MOST_SEEN = 50_000
_MOST_BYTES = 4 * 1024 * 1024


class ListFiles(Arguments):
    """The arguments of `list_files`."""

    glob: str = Field("*", description="A name, or a pattern such as `*.py` or `src/*`; `*` crosses folders.")


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
        seen = islice(workspace.files(), _MOST_SEEN)
        found = [path for path in seen if pattern.matches(path) or pattern.matches(path.rsplit("/", 1)[-1])]
        rest = len(found) - _MOST_FILES
        shown = [*found[:_MOST_FILES], *([f"...[{rest} files left out]..."] if rest > 0 else [])]
        return True, "\n".join(shown) or "(no files)"

    def read_file(arguments: ReadFile) -> tuple[bool, str]:
        lines = read_text(workspace, arguments.path).splitlines()
        start = arguments.offset - 1
        chosen = lines[start : start + arguments.limit]
        numbered = [f"{number}|{line}" for number, line in enumerate(chosen, arguments.offset)]
        rest = len(lines) - start - len(chosen)
        marker = [f"...[{rest} lines left out]..."] if rest > 0 else []
        return True, "\n".join([f"# {workspace.locate(arguments.path).as_posix()}", *numbered, *marker])

    def write_file(arguments: WriteFile) -> tuple[bool, str]:
        workspace.write(arguments.path, arguments.content.encode())
        where = workspace.locate(arguments.path).as_posix()
        return True, f"Wrote {len(arguments.content)} characters to {where}."

    def diff(arguments: WriteFile) -> str:
        try:
            before = read_text(workspace, arguments.path)
        except ToolError:
            before = ""
        return unified_diff(arguments.path, before, arguments.content)

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
    data = workspace.read(path, _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ToolError(f"`{path}` is larger than {_MOST_BYTES} bytes.")
    return data.decode(errors="replace")


def unified_diff(path: str, before: str, after: str) -> str:
    """Return the unified diff between two contents of `path`."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
