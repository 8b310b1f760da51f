"""Calls between `<function=NAME>` and `</function>`: parameters in tags, or one JSON object.

`function_xml` is Qwen3-Coder's, with or without `<tool_call>` around it, `seed_oss` has `<seed:tool_call>` around it,
`function_tag_json` is Llama 3.1's. A parameter's value ends at the first `</parameter>` after which the next parameter
or the end of the call follows, so the closing tag itself may occur in a value.
"""

import re
from typing import Final

from permitry.messages.formats._coerce import coerce, trimmed
from permitry.messages.formats._literal import read_value
from permitry.messages.formats.mark import Block, Mark, wrapper
from permitry.messages.formats.scan import BrokenError, Scan, unique

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}\"'=]*+")
_KEY: Final = re.compile(r"[^<>\n]*+")
_INNER: Final = re.compile(r"\n[ \t]*+(<parameter=([^<>\n]++)>)")
_OPEN, _CLOSE = "<function=", "</function>"
_PARAMETER, _END = "<parameter=", "</parameter>"


def _read(scan: Scan, start: int, pos: int) -> Block | None:
    end = scan.run(_NAME, pos)
    name = scan.text[pos:end].strip("\"'")
    if not name or not scan.at(">", end):
        return None
    pos = scan.skip(end + 1)
    if scan.format == "function_xml" and scan.opened.get(_SEED):
        scan.format = "seed_oss"
    if scan.at("{", pos):
        return _json_body(scan, start, pos, name)
    return _parameters(scan, start, pos, name)


def _json_body(scan: Scan, start: int, pos: int, name: str) -> Block:
    value, end, is_repaired = read_value(scan, pos, _CLOSE)
    end = scan.need(_CLOSE, scan.skip(end), f"`{_CLOSE}` is missing")
    format_name = scan.format if scan.format in _JSON_NAMES else _JSON_NAMES[0]
    return Block(end, (scan.call(name, value, start, end, format_name=format_name, is_repaired=is_repaired),))


def _parameters(scan: Scan, start: int, pos: int, name: str) -> Block:
    found: list[tuple[str, object]] = []
    is_repaired = False
    while scan.at(_PARAMETER, pos):
        begin = pos + len(_PARAMETER)
        end = scan.run(_KEY, begin)
        key = scan.text[begin:end].strip()
        if not key or not scan.at(">", end):
            raise BrokenError(end, "a parameter has no name")
        value_end, pos = scan.find_before(_END, _FOLLOWING, end + 1)
        if value_end < 0:
            raise BrokenError(end + 1, f"`{_END}` is missing")
        swallowed = _swallowed(scan, name, end + 1, value_end)
        if swallowed is not None:
            if not scan.is_repairing:
                raise BrokenError(pos, f"`{_END}` is missing before the next argument")
            value_end = pos = swallowed
            is_repaired = True
        found.append((key, coerce(trimmed(scan.text[end + 1 : value_end]), scan.tools.property(name, key))))
    if scan.is_repairing and scan.at("</tool_call>", pos):
        end, is_repaired = pos, True
    else:
        end = scan.need(_CLOSE, pos, f"`{_CLOSE}` is missing")
    call = scan.call(name, unique(found, end), start, end, is_repaired=is_repaired)
    return Block(end, (call,))


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
