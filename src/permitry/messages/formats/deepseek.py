"""DeepSeek's calls: `deepseek_v3` has the word `function`, a name and fenced JSON, `deepseek_v31` a name and JSON."""

import re
from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, Reader, wrapper
from permitry.messages.formats.scan import BrokenError

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}|\uff5c`\"]*+")


def _reader(bar: str, gap: str) -> Reader:
    between = f"<{bar}tool{gap}sep{bar}>"
    closer = f"<{bar}tool{gap}call{gap}end{bar}>"

    def read(cur: Cursor) -> Block | None:
        name = cur.take(_NAME)
        if not name or not cur.has(between):
            return None
        if cur.skip().at("{"):
            return cur.block(name, cur.read_arguments(closer), format_name="deepseek_v31")
        return _fenced(cur, closer) if name == "function" else None

    return read


def _fenced(cur: Cursor, closer: str) -> Block | None:
    """Return the block of a call of version 3, of which the word `function` and a separator are read."""
    name = cur.take(_NAME)
    if not cur.skip().has("```"):
        return None
    cur.has("json")
    arguments = cur.read_object(f"```{closer}")
    cur.skip().need("```", "the fence is not closed")
    cur.skip().need(closer)
    return cur.block(name, arguments, format_name="deepseek_v3")


def _marks(bar: str, gap: str) -> tuple[Mark, ...]:
    opener = f"<{bar}tool{gap}call{gap}begin{bar}>"
    return (
        Mark(opener, _reader(bar, gap), *_NAMES),
        wrapper(
            f"<{bar}tool{gap}calls{gap}begin{bar}>",
            f"<{bar}tool{gap}calls{gap}end{bar}>",
            (opener,),
            ("deepseek_v3", "deepseek_v31"),
        ),
    )


def _other(cur: Cursor) -> Block | None:
    """Refuse a mark with a bar or a gap that no model has: a server has written another character for it."""
    if _BEGIN.fullmatch(cur.take(_SIGNS)) is None:
        return None
    raise BrokenError(cur.pos, "the marks are DeepSeek's, but for their bars")


_NAMES: Final = ("deepseek_v3", ("deepseek_v31",))
_SIGNS: Final = re.compile(r"[^\s<>{}\"'`]*+")
_BEGIN: Final = re.compile(r".?calls?.?begin\W{1,2}")
_OTHER_BARS: Final = "\u2016\u2502\u00a6\u2758\u2223\u01c0\uffe8\u2551"

# The bars and gaps of the tokens are wide ones; some servers print plain ones, or double ones.
MARKS: Final = (
    *(mark for bar in ("\uff5c", "\uff5c\uff5c") for mark in _marks(bar, "\u2581")),
    *(mark for bar in ("|", "||") for gap in ("\u2581", "_") for mark in _marks(bar, gap)),
    *(Mark(f"<{bar * count}tool", _other, *_NAMES) for bar in _OTHER_BARS for count in (1, 2)),
)
