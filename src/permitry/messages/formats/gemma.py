"""Gemma's calls: `call:NAME{key:value}` between marks, strings between two `<escape>` or two `<|"|>`.

The brackets may be round, as in Python; then every value is a literal.
"""

import re
from typing import Final

from permitry.messages.formats._literal import quoted_mark, read_literal, round_mark
from permitry.messages.formats.mark import Block, Mark, Reader
from permitry.messages.formats.scan import BrokenError, Scan

__all__ = ["MARKS"]

_NAME: Final = re.compile(r"[^\s<>{}()]*+")


def _reader(quote: str, closer: str) -> Reader:
    dialect = quoted_mark(quote)

    def read(scan: Scan, start: int, pos: int) -> Block | None:
        pos = scan.skip(pos)
        if not scan.at("call:", pos):
            return None
        begin = pos + len("call:")
        end = scan.run(_NAME, begin)
        name = scan.text[begin:end]
        is_round = scan.at("(", end)
        if not is_round and not scan.at("{", end):
            raise BrokenError(end, "the call has no arguments")
        value, end = read_literal(scan, end, round_mark(quote) if is_round else dialect)
        end = scan.need(closer, scan.skip(end), f"`{closer}` is missing")
        return Block(end, (scan.call(name, value, start, end),))

    return read


MARKS: Final = (
    Mark("<start_function_call>", _reader("<escape>", "<end_function_call>"), "functiongemma"),
    Mark("<|tool_call>", _reader('<|"|>', "<tool_call|>"), "gemma4"),
)
