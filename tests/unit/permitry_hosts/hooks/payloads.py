"""What each host sends before it runs a command, as it was seen in November 2026."""

from typing import Any

__all__ = ["DENIED", "PAYLOADS", "command"]

Payload = dict[str, Any]
_FOLDER = "/home/ann/project"
_CLAUDE: Payload = {"session_id": "s1", "transcript_path": "/t", "cwd": _FOLDER, "permission_mode": "default"}

PAYLOADS: dict[str, Payload] = {
    "claude-code": {
        **_CLAUDE, "prompt_id": "p1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "?", "description": "x"}, "tool_use_id": "toolu_1",
    },
    "codex": {
        **_CLAUDE, "turn_id": "t1", "model": "m", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "?"}, "tool_use_id": "k1",
    },
    "gemini": {
        "session_id": "s1", "transcript_path": "/t", "cwd": _FOLDER, "hook_event_name": "BeforeTool",
        "timestamp": "2026-11-20T04:20:02.557Z", "tool_name": "run_shell_command", "tool_input": {"command": "?"},
    },
    "copilot": {
        "sessionId": "s1", "timestamp": 1795148853635, "cwd": _FOLDER, "toolName": "bash",
        "toolArgs": {"command": "?", "description": "x"},
    },
    "cursor": {
        "conversation_id": "s1", "generation_id": "g1", "model": "m", "hook_event_name": "preToolUse",
        "cursor_version": "1.0.32", "workspace_roots": [_FOLDER], "user_email": None, "transcript_path": None,
        "tool_name": "Shell", "tool_input": {"command": "?"}, "tool_use_id": "k1", "cwd": _FOLDER,
    },
    "cline": {
        "clineVersion": "", "hookName": "tool_call", "timestamp": "2026-11-20T04:29:47.515Z", "taskId": "s1",
        "workspaceRoots": [_FOLDER], "userId": "u", "agent_id": "agent_1", "parent_agent_id": None, "iteration": 1,
        "tool_call": {"id": "k1", "name": "run_commands", "input": {"commands": ["?"]}},
        "preToolUse": {"toolName": "run_commands", "parameters": {"commands": "[]"}},
    },
    "opencode": {
        "ev": "tool.execute.before", "directory": _FOLDER,
        "input": {"tool": "bash", "sessionID": "s1", "callID": "k1"},
        "output": {"args": {"command": "?", "description": "x"}},
    },
}  # fmt: skip
"""One payload a host; see `command`."""


def command(host: str, text: object) -> Payload:
    """Return the payload of a host before it runs a command, or what is there in place of its text."""
    payload = PAYLOADS[host]
    match host:
        case "copilot":
            return {**payload, "toolArgs": {**payload["toolArgs"], "command": text}}
        case "cline":
            return {**payload, "tool_call": {**payload["tool_call"], "input": {"commands": [text]}}}
        case "opencode":
            return {**payload, "output": {"args": {"command": text}}}
        case _:
            return {**payload, "tool_input": {**payload["tool_input"], "command": text}}


_TEXT = "NO"
_SPECIFIC = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": _TEXT}

DENIED: dict[str, Payload] = {
    "claude-code": {"hookSpecificOutput": _SPECIFIC},
    "codex": {"hookSpecificOutput": _SPECIFIC},
    "gemini": {"decision": "deny", "reason": _TEXT},
    "copilot": {"permissionDecision": "deny", "permissionDecisionReason": _TEXT},
    "cursor": {"permission": "deny", "user_message": _TEXT, "agent_message": _TEXT},
    "cline": {"cancel": False, "overrideInput": {"commands": ["printf '%s\\n' NO >&2; exit 1"]}},
    "opencode": {"deny": _TEXT},
}
"""How each host is answered that a command must not run, for the reason `NO`."""
