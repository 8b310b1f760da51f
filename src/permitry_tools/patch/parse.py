"""From the text of a patch to what it wants done to which file; `grammar.py` has the strict form of it.

One pass over the lines; the first may be `*** Environment ID: TEXT`. A marker may have blanks around it, inside an
update only behind it: there a blank before it makes it a line of context. An empty line is one of context whose blank
was lost.

Source: shared facts on apply_patch, "Grammar" and "Leniency"; where a path begins or ends is read as in
`actions/patches.py`, which tells the policy what a patch touches.
"""

from collections.abc import Sequence
from typing import NoReturn, TypeAlias

import attrs

from permitry.port import LONGEST_PATCH, ToolError

__all__ = ["AddFile", "Chunk", "DeleteFile", "Hunk", "Patch", "UpdateFile", "parse_patch"]

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"
_ENVIRONMENT = "*** Environment ID:"
_WRAPPERS = ("<<EOF", "<<'EOF'", '<<"EOF"')
_SHORTEST_WRAPPED = 4
_SIGNS = (" ", "-", "+")
_HEADERS = f"Valid hunk headers: '{_ADD}{{path}}', '{_DELETE}{{path}}', '{_UPDATE}{{path}}'"
_EVERY_LINE = "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"


@attrs.frozen
class Chunk:
    """One change inside a file: pairs of a sign (blank, minus or plus) and a line, and where to look for them.

    `context` is a line before them, or None. `is_end_of_file` says that the file ends behind them.
    """

    context: str | None
    lines: tuple[tuple[str, str], ...]
    is_end_of_file: bool = False

    @property
    def old_lines(self) -> list[str]:
        """The lines that must be in the file."""
        return [text for sign, text in self.lines if sign != "+"]

    @property
    def new_lines(self) -> list[str]:
        """The lines that are there afterwards."""
        return [text for sign, text in self.lines if sign != "-"]


@attrs.frozen
class AddFile:
    """A file with this content."""

    path: str
    content: str


@attrs.frozen
class DeleteFile:
    """A file that goes."""

    path: str


@attrs.frozen
class UpdateFile:
    """A file that is changed and, with `move_to`, gets another path."""

    path: str
    move_to: str | None
    chunks: tuple[Chunk, ...]


Hunk: TypeAlias = AddFile | DeleteFile | UpdateFile


@attrs.frozen
class Patch:
    """What a patch says, in order; `environment` is the place it names, or None."""

    hunks: tuple[Hunk, ...]
    environment: str | None = None


def parse_patch(text: str, *, is_lenient: bool = True) -> Patch:
    """Return what the text of a patch says; a lenient reading takes off a here-document around it.

    Raises: `ToolError` when it is not a patch, with the line for what is wrong inside it; lines count from 1.
    """
    if len(text) > LONGEST_PATCH:
        raise ToolError(f"Invalid patch: it is longer than {LONGEST_PATCH} characters")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ToolError("Invalid patch: it holds half of a surrogate pair, which is not text")
    lines = [line.removesuffix("\r") for line in text.strip().split("\n")]
    return _Parser(_inside(lines, is_lenient=is_lenient)).patch()


def _inside(lines: Sequence[str], *, is_lenient: bool) -> Sequence[str]:
    """Return the lines between the markers."""
    is_wrapped = len(lines) >= _SHORTEST_WRAPPED and lines[0] in _WRAPPERS and lines[-1].endswith("EOF")
    if is_lenient and is_wrapped:
        lines = lines[1:-1]
    if lines[0].strip() != _BEGIN:
        raise ToolError(f"Invalid patch: The first line of the patch must be '{_BEGIN}'")
    if lines[-1].strip() != _END:
        raise ToolError(f"Invalid patch: The last line of the patch must be '{_END}'")
    return lines[1:-1]


def _wrong(number: int, message: str) -> NoReturn:
    raise ToolError(f"Invalid patch hunk on line {number}: {message}")


class _Parser:
    """Reads the lines between the markers; `at` is the line being read, counted from 0."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0

    @property
    def number(self) -> int:
        """The number of the line in the whole patch."""
        return self.at + 2

    def line(self) -> str | None:
        """Return the line being read; None behind the last."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def patch(self) -> Patch:
        environment = self.environment()
        hunks: list[Hunk] = []
        while (line := self.line()) is not None:
            hunks.append(self.hunk(line.strip()))
        return Patch(tuple(hunks), environment)

    def environment(self) -> str | None:
        found: str | None = None
        while (line := (self.line() or "").strip()).startswith(_ENVIRONMENT):
            if found is not None:
                raise ToolError("Invalid patch: apply_patch environment_id cannot be specified more than once")
            found = line.removeprefix(_ENVIRONMENT).strip()
            if not found:
                raise ToolError("Invalid patch: apply_patch environment_id cannot be empty")
            self.at += 1
        return found

    def hunk(self, header: str) -> Hunk:
        if header.startswith(_ADD):
            return self.read_added(self.path(header, _ADD))
        if header.startswith(_DELETE):
            return DeleteFile(self.path(header, _DELETE))
        if header.startswith(_UPDATE):
            return self.read_updated(self.path(header, _UPDATE))
        _wrong(self.number, f"'{header}' is not a valid hunk header. {_HEADERS}")

    def path(self, line: str, header: str) -> str:
        """Step over a header and return its path."""
        path = line.removeprefix(header)
        # The policy is asked about a path without blanks around it: no other may be touched.
        if path != path.strip() or not path.isprintable():
            _wrong(self.number, f"the path '{path}' begins with a blank, or holds an invisible character")
        self.at += 1
        return path

    def read_added(self, path: str) -> AddFile:
        start = self.at
        while (self.line() or "").startswith("+"):
            self.at += 1
        return AddFile(path, "".join(f"{line[1:]}\n" for line in self.lines[start : self.at]))

    # Updates ----------------------------------------------------------------------------------------------------------

    def read_updated(self, path: str) -> UpdateFile:
        start = self.number - 1
        line = self.line() or ""
        move_to = self.path(line.rstrip(), _MOVE) if line.rstrip().startswith(_MOVE) else None
        chunks: list[Chunk] = []
        while self.has_chunk():
            chunks.append(self.chunk(is_first=not chunks))
        if not chunks:
            _wrong(start, f"Update file hunk for path '{path}' is empty")
        return UpdateFile(path, move_to, tuple(chunks))

    def has_chunk(self) -> bool:
        """Step over empty lines between two chunks and return whether another one follows."""
        while self.line() == "":
            self.at += 1
        line = self.line()
        return line is not None and not line.startswith("*")

    def chunk(self, *, is_first: bool) -> Chunk:
        context = self.context(is_first=is_first)
        start = self.at
        while (line := self.line()) is not None and (line == "" or line[0] in _SIGNS):
            self.at += 1
        lines = tuple((line[:1] or " ", line[1:]) for line in self.lines[start : self.at])
        is_end = (line or "").rstrip() == _END_OF_FILE
        if not lines and (line is None or is_end):
            _wrong(self.number, "Update hunk does not contain any lines")
        if not lines:
            _wrong(self.number, f"Unexpected line found in update hunk: '{line}'. {_EVERY_LINE}")
        self.at += is_end
        return Chunk(context, lines, is_end)

    def context(self, *, is_first: bool) -> str | None:
        """Step over the `@@` line of a chunk and return the text in it."""
        line = self.line() or ""
        if line.rstrip() == "@@" or line.startswith("@@ "):
            self.at += 1
            return None if line.rstrip() == "@@" else line.removeprefix("@@ ")
        if not is_first:
            _wrong(self.number, f"Expected update hunk to start with a @@ context marker, got: '{line}'")
        return None
