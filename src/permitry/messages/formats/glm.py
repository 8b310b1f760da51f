"""Calls of a name and pairs of `<arg_key>` and `<arg_value>`: GLM's, Hunyuan 3's, LongCat's, K2 Horizon's and others.

A key without a value is not an argument; K2 Horizon may put a type between both. Values are kept as they are, but for
one line break at each end.
"""

import re
from typing import Final

import attrs

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, wrapper
from permitry.messages.formats.scan import unique
from permitry.messages.formats.values import coerce, trim

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}\[\]()\"'`=,;]*+")
_SEP: Final = "<tool_sep>"
_GLM: Final = "glm45_47"


@attrs.frozen
class _Tags:
    """The tags of one family: `prefix` is part of those of arguments, `closer` ends a call."""

    prefix: str
    closer: str

    def read(self, cur: Cursor) -> Block | None:
        """Return the block of one call."""
        scan, opener = cur.scan, f"<{self.prefix}arg_key>"
        name = cur.skip().take(_NAME)
        if cur.skip().has(_SEP):
            cur.skip()
            scan.format = "hunyuan_v3" if scan.format == _GLM else scan.format
        if not name or not (cur.at(opener) or cur.at(self.closer)):
            return None
        found: list[tuple[str, object]] = []
        while cur.has(opener):
            found += self._argument(cur, name)
        cur.need(self.closer)
        return cur.block(name, unique(found, cur.pos))

    def _argument(self, cur: Cursor, name: str) -> list[tuple[str, object]]:
        """Return a key and its value, or nothing where it has none."""
        key, kind = self._until(cur, "arg_key"), ""
        if cur.has(f"<{self.prefix}arg_type>"):
            kind = self._until(cur, "arg_type")
        if not cur.has(f"<{self.prefix}arg_value>"):
            return []
        text = cur.until_before(f"</{self.prefix}arg_value>", (f"<{self.prefix}arg_key>", self.closer))
        schema = {"type": kind} if kind else cur.scan.tools.property(name, key)
        return [(key, coerce(trim(text), schema))]

    def _until(self, cur: Cursor, word: str) -> str:
        """Return what is before the closing tag of this name."""
        text = cur.until(f"</{self.prefix}{word}>").strip()
        cur.skip()
        return text


_ALIASES: Final = ("poolside_v1", "ling3", "spark25", "hunyuan_v3")

MARKS: Final = (
    Mark("<tool_call>", _Tags("", "</tool_call>").read, _GLM, _ALIASES),
    wrapper("<tool_calls>", "</tool_calls>", ("<tool_call>",), ("hunyuan_v3", _GLM)),
    Mark("<longcat_tool_call>", _Tags("longcat_", "</longcat_tool_call>").read, "longcat"),
    Mark("<ifm|tool_call>", _Tags("ifm|", "</ifm|tool_call>").read, "k2_horizon"),
    wrapper("<ifm|tool_calls>", "</ifm|tool_calls>", ("<ifm|tool_call>",), ("k2_horizon",)),
)
