"""The new text of a file, from its old text and the chunks of an update.

Source: shared facts on apply_patch, "Matching" and "Line endings".
"""

import enum
import itertools
import re
from collections.abc import Sequence
from typing import TypeAlias

import attrs

from permitry.port import ToolError
from permitry_tools.patch.parse import Chunk
from permitry_tools.patch.seek import Haystack

__all__ = ["LineEndings", "apply_chunks"]

_ENDING = re.compile(r"\r\n|\n|\r")
_Line: TypeAlias = tuple[str, str]


class LineEndings(enum.Enum):
    """What becomes of the ends of lines.

    `KEEP` leaves every line as it is that is not replaced; a new line ends as the first line of the file does. With
    `LF` only a line feed ends a line, and context is written as it is in the patch. Either way the new text ends
    with the end of a line.
    """

    KEEP = "preserve_line_endings"
    LF = "normalize_to_lf"


def apply_chunks(text: str, chunks: Sequence[Chunk], *, path: str, endings: LineEndings = LineEndings.KEEP) -> str:
    """Return `text` with the chunks applied; all are looked for in the old text, each behind the one before.

    Raises: `ToolError`, which calls the file `path`, when one is not found.
    """
    lines = _lines_kept(text)
    if endings is LineEndings.LF and text:
        lines = [(line, "\n") for line in text.removesuffix("\n").split("\n")]
    placed = _Placing(lines, path, endings).place_all(chunks)
    return _join(placed, endings)


def _lines_kept(text: str) -> list[_Line]:
    """Return pairs of a line and its ending; the last one may have none."""
    lines: list[_Line] = []
    start = 0
    for ending in _ENDING.finditer(text):
        lines.append((text[start : ending.start()], ending[0]))
        start = ending.end()
    return [*lines, (text[start:], "")] if start < len(text) else lines


def _join(lines: Sequence[_Line], endings: LineEndings) -> str:
    first = next((ending for _, ending in lines if ending), "\n")
    text = "".join(line + (ending or first) for line, ending in lines)
    is_short = endings is LineEndings.LF and lines and not lines[-1][0]
    return text.removesuffix("\n") if is_short else text


@attrs.frozen
class _Placed:
    """A chunk and the lines it replaces."""

    chunk: Chunk
    start: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.count


class _Placing:
    """Finds the places of chunks, and puts the new lines there."""

    def __init__(self, lines: list[_Line], path: str, endings: LineEndings) -> None:
        self.lines = lines
        self.path = path
        self.keeps = endings is LineEndings.KEEP
        self.texts = [text for text, _ in lines]
        self.haystack = Haystack(self.texts)
        self.preferred = next((ending for _, ending in lines if ending), "\n")

    def place_all(self, chunks: Sequence[Chunk]) -> list[_Line]:
        found: list[_Placed] = []
        cursor = 0
        for chunk in chunks:
            cursor = self.behind_context(chunk, cursor)
            place = self.place(chunk, cursor)
            # What is only added goes to the end, and the next chunk may come before it.
            cursor = place.end if chunk.old_lines else cursor
            found.append(place)
        found.sort(key=lambda place: place.start)
        overlap = any(one.end > other.start for one, other in itertools.pairwise(found))
        return self.splice(found) if overlap else self.weave(found)

    def behind_context(self, chunk: Chunk, cursor: int) -> int:
        if chunk.context is None:
            return cursor
        at = self.haystack.find([chunk.context], cursor)
        if at is None:
            raise ToolError(f"Failed to find context '{chunk.context}' in {self.path}")
        return at + 1

    def place(self, chunk: Chunk, cursor: int) -> _Placed:
        old = chunk.old_lines
        if not old:
            is_blank_last = not self.keeps and self.texts[-1:] == [""]
            return _Placed(chunk, len(self.texts) - is_blank_last, 0)
        for each in (chunk, _without_last_empty(chunk)):
            # With nothing left to look for, every place would do.
            at = self.find(each, cursor) if each.old_lines else None
            if at is not None:
                return _Placed(each, at, len(each.old_lines))
        raise ToolError(f"Failed to find expected lines in {self.path}:\n" + "\n".join(old))

    def find(self, chunk: Chunk, cursor: int) -> int | None:
        old = chunk.old_lines
        last = len(self.texts) - len(old)
        if chunk.is_end_of_file and last >= 0:
            cursor = max(cursor, last) if self.keeps else last
        return self.haystack.find(old, cursor)

    def new_lines(self, place: _Placed) -> list[_Line]:
        if not self.keeps:
            return [(text, "\n") for text in place.chunk.new_lines]
        new: list[_Line] = []
        at = place.start
        for sign, text in place.chunk.lines:
            if sign != "-":
                new.append((text, self.preferred) if sign == "+" else self.lines[at])
            at += sign != "+"
        return new

    def weave(self, found: Sequence[_Placed]) -> list[_Line]:
        new: list[_Line] = []
        at = 0
        for place in found:
            new += self.lines[at : place.start]
            new += self.new_lines(place)
            at = place.end
        return [*new, *self.lines[at:]]

    def splice(self, found: Sequence[_Placed]) -> list[_Line]:
        """Put overlapping changes in from the last to the first, as the reference does."""
        lines = list(self.lines)
        for place in reversed(found):
            self.haystack.spend(len(lines))
            lines[place.start : place.end] = self.new_lines(place)
        return lines


def _without_last_empty(chunk: Chunk) -> Chunk:
    """Return the chunk without an empty last line: a file that ends with a newline has none there."""
    lines = list(chunk.lines)
    old = max((at for at, (sign, _) in enumerate(lines) if sign != "+"), default=None)
    if old is None or lines[old][1]:
        return chunk
    is_context = lines.pop(old)[0] == " "
    if not is_context and lines[-1:] == [("+", "")]:
        lines.pop()
    return attrs.evolve(chunk, lines=tuple(lines))
