"""Calls between `<function=NAME>` and `</function>`: parameters in tags, or one JSON object.

`function_xml` is Qwen3-Coder's, with or without `<tool_call>` around it, `seed_oss` has `<seed:tool_call>` around it,
`function_tag_json` is Llama 3.1's. A parameter's value ends at the first `</parameter>` after which the next parameter
or the end of the call follows, so the closing tag itself may occur in a value.
"""

import re
from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique
from permitry.messages.formats.values import coerce, trim

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}\"'=]*+")
_KEY: Final = re.compile(r"[^<>\n]*+")
_INNER: Final = re.compile(r"\n[ \t]*+(<parameter=([^<>\n]++)>)")
_OPEN, _CLOSE = "<function=", "</function>"
_PARAMETER, _END = "<parameter=", "</parameter>"


def _read(cur: Cursor) -> Block | None:
    name = cur.take(_NAME).strip("\"'")
    if not name or not cur.has(">"):
        return None
    scan = cur.scan
    if scan.format == "function_xml" and scan.opened.get(_SEED):
        scan.format = "seed_oss"
    if cur.skip().at("{"):
        format_name = scan.format if scan.format in _JSON_NAMES else _JSON_NAMES[0]
        return cur.block(name, cur.read_arguments(_CLOSE), format_name=format_name)
    found: list[tuple[str, object]] = []
    while cur.has(_PARAMETER):
        found.append(_argument(cur, name))
    if scan.is_repairing and cur.at("</tool_call>"):
        cur.is_repaired = True
    else:
        cur.need(_CLOSE)
    return cur.block(name, unique(found, cur.pos))


def _argument(cur: Cursor, name: str) -> tuple[str, object]:
    key, scan = cur.take(_KEY).strip(), cur.scan
    if not key or not cur.has(">"):
        raise BrokenError(cur.pos, "a parameter has no name")
    begin = cur.pos
    text = cur.until_before(_END, _FOLLOWING)
    swallowed = _swallowed(scan, name, begin, begin + len(text))
    if swallowed is not None:
        if not scan.is_repairing:
            raise BrokenError(cur.pos, f"`{_END}` is missing before the next argument")
        text, cur.pos, cur.is_repaired = scan.text[begin:swallowed], swallowed, True
    return key, coerce(trim(text), scan.tools.property(name, key))


def _swallowed(scan: Scan, name: str, start: int, end: int) -> int | None:
    """Return where in a value another declared argument of the tool begins on a line of its own, or None."""
    found = _INNER.finditer(scan.text, start, end)
    return next((each.start(1) for each in found if scan.tools.property(name, each.group(2).strip()) is not None), None)


_SEED: Final = "</seed:tool_call>"
_FOLLOWING: Final = (_PARAMETER, _CLOSE, "</tool_call>", _SEED)
_JSON_NAMES: Final = ("function_tag_json", "functionary_v31")

MARKS: Final = (
    Mark(_OPEN, _read, "function_xml", ("seed_oss", *_JSON_NAMES)),
    wrapper("<tool_call>", "</tool_call>", (_OPEN,), ("function_xml",)),
    wrapper("<seed:tool_call>", _SEED, (_OPEN,), ("seed_oss",)),
)
