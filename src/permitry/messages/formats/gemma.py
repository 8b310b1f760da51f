"""Gemma's calls: `call:NAME{key:value}` between marks, strings between two `<escape>` or two `<|"|>`.

The brackets may be round, as in Python; then every value is a literal.
"""

import re
from typing import Final

from permitry.messages.formats._literal import quoted_mark, read_literal, round_mark
from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, Reader
from permitry.messages.formats.scan import BrokenError

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}()]*+")


def _reader(quote: str, closer: str) -> Reader:
    curly, round_ = quoted_mark(quote), round_mark(quote)

    def read(cur: Cursor) -> Block | None:
        if not cur.skip().has("call:"):
            return None
        name = cur.take(_NAME)
        is_round = cur.at("(")
        if not is_round and not cur.at("{"):
            raise BrokenError(cur.pos, "the call has no arguments")
        arguments, cur.pos = read_literal(cur.scan, cur.pos, round_ if is_round else curly)
        cur.skip().need(closer)
        return cur.block(name, arguments)

    return read


MARKS: Final = (
    Mark("<start_function_call>", _reader("<escape>", "<end_function_call>"), "functiongemma"),
    Mark("<|tool_call>", _reader('<|"|>', "<tool_call|>"), "gemma4"),
)
