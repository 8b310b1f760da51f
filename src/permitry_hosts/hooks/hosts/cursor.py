"""Cursor: preToolUse, beforeShellExecution, beforeMCPExecution, beforeReadFile. Source: cursor.com/docs/agent/hooks.

It also runs the hooks in Claude Code's settings, with a payload of its own. An answer `ask` counts for some of the
events only, so that none is given.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.core.json_values import parse_json
from permitry.errors import CallError
from permitry_hosts.hooks.host import Effect, Event, Host, Kind, Reply, Settings, Verb, arguments_in, optional, text_in

__all__ = ["HOST"]

_AFTER = ("postToolUse", "afterShellExecution", "afterMCPExecution", "afterFileEdit")


def _wrote(payload: Mapping[str, Any]) -> bool:
    return {"hook_event_name", "conversation_id", "cursor_version"} <= payload.keys()


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    name, roots = text_in(payload, "hook_event_name"), payload.get("workspace_roots")
    workspace = environ.get("CURSOR_PROJECT_DIR") or (roots[0] if isinstance(roots, list) and roots else None)
    folder = optional(payload, "cwd") or workspace
    if not isinstance(workspace, str) or not isinstance(folder, str):
        raise CallError("the payload has no folder in `workspace_roots`")
    kind = Kind.PROMPT if name == "beforeSubmitPrompt" else Kind.AFTER if name in _AFTER else Kind.BEFORE
    session = text_in(payload, "conversation_id")
    event = Event(kind, name=name, session=session, folder=folder, workspace=workspace)
    if kind is not Kind.BEFORE:
        return event
    server, tool, arguments = _call(name, payload)
    call_id = optional(payload, "tool_use_id")
    return attrs.evolve(event, tool=tool, arguments=arguments, call_id=call_id, server=server)


def _call(name: str, payload: Mapping[str, Any]) -> tuple[str | None, str, Mapping[str, Any]]:
    """Return server, tool and arguments of a call."""
    match name:
        case "preToolUse" | "PreToolUse":
            return None, text_in(payload, "tool_name"), arguments_in(payload, "tool_input")
        case "beforeShellExecution":
            return None, "Shell", {"command": text_in(payload, "command")}
        case "beforeReadFile":
            return None, "Read", {"file_path": text_in(payload, "file_path")}
        case "beforeMCPExecution":
            value = parse_json(optional(payload, "tool_input") or "{}")
            arguments = arguments_in({"tool_input": value}, "tool_input")
            return text_in(payload, "mcp_server_name"), text_in(payload, "tool_name"), arguments
        case _:
            raise CallError(f"the event `{name}` is not known")


def _write(effect: Effect, event: Event) -> Reply:
    if event.kind is not Kind.BEFORE:
        return Reply()
    if effect.verb is Verb.DENY:
        return Reply.of({"permission": "deny", "user_message": effect.text, "agent_message": effect.text})
    # Nothing at all counts as a failure where the hook is to fail closed.
    return Reply.of({"permission": "allow"} if effect.verb is Verb.ALLOW else {})


def _entries(command: str, seconds: int) -> Mapping[str, Any]:
    hook = {"command": command, "timeout": seconds, "failClosed": True}
    return {"preToolUse": hook, "beforeMCPExecution": hook}


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    place = {"conversation_id": session, "cursor_version": "", "workspace_roots": [folder], "cwd": folder}
    call = {"tool_name": "Shell", "tool_input": {"command": command}, "tool_use_id": session}
    return {**place, "hook_event_name": "preToolUse", **call}


_SETTINGS = Settings(".cursor/hooks.json", ".cursor/hooks.json", _entries, frame={"version": 1})


_FOLDERS = frozenset({"path", "working_directory"})
HOST = Host("cursor", _wrote, _read, _write, _sample, _SETTINGS, folders=_FOLDERS, program="cursor-agent")
