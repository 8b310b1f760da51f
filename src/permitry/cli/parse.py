"""`permitry parse`: the calls that a model wrote as text."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from permitry.cli.inputs import add_tools_option, number_lines, open_lines
from permitry.cli.main import ExitCode
from permitry.core.json_values import parse_json
from permitry.core.texts import one_line, visible
from permitry.errors import CallError
from permitry.extras import load
from permitry.messages.formats.cursor import read_tool
from permitry.messages.text import FORMATS, ParsedText, TextCall, TextCallStream, parse_text

__all__ = ["configure"]

_LONGEST_TEXT = 8 * 1024 * 1024
_KEYS = frozenset({"chunks", "format", "id", "text", "tools"})


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry parse`."""
    add = parser.add_argument
    add("file", nargs="?", default="-", metavar="FILE", help="the text of a model; - (the default) for standard input")
    add("--format", default="auto", metavar="F", help="the format of the calls; auto (the default) finds it")
    add("--formats", action="store_true", help="list the formats, and end")
    add_tools_option(parser)
    add("--repair", action="store_true", help="mend some faults, and mark the calls that needed it")
    batch = 'FILE holds one JSON object a line: {"id", "text", "tools"?, "format"?, "chunks"?}'
    add("--batch", action="store_true", help=f"{batch}; one object with the result is printed for each")
    add("--json", action="store_true", help="print one JSON object, and nothing else")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Parse one text, or each line of a batch."""
    if options.formats:
        print("\n".join(FORMATS))
        return ExitCode.OK
    tools = None if options.tools is None else _tools(options.tools)
    parse_text("", tools, options.format)  # A mistake in an option is reported before anything is read.
    if options.batch:
        return _batch(options, tools)
    parsed = parse_text(_text(options.file), tools, options.format, repair=options.repair)
    if options.json:
        print(json.dumps(_as_json(parsed)))
    else:
        _tell(parsed)
    return ExitCode.OK


def _batch(options: argparse.Namespace, tools: list[Any] | None) -> ExitCode:
    worst = ExitCode.OK
    with open_lines(options.file) as stream:
        for number, line in number_lines(stream):
            data: object = None
            try:
                if isinstance(line, CallError):
                    raise line
                data = parse_json(line)
                answer = _answer(data, options, tools)
            except CallError as error:
                worst = ExitCode.INVALID
                known = {"id": data["id"]} if isinstance(data, Mapping) and "id" in data else {}
                answer = {**known, "error": {"line": number, "message": str(error)}}
            print(json.dumps(answer), flush=True)
    return worst


def _answer(data: object, options: argparse.Namespace, tools: list[Any] | None) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise CallError("a line is a JSON object with `text`")
    if unknown := sorted(set(data) - _KEYS):
        raise CallError(f"unknown key `{unknown[0]}`; known: {', '.join(sorted(_KEYS))}")
    own = data.get("tools")
    if not isinstance(own, list | None):
        raise CallError("`tools` must be a list, as the OpenAI API takes it")
    _check_tools(own or [], "`tools`")
    given = (tools if own is None else own, str(data.get("format") or options.format))
    return {"id": data.get("id"), **_as_json(_parse(data, *given, repair=options.repair))}


def _parse(data: Mapping[str, Any], tools: list[Any] | None, name: str, *, repair: bool) -> ParsedText:
    chunks, text = data.get("chunks"), data.get("text")
    if chunks is None:
        if not isinstance(text, str):
            raise CallError("`text` must be a string")
        return parse_text(text, tools, name, repair=repair)
    if not isinstance(chunks, list) or not all(isinstance(chunk, str) for chunk in chunks):
        raise CallError("`chunks` must be a list of strings")
    if text is not None and "".join(chunks) != text:
        raise CallError("`chunks` put together are not `text`")
    stream = TextCallStream(tools, name, repair=repair)
    for chunk in chunks:
        stream.feed(chunk)
    return stream.finish()


def _as_json(parsed: ParsedText) -> dict[str, Any]:
    return {
        "calls": [_call_as_json(call) for call in parsed.calls],
        "content": parsed.content,
        "reasoning": parsed.reasoning,
        "diagnostics": [
            {"message": each.message, "start": each.start, "end": each.end, "format": each.format}
            for each in parsed.diagnostics
        ],
    }


def _call_as_json(call: TextCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "arguments": call.arguments,
        "id": call.call_id,
        "format": call.format,
        "span": list(call.span),
        "is_known": call.is_known,
        "repaired": call.repaired,
    }


def _tell(parsed: ParsedText) -> None:
    for call in parsed.calls:
        flags = [call.format, *(["unknown tool"] if call.is_known is False else [])]
        flags += ["repaired"] if call.repaired else []
        print(f"call    {one_line(call.name)} {json.dumps(call.arguments)} ({', '.join(flags)})")
    if parsed.content.strip():
        print(f"content {visible(parsed.content.strip())}")
    if parsed.reasoning.strip():
        print(f"reasons {visible(parsed.reasoning.strip())}")
    for each in parsed.diagnostics:
        print(f"note    {each.start}-{each.end}: {one_line(each.message)}", file=sys.stderr)
    if not parsed.calls:
        print("no call", file=sys.stderr)


def _text(name: str) -> str:
    with open_lines(name) as stream:
        try:
            data = stream.read(_LONGEST_TEXT + 1)
            if len(data) > _LONGEST_TEXT:
                raise CallError(f"`{name}` is longer than {_LONGEST_TEXT} bytes")
            return data.decode()
        except UnicodeDecodeError as error:
            raise CallError(f"`{name}` is not UTF-8 text") from error
        except OSError as error:
            raise CallError(f"cannot read `{name}`: {error.strerror}") from error


def _tools(path: Path) -> list[Any]:
    tools: list[Any] = load("permitry_ops.cli.tool_list:read_tool_list")(path)
    _check_tools(tools, f"the tools `{path}`")
    return tools


def _check_tools(tools: list[Any], place: str) -> None:
    for index, tool in enumerate(tools):
        if not read_tool(tool):
            known = "a tool is an object with `name` and `parameters`, or a name"
            raise CallError(f"{place}[{index}] is not a tool: {known}")
