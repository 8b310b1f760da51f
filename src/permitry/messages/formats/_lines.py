"""Lines that are indented, quoted with `>` or in a list: what comes before their first word."""

import re
from typing import Final

import attrs

from permitry.messages.formats.scan import Scan

__all__ = ["Lead", "is_closed", "lead_of", "line_of", "next_line"]

_ANY: Final = r"[ \t]*+(?:>[ \t]*+)*(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?"
_LEAD: Final = re.compile(_ANY)
_LEADS: Final = re.compile(r"[\s>\d.)*+-]*+")
_NUMBER: Final = re.compile(r"\d+")


@attrs.frozen
class Lead:
    """What comes before the first word of a line: blanks, marks of a quotation, the mark of a list's item."""

    text: str

    @property
    def marks(self) -> str:
        """All of it but blanks, any number as 0; empty for a line that is only indented."""
        return _NUMBER.sub("0", "".join(self.text.split()))

    def begins(self, character: str) -> bool:
        """Return whether `character`, any digit as 0, is the first of the marks."""
        return self.marks[:1] == character


def line_of(*words: str) -> "re.Pattern[str]":
    """Return the pattern of a line break, any lead, and one of `words`, which is its first group."""
    return re.compile(rf"\n{_ANY}({'|'.join(map(re.escape, words))})")


def lead_of(scan: Scan, pos: int) -> Lead | None:
    """Return what comes before `pos` in its line, or None when that is more than a lead."""
    before = scan.before(pos)
    line = before[before.rfind("\n") + 1 :]
    is_whole = len(line) < len(before) or scan.base + pos == len(before)
    return Lead(line) if is_whole and _LEAD.fullmatch(line) else None


def next_line(scan: Scan, pos: int, lead: Lead) -> int | None:
    """Return where the next words begin, or None when their line has other marks; an item may go on without its own."""
    if not lead.marks:
        return scan.skip(pos)
    begin = scan.run(_LEADS, pos)
    other = lead_of(scan, begin)
    return begin if other is not None and other.marks in (lead.marks, lead.marks.rstrip("-*+0.)")) else None


def is_closed(scan: Scan, pos: int, lead: Lead) -> bool:
    """Return whether nothing but lines with such a lead follows `pos`, as far as the next line shows it."""
    after = scan.skip(pos)
    return scan.is_end(after) or lead.begins("0" if scan.text[after].isdigit() else scan.text[after])
