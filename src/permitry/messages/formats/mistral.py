"""Mistral's calls: `[TOOL_CALLS]` and a JSON list, or, since version 11, a name, `[ARGS]` and a JSON object."""

import re
from typing import Final

from permitry.messages.formats._literal import read_value
from permitry.messages.formats.mark import Block, Mark
from permitry.messages.formats.marked_json import block
from permitry.messages.formats.scan import Scan

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[\w.:/-]*+")
_list = block(("[/TOOL_CALLS]",), is_closer_needed=False)


def _read(scan: Scan, start: int, pos: int) -> Block | None:
    begin = scan.skip(pos)
    if scan.at("[", begin) or scan.at("{", begin):
        return _list(scan, start, pos)
    end = scan.run(_NAME, begin)
    name, call_id = scan.text[begin:end], None
    if not name:
        return None
    pos = end
    if scan.at("[CALL_ID]", pos):
        pos += len("[CALL_ID]")
        end = scan.run(_NAME, pos)
        call_id, pos = scan.text[pos:end], end
    pos = scan.skip(pos + len("[ARGS]") if scan.at("[ARGS]", pos) else pos)
    if not scan.at("{", pos):
        return None
    value, end, is_repaired = read_value(scan, pos)
    return Block(end, (scan.call(name, value, start, end, call_id=call_id, is_repaired=is_repaired),))


MARKS: Final = (Mark("[TOOL_CALLS]", _read, "mistral"),)
