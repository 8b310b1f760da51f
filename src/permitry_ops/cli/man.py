"""`permitry man`: the manual page, made from the options of all commands."""

import argparse
import itertools
from collections.abc import Iterable, Iterator
from importlib.metadata import version

from permitry.cli.main import ExitCode, actions_of, whole_parser

__all__ = ["configure"]

_HEAD = """.SH NAME
permitry \\- allow, confirm or block the tool calls of an agent
.SH SYNOPSIS
.B permitry
COMMAND ...
.SH DESCRIPTION"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry man`: there are none."""
    parser.set_defaults(execute=execute)


def execute(_options: argparse.Namespace) -> ExitCode:
    """Print the page, for `man`."""
    print(f'.TH PERMITRY 1 "" "permitry {version("permitry")}"')
    parser = whole_parser()
    for line in _page(parser, *actions_of(parser)):
        print(line)
    return ExitCode.OK


def _page(parser: argparse.ArgumentParser, *actions: argparse.Action) -> Iterator[str]:
    yield _HEAD
    yield _escape(parser.description)
    yield ".SH OPTIONS"
    yield from _options(itertools.takewhile(_is_plain, actions))
    yield ".SH COMMANDS"
    commands = next(itertools.filterfalse(_is_plain, actions)).choices
    for name, command in dict(commands or {}).items():
        yield f'.SS "permitry {name}"'
        yield _escape(command.description)
        yield from _options(filter(_is_plain, actions_of(command)))


def _is_plain(action: argparse.Action) -> bool:
    """Return whether an argument is not the place of a command."""
    return not isinstance(action.choices, dict)


def _options(actions: Iterable[argparse.Action]) -> Iterator[str]:
    """Yield each option once, those of sub-commands included."""
    described = {_describe(action): None for action in actions}
    yield from described


def _describe(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    value = ""
    if action.nargs != 0:
        value = str(action.metavar or action.dest)
    text = str(action.help).replace("%%", "%")
    return f".TP\n.B {_escape(f'{names} {value}')}\n{_escape(text)}"


def _escape(text: str | None) -> str:
    """Return a text in which troff finds no command."""
    words = " ".join(str(text).split())
    return "\\&" + words.replace("\\", "\\e").replace("-", "\\-")
