"""Calls of a name and pairs of `<arg_key>` and `<arg_value>`: GLM's, Hunyuan 3's, LongCat's, K2 Horizon's and others.

A key without a value is not an argument; K2 Horizon may put a type between both. Values are kept as they are, but for
one line break at each end.
"""

import re
from typing import Final, TypeAlias

import attrs

from permitry.messages.formats._coerce import coerce, trimmed
from permitry.messages.formats.mark import Block, Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}\[\]()\"'`=,;]*+")
_SEP: Final = "<tool_sep>"
_GLM: Final = "glm45_47"
_Found: TypeAlias = list[tuple[str, object]]


@attrs.frozen
class _Tags:
    """The tags of one family: `prefix` is part of those of arguments, `closer` ends a call."""

    prefix: str
    closer: str

    def read(self, scan: Scan, start: int, pos: int) -> Block | None:
        """Return the block of one call."""
        pos = scan.skip(pos)
        end = scan.run(_NAME, pos)
        name = scan.text[pos:end]
        pos = scan.skip(end)
        if scan.at(_SEP, pos):
            pos = scan.skip(pos + len(_SEP))
            scan.format = "hunyuan_v3" if scan.format == _GLM else scan.format
        opener = f"<{self.prefix}arg_key>"
        if not name or not (scan.at(opener, pos) or scan.at(self.closer, pos)):
            return None
        found: _Found = []
        while scan.at(opener, pos):
            pos = self._pair(scan, pos, name, found)
        end = scan.need(self.closer, pos, f"`{self.closer}` is missing")
        return Block(end, (scan.call(name, unique(found, end), start, end),))

    def _pair(self, scan: Scan, pos: int, name: str, found: _Found) -> int:
        """Add a key and its value to `found`; return the place after them."""
        key, pos = self._between(scan, "arg_key", pos)
        kind = ""
        if scan.at(f"<{self.prefix}arg_type>", pos):
            kind, pos = self._between(scan, "arg_type", pos)
        opener, closer = f"<{self.prefix}arg_value>", f"</{self.prefix}arg_value>"
        if not scan.at(opener, pos):
            return pos
        begin = pos + len(opener)
        end, pos = scan.find_before(closer, (f"<{self.prefix}arg_key>", self.closer), begin)
        if end < 0:
            raise BrokenError(begin, f"`{closer}` is missing")
        schema = {"type": kind} if kind else scan.tools.property(name, key)
        found.append((key, coerce(trimmed(scan.text[begin:end]), schema)))
        return pos

    def _between(self, scan: Scan, word: str, pos: int) -> tuple[str, int]:
        """Return what is between two tags, and the place of what follows them."""
        begin, closer = pos + len(f"<{self.prefix}{word}>"), f"</{self.prefix}{word}>"
        end = scan.find(closer, begin)
        if end < 0:
            raise BrokenError(begin, f"`{closer}` is missing")
        return scan.text[begin:end].strip(), scan.skip(end + len(closer))


_ALIASES: Final = ("poolside_v1", "ling3", "spark25", "hunyuan_v3")

MARKS: Final = (
    Mark("<tool_call>", _Tags("", "</tool_call>").read, _GLM, _ALIASES),
    wrapper("<tool_calls>", "</tool_calls>", ("<tool_call>",), ("hunyuan_v3", _GLM)),
    Mark("<longcat_tool_call>", _Tags("longcat_", "</longcat_tool_call>").read, "longcat"),
    Mark("<ifm|tool_call>", _Tags("ifm|", "</ifm|tool_call>").read, "k2_horizon"),
    wrapper("<ifm|tool_calls>", "</ifm|tool_calls>", ("<ifm|tool_call>",), ("k2_horizon",)),
)
