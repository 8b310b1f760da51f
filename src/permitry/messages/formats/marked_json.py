"""JSON between marks: `<tool_call>{"name": …, "arguments": {…}}</tool_call>` and its many relatives.

A block holds one object, several after one another, or a list. Its closing mark may be missing only where the text
ends: the JSON is complete then. What is in a JSON string is text, whatever mark it looks like.
"""

import contextlib
import re
from collections.abc import Sequence
from typing import Any, Final

import attrs

from permitry.messages.formats._literal import read_value
from permitry.messages.formats.call import Block, TextCall
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, Reader
from permitry.messages.formats.scan import BrokenError, Scan
from permitry.messages.formats.values import Named, NoCallError, name_all, name_call

__all__ = ["MARKS", "block"]

_BETWEEN: Final = re.compile(r"[\s;,]*+")


def block(
    closers: Sequence[str] = (), *, is_closer_needed: bool = True, needs_arguments: bool = True, keyed: bool = False
) -> Reader:
    """Return a reader of JSON calls up to one of the `closers`; `keyed` is for `{"NAME": {ARGUMENTS}}`."""

    def read(cur: Cursor) -> Block | None:
        if not is_json(cur.skip()):
            return None
        scan, start, pos = cur.scan, cur.start, cur.pos
        if scan.is_open and closers and is_closer_needed and len(closers) == 1:
            scan.find(closers[0], pos)
        try:
            calls, why = read_calls(cur, closers, needs_arguments=needs_arguments, keyed=keyed)
        except BrokenError as error:
            if error.is_in_string:
                raise
            raise BrokenError(_broken_end(scan, start, pos, error.end, closers), error.message) from None
        found = _closed(cur, calls, closers if is_closer_needed else (), optional=closers)
        return attrs.evolve(found, note=why, is_broken=True) if why else found

    return read


def _broken_end(scan: Scan, start: int, pos: int, end: int, closers: Sequence[str]) -> int:
    """Return the end of a broken block: its closing mark, if that comes before the next opening one."""
    if len(closers) != 1:
        return end
    at = scan.find(closers[0], end)
    other = scan.text.find(scan.text[start:pos].strip(), end, max(at, end))
    return at + len(closers[0]) if at >= 0 and other < 0 else end


def is_json(cur: Cursor) -> bool:
    """Return whether an object, or a list of objects, may come next."""
    scan = cur.scan
    return cur.at("{") or (cur.at("[") and scan.at("{", scan.skip(cur.pos + 1)))


def read_calls(
    cur: Cursor, closers: Sequence[str] = (), *, needs_arguments: bool = True, keyed: bool = False
) -> tuple[tuple[TextCall, ...], str | None]:
    """Move behind the JSON values that come next; return their calls, and why one of the values is not a call.

    Raises: `BrokenError` for broken JSON, or when none of the values is a call.
    """
    calls: list[TextCall] = []
    refused: str | None = None
    while True:
        value, cur.pos, cur.is_repaired = read_value(cur.scan, cur.pos, closers[0] if closers else None)
        found, why = _keyed(value) if keyed else _good(value, needs_arguments=needs_arguments)
        refused = refused or why
        calls += [cur.call(name, arguments, call_id=call_id) for name, arguments, call_id in found]
        end = cur.pos
        cur.take(_BETWEEN)
        if not cur.at("{"):
            cur.pos = end
            if not calls:
                raise BrokenError(end, refused or "")
            return tuple(calls), refused
        cur.start = cur.pos


def _good(value: Any, *, needs_arguments: bool) -> tuple[list[Named], str | None]:  # noqa: ANN401 -- any JSON
    """Return those of the calls in a JSON value that are calls, and why another one is none."""
    try:
        return name_all(value, needs_arguments=needs_arguments), None
    except NoCallError as error:
        why = str(error)
    found: list[Named] = []
    for item in value if isinstance(value, list) else ():
        with contextlib.suppress(NoCallError):
            found.append(name_call(item, needs_arguments=needs_arguments))
    return found, why


def _keyed(value: object) -> tuple[list[Named], str | None]:
    pairs = [pair for item in (value if isinstance(value, list) else [value]) for pair in _items(item)]
    good = [(name, arguments, None) for name, arguments in pairs if name and isinstance(arguments, dict)]
    return list(good), None if good and len(good) == len(pairs) else "not a list of `{NAME: ARGUMENTS}`"


def _items(item: object) -> list[tuple[str, dict[str, object]]]:
    return list(item.items()) if isinstance(item, dict) else [("", {})]


def _closed(cur: Cursor, calls: tuple[TextCall, ...], needed: Sequence[str], optional: Sequence[str]) -> Block:
    end = cur.pos
    if any(map(cur.skip().has, optional)):
        return Block(cur.pos, calls)
    if not needed:
        return Block(end, calls)
    if not cur.scan.is_end(cur.pos):
        raise BrokenError(end, f"`{needed[0]}` is missing")
    return Block(cur.pos, calls, note=f"`{needed[0]}` is missing at the end of the text")


_SECTION: Final = "<|message_sep|>\n\nfunction call<|role_sep|>"

MARKS: Final = (
    Mark("<tool_call>", block(("</tool_call>",)), "tool_call_json"),
    Mark("<|tool_call|>", block(("<|/tool_call|>", "</|tool_call|>"), is_closer_needed=False), "granite3"),
    Mark("<tool_call>", block(("</tool_call>",)), "granite3"),
    Mark("<function_call>", block(("</function_call>",), is_closer_needed=False), "granite_20b_fc"),
    Mark("<TOOLCALL>", block(("</TOOLCALL>",)), "nemotron_v2"),
    Mark("<longcat_tool_call>", block(("</longcat_tool_call>",)), "longcat"),
    Mark("<ifm|tool_call>", block(("</ifm|tool_call>",)), "k2_horizon"),
    Mark("<dots_function_call>", block(("</dots_function_call>",)), "dots"),
    Mark("<tools>", block(("</tools>",)), "tools_tag"),
    Mark("<tool_use>", block(("</tool_use>",)), "tool_use"),
    Mark("<tool_calls>", block(("</tool_calls>",)), "hunyuan_a13b", ("jamba", "apriel", "minimax_m1")),
    Mark("<function_calls>", block(("</function_calls>",)), "function_calls_json"),
    Mark("functools", block(), "phi4", ("firefunction",), pattern=r"functools(?=\s*(?:\[|\Z))"),
    Mark("<|action_start|><|plugin|>", block(("<|action_end|>",)), "internlm2"),
    Mark("<|action_start|> <|plugin|>", block(("<|action_end|>",)), "internlm2"),
    Mark(_SECTION, block(("</s>",), is_closer_needed=False), "gigachat3"),
    Mark("<|function_call|>", block(("</s>",), is_closer_needed=False), "gigachat3"),
    Mark("<|START_ACTION|>", block(("<|END_ACTION|>",), needs_arguments=False), "cohere_command"),
    Mark("<|tools_prefix|>", block(("<|tools_suffix|>",), keyed=True), "apertus"),
    Mark("<|python_tag|>", block(("<|eom_id|>", "<|eot_id|>"), is_closer_needed=False), "llama3_json"),
    Mark("<|tool_call_start|>", block(("<|tool_call_end|>",)), "lfm2"),
    Mark("<|content_invoke_tool_json|>", block(("<|end_message|>",)), "inkling"),
)
