"""What each host sends before it runs a command, as it was seen in November 2026, and what it is answered."""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs

__all__ = ["CAPTURED", "PAYLOADS", "Captured", "call", "command", "put"]

Payload: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str, ...]
_FOLDER = "/home/ann/project"
_CLAUDE: Payload = {"session_id": "s1", "transcript_path": "/t", "cwd": _FOLDER, "permission_mode": "default"}
_TEXT = "NO"
_SPECIFIC = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": _TEXT}


@attrs.frozen
class Captured:
    """A payload of a host before its shell runs the command `?`, and the places in it, each of them keys.

    `denied` is the answer by which the command must not run, for the reason `NO`; `silent` that which leaves the call
    to the host. `permits` says that a hook can let a call run, `has_folder` that the payload says where the agent is,
    apart from the folder of the project.
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


CAPTURED: Mapping[str, Captured] = {
    "claude-code": Captured(
        {
            **_CLAUDE, "prompt_id": "p1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "?", "description": "x"}, "tool_use_id": "toolu_1",
        },
        {"hookSpecificOutput": _SPECIFIC},
    ),
    "codex": Captured(
        {
            **_CLAUDE, "turn_id": "t1", "model": "m", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": "?"}, "tool_use_id": "k1",
        },
        {"hookSpecificOutput": _SPECIFIC},
        permits=False,
    ),
    "gemini": Captured(
        {
            "session_id": "s1", "transcript_path": "/t", "cwd": _FOLDER, "hook_event_name": "BeforeTool",
            "timestamp": "2026-11-20T04:20:02.557Z", "tool_name": "run_shell_command", "tool_input": {"command": "?"},
        },
        {"decision": "deny", "reason": _TEXT},
    ),
    "copilot": Captured(
        {
            "sessionId": "s1", "timestamp": 1795148853635, "cwd": _FOLDER, "toolName": "bash",
            "toolArgs": {"command": "?", "description": "x"},
        },
        {"permissionDecision": "deny", "permissionDecisionReason": _TEXT},
        tool=("toolName",),
        arguments=("toolArgs",),
        session=("sessionId",),
        event=("hookName",),
    ),
    "cursor": Captured(
        {
            "conversation_id": "s1", "generation_id": "g1", "model": "m", "hook_event_name": "preToolUse",
            "cursor_version": "1.0.32", "workspace_roots": [_FOLDER], "user_email": None, "transcript_path": None,
            "tool_name": "Shell", "tool_input": {"command": "?"}, "tool_use_id": "k1", "cwd": _FOLDER,
        },
        {"permission": "deny", "user_message": _TEXT, "agent_message": _TEXT},
        silent={},
        session=("conversation_id",),
    ),
    "cline": Captured(
        {
            "clineVersion": "", "hookName": "tool_call", "timestamp": "2026-11-20T04:29:47.515Z", "taskId": "s1",
            "workspaceRoots": [_FOLDER], "userId": "u", "agent_id": "agent_1", "parent_agent_id": None, "iteration": 1,
            "tool_call": {"id": "k1", "name": "run_commands", "input": {"commands": ["?"]}},
            "preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[]"}},
        },
        {"cancel": False, "overrideInput": {"commands": ["printf '%s\\n' NO >&2; exit 1"]}},
        silent={"cancel": False},
        tool=("tool_call", "name"),
        arguments=("tool_call", "input"),
        session=("taskId",),
        event=("hookName",),
        permits=False,
        has_folder=False,
    ),
    "opencode": Captured(
        {
            "ev": "tool.execute.before", "directory": _FOLDER,
            "input": {"tool": "bash", "sessionID": "s1", "callID": "k1"},
            "output": {"args": {"command": "?", "description": "x"}},
        },
        {"deny": _TEXT},
        tool=("input", "tool"),
        arguments=("output", "args"),
        session=("input", "sessionID"),
        event=("ev",),
        permits=False,
        has_folder=False,
    ),
}  # fmt: skip
PAYLOADS = {host: each.payload for host, each in CAPTURED.items()}


def put(payload: Payload, place: Place, value: object) -> Payload:
    """Return a payload with another value at a place."""
    key, *rest = place
    return {**payload, key: put(payload[key], tuple(rest), value) if rest else value}


def call(host: str, tool: str, arguments: Mapping[str, object]) -> Payload:
    """Return the payload of a host before it runs any tool."""
    captured = CAPTURED[host]
    return put(put(captured.payload, captured.tool, tool), captured.arguments, arguments)


def command(host: str, text: object) -> Payload:
    """Return the payload of a host before it runs a command, or what is there in place of its text."""
    payload: Payload = json.loads(json.dumps(PAYLOADS[host]).replace('"?"', json.dumps(text)))
    return payload
