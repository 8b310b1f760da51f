"""`permitry hook doctor`: look at the hooks that are installed, and try them out."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
from rich.table import Table
from rich.text import Text

from permitry.cli.main import ExitCode
from permitry.cli.render import console_on
from permitry.config.layers import find_layers
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.core.texts import one_line
from permitry.errors import PermitryError
from permitry.hooks.answering import HOSTS, host_named
from permitry.hooks.doctor import Finding, trials, unfit, version
from permitry.hooks.host import Host
from permitry.hooks.install import installed

__all__ = ["examine"]

Parsed: TypeAlias = Callable[[tuple[str, ...]], argparse.Namespace | str]

_SHOWN = {True: Text("fine", "green"), False: Text("PROBLEM", "bold red"), None: Text("note", "yellow")}


def examine(options: argparse.Namespace, parsed: Parsed) -> ExitCode:
    """Print what is found about the hook of each host; the code says whether all is well.

    `parsed` gives the options in the words of a hook, or what is wrong with them.
    """
    found = [(host, each) for host in _hosts(options.host) for each in _findings(host_named(host), parsed)]
    if not found:
        raise PermitryError("no hook is installed here; see `permitry hook install`")
    if options.json:
        for host, each in found:
            print(json.dumps({"host": host, **attrs.asdict(each)}))
    else:
        _show(found)
    return ExitCode.FAILED if any(each.is_well is False for _, each in found) else ExitCode.OK


def _hosts(named: str | None) -> Iterator[str]:
    """Yield the host that is named, or all that have settings with a hook, or with something that cannot be read."""
    for host in HOSTS if named is None else (named,):
        if named is not None or any(finding is not None for finding, _ in _places(host_named(host))):
            yield host


def _places(host: Host) -> Iterator[tuple[list[str] | PermitryError | None, Path]]:
    """Yield what is in each file of settings that a host reads here."""
    for path in (Path.home() / host.settings.user, Path.cwd() / host.settings.project):
        try:
            yield installed(host, path), path
        except PermitryError as error:
            yield error, path


def _findings(host: Host, parsed: Parsed) -> Iterator[Finding]:
    yield version(host.name)
    is_there = False
    for words, path in _places(host):
        if isinstance(words, PermitryError):
            yield Finding("settings", False, str(words))
        elif words is not None:
            is_there = True
            yield Finding("settings", True, f"the hook is in `{path}`")
            yield from trials(host, words, Path.cwd())
            yield from _about_rules(host, parsed(tuple(words[words.index("hook") + 1 :])))
    if not is_there:
        yield Finding("settings", False, f"no hook is installed; see `permitry hook install {host.name}`")


def _about_rules(host: Host, given: argparse.Namespace | str) -> Iterator[Finding]:
    if isinstance(given, str):
        yield Finding("options", False, given)
        return
    tools = Origin(f"permitry:tools-{host.name}")
    try:
        origins = find_layers(Path.cwd(), shipped=(host.rules, tools.name))
        rules = load_rules([Origin(name) for name in given.rules] if given.rules is not None else origins)
    except PermitryError as error:
        yield Finding("rules", False, str(error))
        return
    yield Finding("rules", True, f"{len(rules.rules)} rules of {len(rules.files)} files")
    yield from unfit(host.name, rules, frozenset(load_rules([tools]).tools), given.ask)


def _show(found: Sequence[tuple[str, Finding]]) -> None:
    console = console_on(sys.stdout)
    if not console.is_terminal:
        console.width = max(console.width, 200)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("host", "check", "result", "what was found"):
        table.add_column(name, overflow="fold")
    for host, each in found:
        table.add_row(host, each.check, _SHOWN[each.is_well], Text(one_line(each.text)))
    console.print(table)
