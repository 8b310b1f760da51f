"""Conditions that permit calls like one that was approved, the narrowest first."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, relpath
from typing import TypeAlias

from permitry.actions.derive.runners import program_of
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry
from permitry.actions.programs.running import wrapper_of
from permitry.core.action import Action, Connect, Run, Touch
from permitry.core.call import ToolCall

__all__ = ["Conditions", "choices", "command_choices", "is_one_tool", "narrowest", "widest"]

Conditions: TypeAlias = Mapping[str, object]
"""Keys of a rule: `tools`, and `when` with a table of conditions."""

_PLAIN = re.compile(r"[\w./@:+=,-]+")
_WORD = re.compile(r"[A-Za-z][\w:.-]*")


def narrowest(call: ToolCall, actions: Iterable[Action], workspace: str | None = None) -> tuple[Conditions, ...]:
    """Return the keys of the rules that permit calls like this one; none where an action has no safe pattern.

    Of a program that only reads, that is its sub-command (`git log *`), of others the words before the first option;
    of a path the folder (`src/**`); of an address the host.
    """
    found = [(each, list(choices(call, each, workspace))) for each in actions]
    if not all(known for _, known in found):
        return ()
    return _join(known[-1] if _only_reads(each) else known[:2][-1] for each, known in found)


def widest(call: ToolCall, actions: Iterable[Action], workspace: str | None = None) -> tuple[Conditions, ...]:
    """Return the keys of the widest rules for calls like this one, such as all of a sub-command (`git add *`)."""
    found = [list(choices(call, each, workspace)) for each in actions]
    return _join(known[-1] for known in found) if all(found) else ()


def choices(call: ToolCall, action: Action, workspace: str | None = None) -> Iterator[Conditions]:
    """Yield the keys of rules that permit an action, the narrowest first: each permits all that those before it do."""
    match action:
        case Run():
            yield from ({"when": {"command": [each]}} for each in command_choices(action))
        case Touch() if is_one_tool(call.tool):
            for each in _path_choices(action, workspace):
                yield {"tools": [call.tool], "when": {"path": [each], "access": [action.access.value]}}
        case Connect(host=str() as host, is_certain=True) if is_one_tool(call.tool):
            yield {"tools": [call.tool], "when": {"host": [host if action.scheme == "https" else action.text]}}


def command_choices(run: Run) -> Iterator[str]:
    """Yield patterns for a command: all its words, then fewer of those before its first option, with any others.

    Only all words of what changes its arguments, such as `rm`, or runs another program; the name alone only of what
    reads, or runs code of the workspace, and has no sub-commands.
    """
    plain = _words_before_open(run)
    if len(plain) == len(run.words):
        yield " ".join(plain)
    if not plain or wrapper_of(program_of(run.words)) is not None:
        return
    known = record_of(program_of(run.words))
    if known.runs_nothing and known.does:
        return
    named = [plain[0], *itertools.takewhile(_WORD.fullmatch, plain[1:])]
    yield from (" ".join(named[:end]) + " *" for end in range(len(named), 1, -1))
    if known.is_known and _has_one_use(known, run):
        yield f"{named[0]} *"


def _words_before_open(run: Run) -> list[str]:
    known = itertools.takewhile(lambda word: not (word.is_open or word.is_glob or word.is_home), run.words)
    return list(itertools.takewhile(_is_plain, (word.text for word in known)))


def _has_one_use(known: Entry, run: Run) -> bool:
    is_tool = set(known.does) == {"code"} and not known.code
    return (run.doubt is None or is_tool) and not (known.commands or known.names_behind or known.views)


def _only_reads(action: Action) -> bool:
    return isinstance(action, Run) and (action.doubt is None or action.looks)


def _path_choices(touch: Touch, workspace: str | None) -> Iterator[str]:
    place = touch.place
    if workspace is None or not place.is_certain or len(place.names) != 1:
        return
    name = relpath(place.names[0], workspace)
    if name.startswith("..") or name == "." or not _is_plain(name):
        return
    if not place.is_tree:
        yield name
    folder = name if place.is_tree else dirname(name)
    while folder:
        yield f"{folder}/**"
        folder = dirname(folder)


def is_one_tool(name: str) -> bool:
    """Return whether `tools` with this name means that tool only: a server may call one `*`."""
    return not (name.startswith("@") or "*" in name or "?" in name)


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None


def _join(found: Iterable[Conditions]) -> tuple[Conditions, ...]:
    tables = list({repr(each): each for each in found}.values())
    commands: list[object] = []
    for each in tables:
        when = each["when"]
        if isinstance(when, Mapping) and "command" in when:
            commands += when["command"]
    rest = [each for each in tables if "tools" in each]
    return (*([{"when": {"command": commands}}] if commands else []), *rest)
