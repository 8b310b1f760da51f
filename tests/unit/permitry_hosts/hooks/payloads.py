"""What each host sends before it runs a command, as it was seen in November 2026, and what it is answered."""

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import attrs

__all__ = ["CLAUDE", "FOLDER", "SPECIFIC", "Captured", "as_text", "call", "captured", "command", "put", "report_result"]

Payload: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, ...]
FOLDER = "/home/ann/project"
CLAUDE: Payload = {"session_id": "s1", "transcript_path": "/t", "cwd": FOLDER, "permission_mode": "default"}
SPECIFIC = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "NO"}


@attrs.frozen
class Captured:
    """A payload of a host before its shell runs the command `?`, and the places in it, each of them keys.

    `denied` is the answer by which the command must not run, for the reason `NO`; `silent` that which leaves the call
    to the host. `permits` says that a hook can let a call run, `has_folder` that the payload says where the agent is,
    apart from the folder of the project.

    `prompt` is what another payload has that reports a message, and `turn` its key with the turn; `after` returns what
    one has that reports the result of a call, and `own` is a tool whose results count.
    """

    payload: Payload
    denied: Payload
    silent: Payload | None = None
    tool: Place = ("tool_name",)
    arguments: Place = ("tool_input",)
    session: Place = ("session_id",)
    event: Place = ("hook_event_name",)
    permits: bool = True
    has_folder: bool = True
    prompt: Payload | None = None
    turn: str | None = None
    after: Callable[[object], Payload] | None = None
    own: str = "contacts"


def as_text(result: object) -> str:
    """Return a result as hosts report it that report texts alone."""
    return result if isinstance(result, str) else json.dumps(result)


def report_result(result: object) -> Payload:
    """Return what a payload has that reports a result as Claude Code does."""
    return {"hook_event_name": "PostToolUse", "tool_response": result}


def captured(host: str) -> Captured:
    """Return what a host sends and is answered, which its own test says."""
    found: Captured = importlib.import_module(f"{__package__}.hosts.test_{host.replace('-', '_')}").CAPTURED
    return found


def put(payload: Payload, place: Place, value: object) -> Payload:
    """Return a payload with another value at a place."""
    key, *rest = place
    return {**payload, key: put(payload[key], tuple(rest), value) if rest else value}


def call(host: str, tool: str, arguments: Mapping[str, object]) -> Payload:
    """Return the payload of a host before it runs any tool."""
    found = captured(host)
    return put(put(found.payload, found.tool, tool), found.arguments, arguments)


def command(host: str, text: object) -> Payload:
    """Return the payload of a host before it runs a command, or what is there in place of its text."""
    payload: Payload = json.loads(json.dumps(captured(host).payload).replace('"?"', json.dumps(text)))
    return payload
