"""Calls in JSON that names its tool, between marks or without any, or follows the name of its tool.

A block between marks holds one object, several after one another, or a list. Its closing mark may be missing only where
the text ends: the JSON is complete then. What is in a JSON string is text, whatever mark it looks like.

JSON that nothing marks must be a call beyond doubt: a string for the name, an object for the arguments, no key a call
does not have, every value of a run of values a call, and, when tools are given, a declared name. In a fence of another
language than JSON it is code.
"""

import re
from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import attrs

from permitry.messages.formats.arguments import Named, name_all
from permitry.messages.formats.cursor import Block, BrokenError, Cursor, TextCall, Tools, reader
from permitry.messages.formats.values import end_of_broken, read_arguments, read_json, read_value, try_json

__all__ = [
    "DATA_FENCES", "SECTIONS", "deepseek_block", "is_last_section", "json_block", "name_keyed", "read_bare_json",
    "read_fence", "read_first_json", "read_functionary", "read_kimi", "read_mistral", "read_plamo",
]  # fmt: skip

_BETWEEN: Final = re.compile(r"[\s;,]*+")
# Returns the calls that a JSON value is, and why one in it is none.
_Namer: TypeAlias = Callable[[Any], tuple[list[Named], str | None]]


def _read_calls(
    cur: Cursor, read: Callable[[Cursor], object], name: _Namer, shape: Callable[[Any], str | None] = lambda _: None
) -> tuple[tuple[TextCall, ...], list[str]]:
    """Move behind the JSON values that come next, as `read` returns them; return their calls, and why some are none.

    Each value but the first begins at `start`; `shape` is the format it is of.
    """
    calls: list[TextCall] = []
    reasons: list[str] = []
    while True:
        cur.is_repaired = False
        value = read(cur)
        found, why = name(value)
        calls += [cur.call(*each, format_name=shape(value)) for each in found]
        reasons += [] if why is None else [why]
        end = cur.pos
        cur.take(_BETWEEN)
        if not cur.at("{"):
            cur.pos = end
            return tuple(calls), reasons
        cur.start = cur.pos


def _object_at(cur: Cursor) -> int:
    """Return where an object comes next, or the first one of a list, or -1."""
    pos = cur.blank_end(cur.pos + 1) if cur.at("[") else cur.pos
    return pos if cur.at("{", pos) else -1


# Between marks


@reader
def json_block(
    cur: Cursor,
    *closers: str,
    is_closer_needed: bool = True,
    name: _Namer = name_all,
) -> Block | None:
    """Return a reader of JSON calls up to one of `closers`; `name` finds the calls in a value."""
    if _object_at(cur.skip()) < 0:
        return None
    first, opener = next(iter(closers), ""), cur.piece.strip()
    if is_closer_needed and first:
        # An open text is waited for, up to the mark.
        cur.find(first, cur.pos)
    try:
        calls, reasons = _read_calls(cur, partial(read_value, closer=first), name)
        cur.require(calls, next(iter(reasons), ""))
    except BrokenError as error:
        if len(closers) == 1 and not error.is_in_string:
            # It ends with its mark, if no other opening one comes before.
            at = cur.find(first, error.end)
            if at >= 0 and cur.text.find(opener, error.end, at) < 0:
                error.end = at + len(first)
        raise
    block = cur.close(calls, closers, is_needed=is_closer_needed and bool(closers))
    return attrs.evolve(block, note=reasons[0], is_broken=True) if reasons else block


def name_keyed(value: object) -> tuple[list[Named], str | None]:
    """Return what `name_all` does, for a list of `{"NAME": {ARGUMENTS}}`."""
    pairs: list[tuple[str, object]] = []
    for item in value if isinstance(value, list) else [value]:
        pairs += item.items() if isinstance(item, dict) else [("", None)]
    good = [(name, arguments, None) for name, arguments in pairs if name and isinstance(arguments, dict)]
    return list(good), None if good and len(good) == len(pairs) else "not a list of `{NAME: ARGUMENTS}`"


# Without marks

_LANGUAGE: Final = re.compile(r"[\w+-]*+")
DATA_FENCES: Final = frozenset({"", "json", "json5", "jsonc", "tool", "tool_call", "tool_calls", "text", "xml"})
_CALL_LIKE: Final = re.compile(r'[\[\s]*\{\s*"(?:name|tool|function|tool_name|action)"')
# Before a value of these it is part of a larger one that was broken, and nothing of that is a call.
_INSIDE: Final = ('":', "':", "},", "],")
_FINAL: Final = ["final", "answer"]
_FENCED: Final = MappingProxyType({"json_object": "json_fence"})


def read_bare_json(cur: Cursor) -> Block | None:
    """Return the block of the JSON values that begin with the mark."""
    if cur.code is not None and cur.code not in DATA_FENCES:
        return None
    if cur.is_doubtful or cur.before(cur.start).rstrip().endswith(_INSIDE):
        raise BrokenError(cur.start + 1)
    cur.pos = cur.start
    return _read_run(cur)


def _read_run(cur: Cursor) -> Block:
    """Return the block of the JSON values that come next: calls if all of them are, else text."""
    cur.start = cur.pos
    calls, reasons = _read_calls(cur, _read_unmarked, partial(_name_bare, cur), partial(_shape, cur))
    if not reasons:
        return Block(cur.pos, calls)
    raise BrokenError(cur.pos, next(filter(None, reasons), ""), is_meant=False)


def _read_unmarked(cur: Cursor) -> object:
    """Move behind the next JSON value; if it is like a call and broke in a string, all is lost."""
    try:
        return try_json(cur)
    except BrokenError as error:
        if not _CALL_LIKE.match(cur.text, cur.pos):
            error.message = ""
        elif error.is_in_string:
            error.end = end_of_broken(cur, error.end, "" if cur.code is None else "```")
        raise


def _name_bare(cur: Cursor, value: object) -> tuple[list[Named], str | None]:
    found, why = name_all(value, is_bare=True)
    if why is not None:
        return [], why if _CALL_LIKE.match(cur.text, cur.start) else ""
    for name, *_ in found:
        if cur.tools.knows(name) is False:
            return found, f"no tool `{name[:60]}` is declared, so the JSON is taken for data"
        if name.lower().split() == _FINAL:
            return found, ""
    return found, None


def _shape(cur: Cursor, value: Any) -> str:  # noqa: ANN401 -- any JSON
    if cur.format not in ("", "bare_json"):
        return cur.format
    if isinstance(value, list):
        return "json_array"
    if isinstance(value.get("function"), dict) or "tool_calls" in value:
        return "json_object_openai"
    return "json_action_fence" if "action" in value else "json_object"


def read_fence(cur: Cursor) -> Block | None:
    """Return the block of a fence that holds calls and nothing else, with the fence."""
    if cur.code is not None or cur.is_doubtful or cur.at("`"):
        return None
    language = cur.take(_LANGUAGE).lower()
    cur.skip()
    begin = _object_at(cur) if language in DATA_FENCES else -1
    if begin < 0 or not cur.at('"', cur.blank_end(begin + 1)):
        return None
    try:
        inner = _read_run(cur)
    except BrokenError:
        return None
    if not cur.skip().has("```"):
        return None
    calls = tuple(attrs.evolve(call, format=_FENCED.get(call.format, call.format)) for call in inner.calls)
    return Block(cur.pos, calls)


# Behind a name

_MISTRAL_NAME: Final = re.compile(r"[\w.:/-]*+")
_mistral_list: Final = json_block("[/TOOL_CALLS]", is_closer_needed=False)


def read_mistral(cur: Cursor) -> Block | None:
    """Return the block of a JSON list, or, since version 11, of a name, `[ARGS]` and an object."""
    if cur.skip().at("[") or cur.at("{"):
        return _mistral_list(cur)
    name = cur.take(_MISTRAL_NAME)
    if not name:
        return None
    call_id = cur.take(_MISTRAL_NAME) if cur.has("[CALL_ID]") else None
    cur.has("[ARGS]")
    return cur.block(name, read_arguments(cur), call_id=call_id) if cur.skip().at("{") else None


_DEEPSEEK_NAME: Final = re.compile(r"[^\s<>{}|\uff5c`\"]*+")


@reader
def deepseek_block(cur: Cursor, between: str, closer: str) -> Block | None:
    """Return a reader of a name and JSON, or of the word `function`, a name and JSON in a fence."""
    name = cur.take(_DEEPSEEK_NAME)
    if not name or not cur.has(between):
        return None
    if cur.skip().at("{"):
        return cur.block(name, read_arguments(cur, closer), format_name="deepseek_v31")
    if name != "function":
        return None
    name = cur.take(_DEEPSEEK_NAME)
    if not cur.skip().has("```"):
        return None
    cur.has("json")
    arguments = read_arguments(cur, within=f"```{closer}")
    cur.skip().need("```", "the fence is not closed")
    cur.skip().need(closer)
    return cur.block(name, arguments, format_name="deepseek_v3")


_FUNCTIONARY_NAME: Final = re.compile(r"[\w.-]*+")
_AUTO_FIRST: Final = "functionary_first"


def read_functionary(cur: Cursor) -> Block | None:
    """Return the block of `>>>NAME`, a line break and JSON; to `all` the model writes text."""
    name = cur.take(_FUNCTIONARY_NAME)
    if not name or not cur.has("\n"):
        return None
    if name == "all":
        return Block(cur.pos)
    if not cur.skip().at("{"):
        return None
    return cur.block(name, read_json(cur))


def read_first_json(cur: Cursor) -> Block | None:
    """Return the block of JSON after a tool's name alone on the first line: Functionary's text begins after `>>>`."""
    lead = cur.before(cur.start)
    if cur.base + cur.start != len(lead) or not lead.endswith("\n"):
        return None
    name = lead.removesuffix("\n")
    if not cur.tools.knows(name) and (cur.format == _AUTO_FIRST or not _FUNCTIONARY_NAME.fullmatch(name)):
        return None
    cur.pos = cur.start
    return cur.block(name, read_json(cur), format_name="functionary_v32")


def read_plamo(cur: Cursor) -> Block | None:
    """Return the block of a name and JSON, each in tags of its own."""
    if not cur.skip().has("<|plamo:begin_tool_name:plamo|>"):
        return None
    name = cur.until("<|plamo:end_tool_name:plamo|>", "the name is not closed").strip()
    cur.skip().need("<|plamo:begin_tool_arguments:plamo|>", "the call has no arguments")
    arguments = read_arguments(cur, "<|plamo:end_tool_arguments:plamo|>", "<|plamo:end_tool_request:plamo|>")
    return cur.block(name, arguments)


# Kimi's name is between `functions.` and an index, with blanks and line breaks around it. Clients write these ids
# otherwise (`functions_exec_2`, `functionsexec5`): then the only declared tool that fits is called, and the call counts
# as repaired. K2 may forget to close its thinking before a section of calls.

_ID: Final = re.compile(r"[^<>{}|\n]*+")
_NAMED: Final = re.compile(r"\s*(?:functions\.)?(?P<name>[^\s:][^\s]*):\d{1,9}\s*\Z")
_PREFIX: Final = "functions"
_SIGN: Final = re.compile(r"\W")
_INDEX: Final = re.compile(r"_*+\d{0,9}")
_BEGIN: Final = "<|tool_call_begin|>"
_ARGUMENT, _END = "<|tool_call_argument_begin|>", "<|tool_call_end|>"
# Some servers print the singular.
SECTIONS: Final = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_LAST: Final = "<|im_end|>"


def read_kimi(cur: Cursor) -> Block | None:
    """Return the block of an id and JSON."""
    call_id = cur.skip().take(_ID).strip()
    if not cur.skip().has(_ARGUMENT):
        return None
    arguments = read_arguments(cur, _END)
    name, is_guess = _tool(cur.tools, call_id)
    if name is None:
        raise BrokenError(cur.pos, f"`{call_id[:60]}` is not `functions.NAME:INDEX`")
    cur.is_repaired |= is_guess
    note = f"`{call_id[:60]}` is taken for a call of `{name}`" if is_guess else None
    return attrs.evolve(cur.block(name, arguments, call_id=call_id), note=note)


def _tool(tools: Tools, call_id: str) -> tuple[str | None, bool]:
    """Return the tool that an id names, or None, and whether only the declared tools tell it."""
    found = _NAMED.match(call_id)
    name = found["name"] if found else None
    if tools.knows(name or "") or (name is not None and not name.startswith(_PREFIX)):
        return name, False
    fitting = [tool for tool in tools.schemas if _fits(call_id, tool)]
    return (fitting[0], True) if len(fitting) == 1 else (name, False)


def _fits(call_id: str, tool: str) -> bool:
    """Return whether an id may be of a call of `tool`: other signs around its name, or none."""
    text = _SIGN.sub("_", call_id).removeprefix(_PREFIX).strip("_")
    name = _SIGN.sub("_", tool).strip("_")
    return bool(name) and text.startswith(name) and _INDEX.fullmatch(text, len(name)) is not None


def is_last_section(cur: Cursor, pos: int) -> bool:
    """Return whether the text from `pos` on is nothing but complete sections of good calls."""
    cur.begin(pos, pos)
    try:
        while not cur.is_end(cur.pos):
            opener = next(filter(cur.at, SECTIONS), SECTIONS[0])
            cur.need(opener)
            cur.skip().need(_BEGIN)
            while read_kimi(cur) is not None and cur.skip().has(_BEGIN):
                pass
            cur.need(opener.replace("begin", "end"))
            cur.skip().has(_LAST)
            cur.skip()
    except BrokenError:
        return False
    return True
