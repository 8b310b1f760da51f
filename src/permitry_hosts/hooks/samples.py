"""A payload of each host, as it writes one before it runs a command in its shell."""

from collections.abc import Mapping
from typing import Any

__all__ = ["sample"]


def sample(host: str, command: str, folder: str, session: str) -> Mapping[str, Any]:
    """Return the payload of a host for one command.

    Raises: `LookupError` for a host that is not known.
    """
    shell = {"tool_input": {"command": command}, "tool_use_id": session}
    place = {"session_id": session, "transcript_path": "/", "cwd": folder}
    before = {**place, "hook_event_name": "PreToolUse", "permission_mode": "default", "tool_name": "Bash", **shell}
    cursor = {"conversation_id": session, "cursor_version": "", "workspace_roots": [folder]}
    cline = {"clineVersion": "", "hookName": "tool_call", "taskId": session, "workspaceRoots": [folder]}
    names = {"tool": "bash", "sessionID": session, "callID": session}
    payloads: dict[str, dict[str, Any]] = {
        "claude-code": before,
        "codex": {**before, "turn_id": session, "model": "none"},
        "gemini": {**before, "hook_event_name": "BeforeTool", "timestamp": "", "tool_name": "run_shell_command"},
        "copilot": {
            "sessionId": session, "timestamp": 0, "cwd": folder, "toolName": "bash", "toolArgs": {"command": command},
        },
        "cursor": {**cursor, "hook_event_name": "preToolUse", "cwd": folder, "tool_name": "Shell", **shell},
        "cline": {**cline, "tool_call": {"id": session, "name": "run_commands", "input": {"commands": [command]}}},
        "opencode": {
            "ev": "tool.execute.before", "directory": folder, "input": names, "output": {"args": {"command": command}},
        },
    }  # fmt: skip
    return payloads[host]
