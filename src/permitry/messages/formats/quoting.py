"""What is quoted is not called: where in the text a call is.

A text may show a call that it does not make: in a line quoted with `>`, in backticks, in a block of code, in
`<code>`, or in the middle of a sentence. The writer of a file that a model quotes must not write its calls.
"""

import math
import re
from typing import Final

import attrs

from permitry.messages.formats.cursor import Cursor, TextCall

__all__ = ["Found", "Lines", "Wrappers", "is_enclosed"]

_LONGEST_LEAD: Final = 40
_QUOTED: Final = re.compile(r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*>")
_INDENTED: Final = re.compile(r" {0,3}\t| {4}")
_BLANKS: Final = " \t"
_WIDEST: Final = 8
_MIXED: Final = " "
_GAP: Final = re.compile(r"[ \t]*+")
_PAIRS: Final = (('"', '"'), ("'", "'"), ("\u201c", "\u201d"), ("\u2018", "\u2019"), ("«", "»"), ("„", "\u201c"))


@attrs.define
class Found:
    """The calls of one block. What follows it may tell that they are a quotation: then its `text` is content.

    Where they are indented, a line that is not, after `flat_from` blocks or more, tells of a quotation.
    """

    calls: tuple[TextCall, ...]
    text: str
    content: str
    place: tuple[int, int]
    note: str | None = None
    is_broken: bool = False
    is_quoted: bool = False
    flat_from: float = math.inf

    def __str__(self) -> str:
        """Return what of the block is content."""
        return self.text if self.is_quoted else self.content


@attrs.define
class Lines:
    """The lines of the content: how the one that is read begins, and how all that have words do.

    A backtick may be open in what the last one says. `first` is the character with which all begin, any digit as 0, or
    a blank where they differ. The last line that is not indented came after `flat_at` blocks.
    """

    head: str = ""
    is_in_ticks: bool = False
    first: str = ""
    flat_at: int = -1
    _is_fresh: bool = True
    _indent: str = ""

    @property
    def is_quoted(self) -> bool:
        """Whether the line is a part of a quotation in Markdown."""
        return _QUOTED.match(self.head) is not None

    @property
    def is_indented(self) -> bool:
        """Whether the line is indented as code is in Markdown."""
        return _INDENTED.match(self.head) is not None

    def move(self, text: str) -> None:
        """Go on behind `text`."""
        _, is_next, last = text.rpartition("\n")
        if is_next:
            self.head, self.is_in_ticks = "", False
        self.head += last[: _LONGEST_LEAD - len(self.head)]

    def say(self, piece: str, found: int) -> None:
        """Take note of more content, after so many blocks."""
        _, is_next, last = piece.rpartition("\n")
        self.is_in_ticks = (self.is_in_ticks and not is_next) != (last.count("`") % 2 == 1)
        if self.first == _MIXED and self.flat_at >= found:
            return
        for number, line in enumerate(piece.split("\n")):
            if number:
                self._is_fresh, self._indent = True, ""
            words = line.lstrip()
            self._indent += line[: min(len(line) - len(words), _WIDEST)]
            if words and self._is_fresh:
                char = "0" if words[0].isdigit() else words[0]
                self.first = char if self.first in ("", char) else _MIXED
                self.flat_at = self.flat_at if _INDENTED.match(self._indent) else found
                self._is_fresh = False


@attrs.define
class Wrappers:
    """The marks such as `<tool_call>` that are open around calls: how many of each, by what closes them.

    Of those that a quotation begins with: how many blocks were found before, and what closes the quotation.
    """

    opened: dict[str, int] = attrs.field(factory=dict)
    _quoted: dict[str, tuple[int, tuple[str, ...]]] = attrs.field(factory=dict)

    def open(self, cur: Cursor, start: int, closer: str, found: int) -> None:
        """Take note of a mark that begins at `start`."""
        self.opened[closer] = self.opened.get(closer, 0) + 1
        self.enclose(cur, start, closer, found)

    def enclose(self, cur: Cursor, start: int, closer: str, found: int = 0) -> None:
        """Take note of the backtick or quotation mark before a mark that begins at `start`."""
        if closers := closers_before(cur, start):
            self._quoted.setdefault(closer, (found, closers))

    def are_closed(self, cur: Cursor, end: int) -> bool:
        """Return whether a quotation around one of them ends at `end`."""
        return any(is_closed(cur, end, closers) for _, closers in self._quoted.values())

    def close(self, cur: Cursor, closer: str, end: int) -> int | None:
        """Close a mark; return from which block on all is a quotation, None if nothing is."""
        begin, closers = self._quoted.get(closer, (0, ()))
        is_quotation = is_closed(cur, end, closers)
        self.opened[closer] -= 1
        self._quoted.pop(closer, None)
        return begin if is_quotation else None


def closers_before(cur: Cursor, start: int) -> tuple[str, ...]:
    """Return what closes the backtick or quotation mark before a block, if there is one."""
    before = cur.before(start)
    if before.rstrip(_BLANKS).endswith("`"):
        return ("`",)
    return tuple(closer for opener, closer in _PAIRS if before.endswith(opener))


def is_closed(cur: Cursor, end: int, closers: tuple[str, ...]) -> bool:
    """Return whether one of them follows; before a backtick there may be blanks."""
    at = cur.run(_GAP, end) if "`" in closers else end
    return any(cur.at(closer, at) for closer in closers)


def is_enclosed(cur: Cursor, start: int, end: int) -> bool:
    """Return whether a block is between two backticks, with or without blanks, or quotation marks."""
    return is_closed(cur, end, closers_before(cur, start))
