"""What a session has heard, kept from one hook to the next: messages of the user, and results of tools.

It is in a file next to the notes of the session: only what the rules in force may ask for, and without what looks like
a secret. All of it may be forgotten: behind a hook a session never knows all messages of its user.
"""

import contextlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from permitry.audit.redaction import redact_text, redacted
from permitry.config.heard import Wanted
from permitry.core.call import ToolCall
from permitry.errors import CallError
from permitry.files import open_regular, replace_file
from permitry.guard.session import Session
from permitry_hosts.hooks.host import Event, Host, Kind

__all__ = ["heard_file", "note", "recall"]

Line: TypeAlias = dict[str, Any]
"""A message (`turn`, `text`, `is_proven`), or a result (`tool`, `arguments`, `result`)."""

_MOST = 4 * 1024 * 1024
_LONGEST = 1024 * 1024
_WEEK = 7 * 24 * 3600.0
_END = ".heard"
# Hosts put such words in front of what is not the user's, such as a notification.
_TAG = re.compile(r"\s*<[A-Za-z]")


def heard_file(notes: Path) -> Path:
    """Return the file that belongs to the notes of a session."""
    return notes.with_suffix(_END)


def note(host: Host, event: Event, path: Path, wanted: Wanted) -> None:
    """Note a report of the host, if rules may ask for it; the notes of the session are locked.

    Raises: `OSError`.
    """
    line = _message(host, event, wanted) if event.kind is Kind.PROMPT else _result(event, wanted)
    if line is not None:
        _forget_old(path.parent)
        _write(path, [*_lines(path), line])


def _message(host: Host, event: Event, wanted: Wanted) -> Line | None:
    if not wanted.user or event.text is None or _TAG.match(event.text):
        return None
    return {"turn": event.turn, "text": redact_text(event.text), "is_proven": host.proven is None}


def _result(event: Event, wanted: Wanted) -> Line | None:
    try:
        call = ToolCall(event.tool, event.arguments, server=event.server)
    except CallError:
        return None
    # A tool without a server could be called like one of a server.
    if event.result is None or call.tool not in wanted.tools or call.server != event.server:
        return None
    arguments = call.to_dict()
    # INVARIANT: law 4. A value that a tool was given must not come from its result, so that all of them are needed.
    if redacted(arguments) != arguments:
        return None
    return {"tool": call.tool, "arguments": arguments, "result": redacted(event.result)}


def recall(host: Host, event: Event, session: Session, path: Path, wanted: Wanted) -> None:
    """Let a session hear what was noted, before a call is decided; the notes of the session are locked.

    Raises: `OSError`.
    """
    if not wanted:
        return
    # INVARIANT: law 4. A hook may have failed, or the session may be older than the hook.
    session.missed()
    lines = list(_lines(path))
    known = list(_settle(host, event, lines))
    if known != lines:
        _write(path, known)
    for line in known:
        if "text" not in line:
            with contextlib.suppress(CallError):
                session.returned(ToolCall(line["tool"], line["arguments"]), line["result"])
        elif line["is_proven"] is True:
            # What is granted counts for the turn of this call, whatever was noted of others.
            session.heard(line["text"], turn=session.turn)


def _settle(host: Host, event: Event, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines, with what the host now proves to be the user's; a message that it does not is left out.

    Of this very turn, and of the last message, it may not have written anything yet.
    """
    proven, lines = None, list(lines)
    open_turns = {event.turn, *[line["turn"] for line in lines if "text" in line][-1:]}
    for line in lines:
        if line.get("is_proven", True) is True or host.proven is None:
            yield line
            continue
        if proven is None:
            proven = {(turn, redact_text(text)) for turn, text in host.proven(event)}
        if (line["turn"], line["text"]) in proven:
            yield {**line, "is_proven": True}
        elif line["turn"] in open_turns:
            yield line


def _forget_old(folder: Path) -> None:
    """Remove what sessions heard that have heard nothing for a week."""
    for path in folder.glob(f"*{_END}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.lstat().st_mtime > _WEEK:
                path.unlink()


def _lines(path: Path) -> Iterator[Line]:
    """Yield what was noted, and can be read."""
    with contextlib.suppress(FileNotFoundError, ValueError), open_regular(path) as (stream, _):
        yield from (line for line in map(json.loads, stream) if _is_line(line))


def _is_line(line: object) -> bool:
    match line:
        case {"turn": str() | None, "text": str(), "is_proven": bool()} | {"tool": str(), "arguments": {}, "result": _}:
            return True
        case _:
            return False


def _write(path: Path, lines: Iterable[Line]) -> None:
    """Write the newest lines; one that is too long is left out."""
    kept: list[str] = []
    size = 0
    for text in (json.dumps(line) for line in reversed(list(lines))):
        if len(text) <= _LONGEST:
            size += len(text) + 1
            if size > _MOST:
                break
            kept.append(f"{text}\n")
    replace_file(path, "".join(reversed(kept)).encode())
