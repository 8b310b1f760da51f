"""Mistral's calls: `[TOOL_CALLS]` and a JSON list, or, since version 11, a name, `[ARGS]` and a JSON object."""

import re
from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark
from permitry.messages.formats.marked_json import block

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[\w.:/-]*+")
_list = block(("[/TOOL_CALLS]",), is_closer_needed=False)


def _read(cur: Cursor) -> Block | None:
    if cur.skip().at("[") or cur.at("{"):
        return _list(cur)
    name = cur.take(_NAME)
    if not name:
        return None
    call_id = cur.take(_NAME) if cur.has("[CALL_ID]") else None
    cur.has("[ARGS]")
    return cur.block(name, cur.read_object(), call_id=call_id) if cur.skip().at("{") else None


MARKS: Final = (Mark("[TOOL_CALLS]", _read, "mistral"),)
