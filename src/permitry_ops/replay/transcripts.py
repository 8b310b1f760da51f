"""Lines of recorded sessions: messages as they are, and in the transcripts of Claude Code.

Of an entry there, only what it shows to be the user's own words is heard.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.core.call import ToolCall
from permitry.core.names import server_tool
from permitry.errors import CallError
from permitry.messages import calls_in
from permitry.messages.results import RecordedResult, results_in
from permitry.messages.said import is_users_own, user_text

__all__ = ["Entry", "entry_of"]

_OF_OTHERS = ("isMeta", "isSidechain", "isCompactSummary")
_MODES = {"bypassPermissions": "yolo"}
_KEYS = {"sessionId", "leafUuid", "snapshot", "parentUuid"}


@attrs.frozen
class Entry:
    """What a line says, and its host; if `is_unsure`, it is not known who wrote a text."""

    text: str | None = None
    is_unsure: bool = False
    results: tuple[RecordedResult, ...] = ()
    calls: tuple[ToolCall | CallError, ...] = ()
    mode: str | None = None
    folder: str | None = None


def entry_of(line: object) -> Entry:
    """Return what a line says; an entry without a message says nothing. Raises: `CallError`."""
    if not isinstance(line, Mapping) or {"role", "name"} & line.keys() or not _is_of_transcript(line):
        calls = tuple(each.call for each in calls_in(line))
        return Entry(user_text(line), results=tuple(results_in(line)), calls=calls)
    message = line.get("message")
    if line.get("type") not in ("user", "assistant"):
        return Entry()
    if not isinstance(message, Mapping):
        raise CallError("an entry of a transcript without its `message`")
    if line["type"] == "user":
        entry = _from_user(line, {"role": "user", **message})
    else:
        entry = Entry(calls=tuple(_name(each.call) for each in calls_in({"role": "assistant", **message})))
    mode, folder = line.get("permissionMode"), line.get("cwd")
    if isinstance(mode, str) and mode:
        entry = attrs.evolve(entry, mode=_MODES.get(mode, mode))
    return attrs.evolve(entry, folder=folder) if str(folder).startswith("/") else entry


def _is_of_transcript(line: Mapping[str, Any]) -> bool:
    return isinstance(line.get("type"), str) and (bool(_KEYS & line.keys()) or {"uuid", "message"} <= line.keys())


def _from_user(entry: Mapping[str, Any], message: Mapping[str, Any]) -> Entry:
    results = tuple(results_in(message))
    structured = entry.get("toolUseResult")
    if len(results) == 1 and isinstance(structured, Mapping):
        # What the hooks are given as well.
        results = (attrs.evolve(results[0], value=structured),)
    text = user_text(message)
    if text is None or any(map(entry.get, _OF_OTHERS)):
        return Entry(results=results)
    return Entry(text, results=results) if is_users_own(entry) else Entry(is_unsure=True, results=results)


def _name(call: ToolCall | CallError) -> ToolCall | CallError:
    """Return a call under the name that the hook gives it: as a tool of its server."""
    if isinstance(call, CallError) or call.server is not None:
        return call
    server, tool = server_tool(call.name)
    return call if server is None else ToolCall(tool, call.arguments, call_id=call.call_id, server=server)
