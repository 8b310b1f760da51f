"""The tool `edit_file`."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from permitry.port import ToolError, ToolRegistry
from permitry_tools._edits import FileEdit
from permitry_tools._reading import Asked, ReadMemory, body_of, lines_of
from permitry_tools._spec import ROLES, WRITES, preview, tool
from permitry_tools.workspace import Workspace

__all__ = ["register"]


class EditFile(Asked):
    """The arguments of `edit_file`."""

    asked: ClassVar[Mapping[str, str]] = {"path": "edit_file requires path", "old_text": "edit_file requires old_text"}
    path: str = Field(description="The file, relative to the workspace.")
    old_text: str = Field(
        description="The text to replace; it must occur once. Blanks may differ when it is whole lines."
    )
    new_text: str = Field(description="The text to put there.")


def register(registry: ToolRegistry, workspace: Workspace, memory: ReadMemory | None = None) -> None:
    """Add `edit_file` to `registry`, confined to `workspace`; `memory` holds what the model knows of files."""
    known = memory or ReadMemory()

    def edit_of(arguments: EditFile) -> FileEdit:
        return FileEdit.of(workspace, arguments.path, lambda text, where: _replace(text, arguments, where.as_posix()))

    @tool(
        registry, EditFile, "Replace one piece of text.", WRITES, roles={"path": ROLES.WRITE_PATH},
        preview=preview(EditFile, lambda arguments: edit_of(arguments).diff()),
    )  # fmt: skip
    def edit_file(arguments: EditFile) -> tuple[bool, str]:
        edit = edit_of(arguments)
        edit.make(known)
        return True, f"Edited {edit.where.as_posix()}"


def _replace(before: str, arguments: EditFile, name: str) -> str:
    old, new = arguments.old_text, arguments.new_text
    count = _count(before, old)
    if count == 1:
        return before.replace(old, new)
    if count > 1:
        raise ToolError(_several(count, name))
    lines = lines_of(before)
    wanted = [" ".join(line.split()) for line in lines_of(old)]
    places = _places(lines, wanted)
    if len(places) > 1:
        raise ToolError(_several(len(places), name, ", blanks aside,"))
    if not places:
        raise ToolError(f"edit_file failed: old_text not found in {name}")
    start, stop = places[0], places[0] + len(wanted)
    return "".join([*lines[:start], _fit(new, lines[start:stop]), *lines[stop:]])


def _several(count: int, name: str, how: str = "") -> str:
    problem = f"edit_file failed: old_text appears {count} times{how} in {name}."
    return f"{problem} Provide more context to make it unique."


def _count(text: str, piece: str) -> int:
    """Return how often `piece` occurs, and 2 for one that occurs again inside of where it is found."""
    count = text.count(piece)
    is_ambiguous = count == 1 and text.find(piece, text.find(piece) + 1) >= 0
    return 2 if is_ambiguous else count


def _places(lines: list[str], wanted: list[str]) -> list[int]:
    """Return where, counted in lines from 0, the collapsed lines `wanted` follow each other; at most 100 places."""
    if not any(wanted):
        return []
    # One long search text: the time stays linear however much the lines resemble each other.
    text = "\n".join(["", *(" ".join(line.split()) for line in lines), ""])
    piece = "\n".join(["", *wanted, ""])
    places: list[int] = []
    at, line, last = text.find(piece), 0, 0
    while at >= 0 and len(places) < 100:  # noqa: PLR2004 -- enough to say that it is not one
        line += text.count("\n", last, at)
        places.append(line)
        last, at = at, text.find(piece, at + 1)
    return places


def _fit(new: str, lines: list[str]) -> str:
    """Return the text that takes the place of whole lines, with line ends such as theirs."""
    ends = {line[len(body_of(line)) :] for line in lines if line.endswith("\n")}
    new = new.replace("\r\n", "\n").replace("\n", "\r\n") if ends == {"\r\n"} else new
    last = lines[-1][len(body_of(lines[-1])) :]
    return new if not new or new.endswith("\n") else new + last
