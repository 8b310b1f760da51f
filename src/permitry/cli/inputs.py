"""What several commands read: rule options, lines, and requests."""

import argparse
import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from permitry.config.cache import RuleCache
from permitry.config.layers import find_layers
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.json_values import JsonValue, parse_json
from permitry.core.rule import Request
from permitry.core.texts import one_line
from permitry.errors import CallError, PermitryError
from permitry.golden.request import read_request
from permitry.messages.incoming import plain_id
from permitry.messages.plain import call_from_object

__all__ = [
    "TOOLS_FILE",
    "add_call_options",
    "add_rules_option",
    "add_tools_option",
    "number_lines",
    "only_tool",
    "open_lines",
    "origins_from",
    "print_result",
    "refuse_list",
    "requests",
    "rules_from",
    "single_call",
    "tell",
]

TOOLS_FILE = "a tools file ends in `.toml`, see docs/reference/tools-file.md"
_LONGEST_LINE = 8 * 1024 * 1024


def add_rules_option(parser: argparse.ArgumentParser, *, observes: bool = False) -> None:
    """Add `--rules`, which may be given several times, and with `observes` also `--observe`."""
    meant = (
        "a rule file, or a shipped set such as permitry:coding-agent; may be given again. "
        "Without it the layers are searched: shipped, user, project, admin"
    )
    parser.add_argument("--rules", action="append", metavar="FILE", help=meant)
    if observes:
        meant = "a rule file, or a set, that is decided and recorded, and never obeyed; may be given again"
        parser.add_argument("--observe", action="append", default=[], metavar="FILE", help=meant)


def add_call_options(parser: argparse.ArgumentParser) -> None:
    """Add the ways to name calls, `--workspace` and `--json`."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--command", metavar="TEXT", help="a shell command, as for the tool run_shell")
    source.add_argument("--tool", metavar="NAME", help="a tool; its arguments follow as --arg")
    source.add_argument("--call", metavar="JSON", help='one call: {"name": …, "arguments": {…}, "context"?: {…}, …}')
    source.add_argument("--calls", metavar="FILE", help="a file with one call a line, or - for standard input")
    meant = "an argument of --tool; the value is JSON, or text where it is not; may be given again"
    parser.add_argument("--arg", action="append", default=[], metavar="KEY=VALUE", help=meant)
    meant = (
        "the folder relative paths start from, unless a call says otherwise, and where the layers are looked for; "
        "default: the current one"
    )
    parser.add_argument("--workspace", metavar="DIR", default=".", help=meant)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line, and nothing else")


def add_tools_option(parser: argparse.ArgumentParser) -> None:
    """Add `--tools`."""
    meant = "the tools: a tools file (TOML); `lint` and `parse` also take a JSON list of names, or of specs for a model"
    parser.add_argument("--tools", type=Path, metavar="FILE", help=meant)


def refuse_list(path: Path | None) -> None:
    """Raise `PermitryError` for a list of tools where they are to run."""
    if path is not None and path.suffix == ".json":
        raise PermitryError(f"`{path}` is a list of tools, and none of them could run; {TOOLS_FILE}")


def rules_from(options: argparse.Namespace, workspace: str = ".", tool: str | None = None) -> RuleSet:
    """Return the rules named, or of the layers, that apply to a `tool`; print their notices."""
    rules = RuleCache().load(origins_from(options, workspace), tool)
    tell(rules.notices)
    return rules


def only_tool(options: argparse.Namespace) -> str | None:
    """Return the tool that is asked about, when the options hold a single call of one."""
    try:
        data = single_call(options)
    except CallError:
        # What is wrong with it is reported when the request is read.
        return None
    if not isinstance(data, dict) or not {"name", "arguments"} <= data.keys():
        return None
    incoming = call_from_object({key: value for key, value in data.items() if key != "id"})
    return incoming.call.tool if isinstance(incoming.call, ToolCall) else None


def origins_from(options: argparse.Namespace, workspace: str = ".") -> list[Origin]:
    """Return where the rules come from: the files that are named, or the layers in force for `workspace`.

    Then those that are observed, where a command takes some.
    """
    named: list[str] | None = options.rules
    observed = [Origin(name, is_observed=True) for name in getattr(options, "observe", ())]
    return [*(find_layers(Path(workspace)) if named is None else map(Origin, named)), *observed]


def tell(notices: Iterable[str]) -> None:
    """Print what the user should know besides the results."""
    for notice in notices:
        print(f"permitry: {one_line(notice)}", file=sys.stderr)


def print_result(options: argparse.Namespace, data: object, text: str) -> None:
    """Print a result as JSON, where that is asked for, or as text for people."""
    print(json.dumps(data) if options.json else text)


def open_lines(name: str) -> AbstractContextManager[BinaryIO]:
    """Open a file of lines, or standard input for `-`. Raises: `CallError`."""
    if name == "-":
        if sys.stdin is None:
            raise CallError("standard input is closed")
        if sys.stdin.isatty():
            tell(["reading from this terminal, in place of a file; Ctrl-D ends the input"])
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise CallError(f"cannot read `{name}`: {error.strerror}") from error


def number_lines(stream: BinaryIO) -> Iterator[tuple[int, str | CallError]]:
    """Yield each line that is not blank with its number, as soon as it is there; memory stays bounded."""
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE and not line.endswith(b"\n"):
            while (rest := stream.readline(_LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield number, CallError(f"the line is longer than {_LONGEST_LINE} bytes")
        elif line.strip():
            try:
                yield number, line.decode()
            except UnicodeDecodeError:
                yield number, CallError("the line is not UTF-8 text")


def requests(options: argparse.Namespace, rules: RuleSet) -> Iterator[tuple[int, object, Request | CallError]]:
    """Yield line number, id, and the request (or why there is none) of each call in the options."""
    workspace = str(Path(options.workspace).absolute())
    if options.arg and options.tool is None:
        raise CallError("`--arg` goes with `--tool NAME`")
    if options.calls is None:
        yield (1, *_request(lambda: single_call(options), rules, workspace))
        return
    number = 0
    with open_lines(options.calls) as stream:
        for number, line in number_lines(stream):
            if isinstance(line, CallError):
                yield number, None, line
            else:
                yield (number, *_request(functools.partial(parse_json, line), rules, workspace))
    if number == 0:
        # Nothing was asked, so nothing is allowed: the program that was to write the calls may have died.
        raise CallError("there is no call in the input")


def single_call(options: argparse.Namespace) -> JsonValue:
    """Return the one call that the options name, as data, or None. Raises: `CallError`."""
    if options.command is not None:
        return {"name": "run_shell", "arguments": {"command": options.command}}
    if options.tool is not None:
        return {"name": options.tool, "arguments": dict(map(_argument, options.arg))}
    return None if options.call is None else parse_json(options.call)


def _argument(text: str) -> tuple[str, JsonValue]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise CallError(f"`--arg {text}` is not KEY=VALUE")
    try:
        return key, parse_json(value)
    except CallError:
        return key, value


def _request(read: Callable[[], JsonValue], rules: RuleSet, workspace: str) -> tuple[object, Request | CallError]:
    call_id: object = None
    try:
        data = read()
        call_id = plain_id(data.get("id")) if isinstance(data, dict) else None
        return call_id, read_request(data, rules.templates, workspace)
    except CallError as error:
        return call_id, error
