"""`permitry hook`: answer a coding agent that asks before it runs a tool, and put that into its settings."""

import argparse
import functools
import os
import sys
from pathlib import Path

from permitry.cli.inputs import add_rules_option
from permitry.errors import CallError
from permitry.hooks.answering import HOSTS, Options, answer, host_named
from permitry.hooks.host import Reply
from permitry.hooks.supervising import DEADLINE, supervised

__all__ = ["configure"]

_LARGEST = 8 * 1024 * 1024
_WAIT = 60.0
_LONGEST_WAIT = 1800


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry hook`."""
    commands = parser.add_subparsers(metavar="HOST", required=True)
    for name in HOSTS:
        parser = commands.add_parser(name, allow_abbrev=False, help=f"answer {name}")
        _add_options(parser)
        parser.set_defaults(execute=execute, host=name)
    for name, summary in (("install", "put the hook into the settings of a host"), ("uninstall", "take it out again")):
        parser = commands.add_parser(name, allow_abbrev=False, help=summary)
        parser.add_argument("host", choices=HOSTS, metavar="HOST", help=", ".join(HOSTS))
        parser.add_argument("--project", action="store_true", help="in the settings of this folder, not of the user")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
        if name == "install":
            _add_options(parser)
        parser.set_defaults(execute=_change_settings, is_install=name == "install")


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_rules_option(parser)
    add("--grant", action="store_true", help="let permissions count: the host runs what the rules allow, unasked")
    ask = "what becomes of questions that the host cannot ask: refuse (the default), or wait[=SECONDS] for an answer"
    add("--ask", type=_seconds, default=0, metavar="refuse|wait", help=ask)
    add("--deadline", type=float, metavar="SECONDS", help="block what takes longer; default: 20")
    add("--record", metavar="FILE", help="the file to append the record to; default: audit.jsonl in your state folder")


def _seconds(text: str) -> float:
    """Return how long a hook waits for a human."""
    word, _, seconds = text.partition("=")
    if text == "refuse":
        return 0
    wait = float(seconds) if "=" in text else _WAIT
    if word != "wait" or not 0 < wait <= _LONGEST_WAIT:
        raise argparse.ArgumentTypeError(f"refuse, wait, or wait=SECONDS of at most {_LONGEST_WAIT}, not `{text}`")
    return wait


def execute(options: argparse.Namespace) -> int:
    """Read the payload from standard input, and print the reply."""
    host = host_named(options.host)

    def fail(problem: str) -> Reply:
        return host.fail(f"permitry could not decide about this call, so it did not run: {problem}")

    own = Options(options.rules, options.grant, options.record, options.ask)
    work = functools.partial(_answered, options.host, own)
    longest = host.settings.longest
    is_late = _total(options) > longest
    reply = (
        fail(f"a hook of this host may take {longest:g} seconds")
        if is_late
        else supervised(work, fail, _total(options))
    )
    if reply.err:
        print(reply.err, file=sys.stderr)
    if reply.out:
        print(reply.out)
    return reply.code


def _total(options: argparse.Namespace) -> float:
    """Return how many seconds the hook may take, with what it waits for a human."""
    return float(options.ask + (DEADLINE if options.deadline is None else options.deadline))


def _change_settings(options: argparse.Namespace) -> int:
    from permitry.cli.hook_settings import change_settings  # a hook that answers does not need it

    return change_settings(options, _total(options) if options.is_install else 0)


def _answered(name: str, options: Options) -> Reply:
    data = sys.stdin.buffer.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise CallError(f"the payload is larger than {_LARGEST} bytes")
    return answer(name, data, options, {**os.environ, "PWD": str(Path.cwd())})
