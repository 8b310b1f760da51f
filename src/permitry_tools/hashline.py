"""The tool `hashline_edit`."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeAlias, assert_never

import attrs
from pydantic import Discriminator, Field, Tag, field_validator

from permitry.port import ToolError, ToolRegistry
from permitry_tools._edits import FileEdit
from permitry_tools._reading import Asked, ReadMemory, body_of, line_hash, lines_of
from permitry_tools._spec import ROLES, WRITES, Arguments, preview, tool
from permitry_tools.workspace import Workspace

__all__ = ["register"]

_AROUND = 2
_LONGEST_SHOWN = 200
_ANCHOR = re.compile(r"([0-9]{1,9}):([0-9A-Za-z]+)")
_SHOWN_ANCHOR = re.compile(r"[0-9]+:[0-9a-f]{4}\|")
_OPERATIONS = ("set_line", "replace_lines", "insert_after")
_ASKED = "hashline_edit requires edits array"
_LINE = "A line as `read_file` shows it, `N:HHHH`."
_CONTENT = "The new lines."


class LineRange(Arguments):
    """The first and the last of some lines."""

    start: str = Field(description=_LINE)
    end: str = Field(description=_LINE)


class SetLine(Arguments):
    """Puts `content` in the place of one line."""

    set_line: str = Field(description=_LINE)
    content: str = Field(description=_CONTENT)


class ReplaceLines(Arguments):
    """Puts `content` in the place of some lines; an empty one takes them out."""

    replace_lines: LineRange
    content: str = Field(description=_CONTENT)


class InsertAfter(Arguments):
    """Puts `content` behind a line."""

    insert_after: str = Field(description=_LINE)
    content: str = Field(description=_CONTENT)


def _operation(edit: object) -> str | None:
    """Return which edit this is; one that says two things at once is none."""
    named = [name for name in _OPERATIONS if name in edit] if isinstance(edit, Mapping) else []
    return named[0] if len(named) == 1 else None


Edit: TypeAlias = Annotated[
    Annotated[SetLine, Tag("set_line")]
    | Annotated[ReplaceLines, Tag("replace_lines")]
    | Annotated[InsertAfter, Tag("insert_after")],
    Discriminator(_operation),
]


class HashlineEdit(Asked):
    """The arguments of `hashline_edit`."""

    asked: ClassVar[Mapping[str, str]] = {"path": "hashline_edit requires path", "edits": _ASKED}
    path: str = Field(description="The file, relative to the workspace.")
    edits: list[Edit] = Field(description="Edits of lines of the file as it is now; none may touch another's lines.")

    @field_validator("edits", mode="before")
    @classmethod
    def _has_known_operations(cls, edits: Any) -> Any:  # noqa: ANN401 -- whatever a model has sent
        if not isinstance(edits, list):
            raise ToolError(_ASKED)
        for edit in edits:
            if _operation(edit) is None:
                problem = repr(edit)[:_LONGEST_SHOWN]
                raise ToolError(f"Unknown edit operation: {problem}. Use set_line, replace_lines, or insert_after.")
        return edits


def register(registry: ToolRegistry, workspace: Workspace, memory: ReadMemory | None = None) -> None:
    """Add `hashline_edit` to `registry`, confined to `workspace`; `memory` holds what the model knows of files."""
    known = memory or ReadMemory()

    def edit_of(arguments: HashlineEdit) -> FileEdit:
        return FileEdit.of(workspace, arguments.path, lambda text, _: _Lines.of(text).apply(arguments.edits))

    @tool(
        registry, HashlineEdit, "Edit lines by number and hash.", WRITES, roles={"path": ROLES.WRITE_PATH},
        preview=preview(HashlineEdit, lambda arguments: edit_of(arguments).diff()),
    )  # fmt: skip
    def hashline_edit(arguments: HashlineEdit) -> tuple[bool, str]:
        edit = edit_of(arguments)
        if not edit.changes:
            return True, f"No changes needed in {arguments.path}"
        edit.make(known)
        return True, f"Edited {edit.where.as_posix()} ({len(arguments.edits)} edit(s) applied)"


@attrs.frozen
class _Change:
    """Lines from `start` up to, and without, `stop`, counted from 0, become `lines`."""

    start: int
    stop: int
    lines: list[str]


@attrs.frozen
class _Lines:
    """A text in lines: what they say, and how each ends."""

    bodies: list[str]
    ends: list[str]

    @classmethod
    def of(cls, text: str) -> "_Lines":
        lines = lines_of(text)
        return cls([body_of(line) for line in lines], [line[len(body_of(line)) :] for line in lines])

    def apply(self, edits: list[Edit]) -> str:
        """Return the text after all edits, each of which means the lines as they are before any."""
        # INVARIANT: `done` counts the lines that are dealt with; a change that begins before it meets the last one.
        done = 0
        bodies: list[str] = []
        ends: list[str] = []
        changes = [self._change(edit) for edit in edits]
        for change in sorted(changes, key=lambda each: (each.start, each.stop)):
            if change.start < done:
                line = change.start + (change.start < change.stop)
                problem = f"Edits overlap at line {line}: each line may be changed by one edit only."
                raise ToolError(f"{problem} Nothing was changed.")
            bodies += self.bodies[done : change.start] + change.lines
            ends += self.ends[done : change.start] + [self._end_near(change)] * len(change.lines)
            done = change.stop
        return self._join([*bodies, *self.bodies[done:]], [*ends, *self.ends[done:]])

    def _change(self, edit: Edit) -> _Change:
        lines = _strip(edit.content)
        match edit:
            case SetLine():
                at = self._line(edit.set_line)
                return _Change(at - 1, at, lines)
            case InsertAfter():
                at = self._line(edit.insert_after)
                return _Change(at, at, lines)
            case ReplaceLines():
                start, end = self._line(edit.replace_lines.start), self._line(edit.replace_lines.end)
                if end < start:
                    raise ToolError(f"End line {end} is before start line {start}")
                return _Change(start - 1, end, lines if edit.content else [])
            case _:
                assert_never(edit)

    def _line(self, anchor: str) -> int:
        """Return the number of the line an anchor means, counted from 1."""
        match = _ANCHOR.fullmatch(anchor.strip())
        if match is None:
            raise ToolError(f"Invalid anchor format: {anchor[:_LONGEST_SHOWN]!r} (expected N:HHHH)")
        number, count = int(match[1]), len(self.bodies)
        if not 1 <= number <= count:
            raise ToolError(f"Line {number} out of range (file has {count} lines)")
        found = line_hash(self.bodies[number - 1])
        if match[2] != found:
            around = range(max(1, number - _AROUND), min(count, number + _AROUND) + 1)
            shown = "".join(f"\n  {n}:{line_hash(self.bodies[n - 1])}|{self.bodies[n - 1]}" for n in around)
            problem = f"Hash mismatch at line {number}: expected {match[2][:_LONGEST_SHOWN]}, got {found}."
            raise ToolError(f"{problem} Current context:{shown}")
        return number

    def _end_near(self, change: _Change) -> str:
        return (
            self.ends[max(change.start - 1, 0) if change.start == change.stop else change.start] or self.ends[0] or "\n"
        )

    def _join(self, bodies: list[str], ends: list[str]) -> str:
        """Return the text; the last line ends or does not end as the last one did before."""
        is_ended = bool(self.ends) and self.ends[-1] != ""
        filled = [end or self.ends[0] or "\n" for end in ends]
        text = "".join(body + end for body, end in zip(bodies, filled, strict=True))
        return text if is_ended or not filled else text[: -len(filled[-1])]


def _strip(content: str) -> list[str]:
    """Return the lines of `content` without the anchors a model may have copied along; an empty one is one line."""
    lines = [body_of(line) for line in lines_of(content)] or [""]
    return [line[match.end() :] if (match := _SHOWN_ANCHOR.match(line)) else line for line in lines]
