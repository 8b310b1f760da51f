"""`permitry hook doctor`: look at the hooks that are installed, and try them out."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import attrs
from rich.text import Text

from permitry.cli.main import ExitCode
from permitry.cli.render import busy, print_table
from permitry.config.layers import find_layers
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.core.texts import one_line
from permitry.errors import PermitryError
from permitry_hosts.hooks.doctor import Finding, trials, unfit, version
from permitry_hosts.hooks.host import Host
from permitry_hosts.hooks.hosts import HOSTS, host_named
from permitry_hosts.hooks.install import installed, is_as_written
from permitry_hosts.hooks.managed import find_managed, is_pinned
from permitry_hosts.hooks.switches import check_switches

__all__ = ["examine"]

Parsed: TypeAlias = Callable[[tuple[str, ...]], argparse.Namespace | str]
Total: TypeAlias = Callable[[argparse.Namespace], float]

_SHOWN = {True: Text("fine", "green"), False: Text("PROBLEM", "bold red"), None: Text("note", "yellow")}


def examine(options: argparse.Namespace, parsed: Parsed, total: Total) -> ExitCode:
    """Print what is found about the hook of each host; the code says whether all is well.

    `parsed` gives the options in the words of a hook, or what is wrong with them; `total` how long it may take with
    them.
    """
    if not os.access(Path.cwd(), os.X_OK):
        raise PermitryError(f"`{Path.cwd()}` is in a folder that you cannot enter; run this in another one")
    with busy("trying out hooks"):
        found = [(host, each) for host in _hosts(options.host) for each in _findings(host_named(host), parsed, total)]
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
    for name in HOSTS if named is None else (named,):
        host = host_named(name)
        if named is not None or any(_find(host, path) is not None for path in _places(host)):
            yield name


def _places(host: Host) -> list[Path]:
    """Return the files of settings that a host reads here."""
    managed = find_managed(host)
    own = [Path.home() / host.settings.user, Path.cwd() / host.settings.project]
    return own if managed is None else [*own, managed]


def _find(host: Host, path: Path) -> list[str] | PermitryError | None:
    try:
        return installed(host, path)
    except PermitryError as error:
        return error


def _findings(host: Host, parsed: Parsed, total: Total) -> Iterator[Finding]:
    yield version(host)
    is_there = False
    for path in _places(host):
        words = _find(host, path)
        if isinstance(words, PermitryError):
            yield Finding("settings", False, str(words))
        elif words is not None:
            is_there = True
            yield from _about_hook(host, words, path, parsed, total)
    if not is_there:
        yield Finding("settings", False, f"no hook is installed; see `permitry hook install {host.name}`")
        return
    yield from _about_switches(host)


def _about_switches(host: Host) -> Iterator[Finding]:
    """Yield what would switch off here what the user has installed, or in a folder above."""
    here, pinned = _places(host), is_pinned(host)
    above = [folder / host.settings.project for folder in Path.cwd().parents]
    for path in (*here, *(path for path in above if path not in here)):
        try:
            check_switches(host, path)
        except PermitryError as error:
            counts = path in here or host.settings.is_inherited
            if pinned:
                yield Finding("settings", None, f"{error}; `{find_managed(host)}` keeps it on")
            elif counts:
                start = f"; or start it as `{host.settings.pinned}`" if host.settings.pinned else ""
                yield Finding("settings", False, f"{error}{start}")
            else:
                yield Finding("settings", None, f"for sessions that start there: {error}")


def _about_hook(host: Host, words: list[str], path: Path, parsed: Parsed, total: Total) -> Iterator[Finding]:
    given = parsed(tuple(words[words.index("hook") + 1 :]))
    if isinstance(given, str):
        yield Finding("options", False, given)
    # INVARIANT: no program is started that a project names in its settings.
    elif not is_as_written(host, path, words, total(given)):
        text = f"the hook in `{path}` is not as `permitry hook install {host.name}` writes it here; install it again"
        yield Finding("settings", False, text)
    else:
        yield Finding("settings", True, f"the hook is in `{path}`")
        yield from trials(host, words, Path.cwd())
        yield from _about_rules(host, given)


def _about_rules(host: Host, given: argparse.Namespace) -> Iterator[Finding]:
    tools = Origin(f"permitry:tools-{host.name}")
    try:
        origins = find_layers(Path.cwd(), shipped=(host.rules, tools.name))
        rules = load_rules([Origin(name) for name in given.rules] if given.rules is not None else origins)
    except PermitryError as error:
        yield Finding("rules", False, str(error))
        return
    yield Finding("rules", True, f"{len(rules.rules)} rules of {len(rules.files)} files")
    yield from unfit(host, rules, frozenset(load_rules([tools]).tools), given.ask)


def _show(found: Sequence[tuple[str, Finding]]) -> None:
    rows = [(host, each.check, _SHOWN[each.is_well], one_line(each.text)) for host, each in found]
    print_table(sys.stdout, ("host", "check", "result", "what was found"), rows)
