"""DeepSeek's calls: `deepseek_v3` has the word `function`, a name and fenced JSON, `deepseek_v31` a name and JSON."""

import re
from typing import Final

from permitry.messages.formats._literal import read_value
from permitry.messages.formats.mark import Block, Mark, Reader, wrapper
from permitry.messages.formats.scan import BrokenError, Scan

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}|\uff5c`\"]*+")


def _reader(bar: str, gap: str) -> Reader:
    between = f"<{bar}tool{gap}sep{bar}>"
    closer = f"<{bar}tool{gap}call{gap}end{bar}>"

    def read(scan: Scan, start: int, pos: int) -> Block | None:
        end = scan.run(_NAME, pos)
        first = scan.text[pos:end]
        if not first or not scan.at(between, end):
            return None
        pos = scan.skip(end + len(between))
        if scan.at("{", pos):
            return _direct(scan, start, pos, first)
        return _fenced(scan, start, pos) if first == "function" else None

    def _direct(scan: Scan, start: int, pos: int, name: str) -> Block:
        value, end, is_repaired = read_value(scan, pos, closer)
        end = scan.need(closer, scan.skip(end), f"`{closer}` is missing")
        return Block(end, (scan.call(name, value, start, end, format_name="deepseek_v31", is_repaired=is_repaired),))

    def _fenced(scan: Scan, start: int, pos: int) -> Block | None:
        end = scan.run(_NAME, pos)
        name = scan.text[pos:end]
        pos = scan.skip(end)
        if not scan.at("```", pos):
            return None
        pos = scan.skip(pos + len("```json") if scan.at("```json", pos) else pos + len("```"))
        if not scan.at("{", pos):
            raise BrokenError(pos, "the arguments are not a JSON object")
        value, end, is_repaired = read_value(scan, pos, f"```{closer}")
        end = scan.need("```", scan.skip(end), "the fence is not closed")
        end = scan.need(closer, scan.skip(end), f"`{closer}` is missing")
        return Block(end, (scan.call(name, value, start, end, format_name="deepseek_v3", is_repaired=is_repaired),))

    return read


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


def _other(scan: Scan, _: int, pos: int) -> Block | None:
    """Refuse a mark with a bar or a gap that no model has: a server has written another character for it."""
    end = scan.run(_SIGNS, pos)
    if _BEGIN.fullmatch(scan.text, pos, end) is None:
        return None
    raise BrokenError(end, "the marks are DeepSeek's, but for their bars")


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
