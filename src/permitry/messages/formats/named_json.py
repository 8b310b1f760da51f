"""Calls in JSON behind the name of the tool: the object of the arguments alone, in the marks of many models.

Kimi's name is between `functions.` and an index, with blanks and line breaks around it. Clients write these ids
otherwise (`functions_exec_2`, `functionsexec5`): then the only declared tool that fits is called, and the call counts
as repaired. K2 may forget to close its thinking before a section of calls.
"""

import re
from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import BrokenError, Cursor, Reader
from permitry.messages.formats.json_calls import json_block
from permitry.messages.formats.json_text import read_arguments, read_json
from permitry.messages.formats.tools import Tools

__all__ = [
    "SECTIONS",
    "deepseek_block",
    "is_last_section",
    "read_first_json",
    "read_functionary",
    "read_kimi",
    "read_mistral",
    "read_plamo",
]

_MISTRAL_NAME: Final = re.compile(r"[\w.:/-]*+")
_mistral_list: Final = json_block("[/TOOL_CALLS]", is_closer_needed=False)


def read_mistral(cur: Cursor) -> Block | None:
    """Return the block of a JSON list, or, since version 11, of a name, `[ARGS]` and a JSON object."""
    if cur.skip().at("[") or cur.at("{"):
        return _mistral_list(cur)
    name = cur.take(_MISTRAL_NAME)
    if not name:
        return None
    call_id = cur.take(_MISTRAL_NAME) if cur.has("[CALL_ID]") else None
    cur.has("[ARGS]")
    return cur.block(name, read_arguments(cur), call_id=call_id) if cur.skip().at("{") else None


_DEEPSEEK_NAME: Final = re.compile(r"[^\s<>{}|\uff5c`\"]*+")


def deepseek_block(between: str, closer: str) -> Reader:
    """Return a reader of a name and JSON, or of the word `function`, a name and JSON in a fence."""

    def read(cur: Cursor) -> Block | None:
        name = cur.take(_DEEPSEEK_NAME)
        if not name or not cur.has(between):
            return None
        if cur.skip().at("{"):
            return cur.block(name, read_arguments(cur, closer), format_name="deepseek_v31")
        return _read_fenced(cur, closer) if name == "function" else None

    return read


def _read_fenced(cur: Cursor, closer: str) -> Block | None:
    """Return the block of a call of version 3, behind the word `function` and the separator."""
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
    cur.is_repaired = cur.is_repaired or is_guess
    note = f"`{call_id[:60]}` is taken for a call of `{name}`" if is_guess else None
    return cur.block(name, arguments, call_id=call_id, note=note)


def _tool(tools: Tools, call_id: str) -> tuple[str | None, bool]:
    """Return the tool that an id names, or None, and whether only the declared tools tell which one it is."""
    found = _NAMED.match(call_id)
    name = found["name"] if found else None
    if tools.knows(name or "") or (name is not None and not name.startswith(_PREFIX)):
        return name, False
    fitting = [tool for tool in tools.names() if _fits(call_id, tool)]
    return (fitting[0], True) if len(fitting) == 1 else (name, False)


def _fits(call_id: str, tool: str) -> bool:
    """Return whether an id may be that of a call of `tool`: other signs around its name, or in it, or none."""
    text = _SIGN.sub("_", call_id).removeprefix(_PREFIX).strip("_")
    name = _SIGN.sub("_", tool).strip("_")
    return bool(name) and text.startswith(name) and _INDEX.fullmatch(text, len(name)) is not None


def is_last_section(cur: Cursor, pos: int) -> bool:
    """Return whether the text from `pos` on is nothing but complete sections of good calls."""
    cur.begin(pos, pos)
    try:
        while not cur.is_end(cur.pos):
            _pass_section(cur)
            if cur.skip().has(_LAST):
                cur.skip()
    except BrokenError:
        return False
    return True


def _pass_section(cur: Cursor) -> None:
    """Move behind the section that comes next.

    Raises: `BrokenError` when none does, when a call in it is broken, or when it holds none.
    """
    opener = next(filter(cur.at, SECTIONS), SECTIONS[0])
    cur.need(opener)
    cur.skip().need(_BEGIN)
    while read_kimi(cur) is not None and cur.skip().has(_BEGIN):
        pass
    cur.need(opener.replace("begin", "end"))
