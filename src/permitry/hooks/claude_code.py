"""Claude Code: PreToolUse, PermissionRequest, PostToolUse, UserPromptSubmit. Source: code.claude.com/docs/en/hooks."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import attrs

from permitry.errors import CallError
from permitry.hooks.host import (
    MODES,
    Effect,
    Event,
    Host,
    Kind,
    Reply,
    Settings,
    Verb,
    agent_in,
    arguments_in,
    call_key,
    decision_about,
    event_output,
    optional,
    server_tool,
    text_in,
)

__all__ = ["HOST"]

_KINDS = {
    "PreToolUse": Kind.BEFORE,
    "PermissionRequest": Kind.PERMISSION,
    "PostToolUse": Kind.AFTER,
    "PostToolUseFailure": Kind.AFTER,
    "UserPromptSubmit": Kind.PROMPT,
}
# With `bypassPermissions` a question may be skipped and the call run; with `dontAsk` it is refused without our words.
_UNASKED = frozenset({"bypassPermissions", "dontAsk"})
_WRITES = ("Write", "Edit", "MultiEdit")


def _wrote(payload: Mapping[str, Any]) -> bool:
    # Codex has the same events, with a turn; Copilot gives a time, Cursor its version.
    others = {"turn_id", "timestamp", "cursor_version", "conversation_id"}
    return {"hook_event_name", "session_id", "transcript_path"} <= payload.keys() and not others & payload.keys()


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    name, folder = text_in(payload, "hook_event_name"), text_in(payload, "cwd")
    if name not in _KINDS:
        raise CallError(f"the event `{name}` is not known")
    workspace, mode = environ.get("CLAUDE_PROJECT_DIR") or folder, optional(payload, "permission_mode") or "default"
    attended = environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "1"
    event = Event(_KINDS[name], name=name, session=text_in(payload, "session_id"), folder=folder, workspace=workspace)
    if event.kind is Kind.PROMPT:
        return event
    arguments = arguments_in(payload, "tool_input")
    owner = payload.get("mcp_server")
    server, tool = server_tool(
        text_in(payload, "tool_name"), text_in(owner, "name") if isinstance(owner, Mapping) else None
    )
    call = attrs.evolve(
        event,
        tool=tool,
        arguments=arguments,
        call_id=call_key(payload, "tool_use_id"),
        server=server,
        agent=agent_in(payload),
        mode=MODES.get(mode, mode),
        is_attended=attended,
        can_ask=attended and mode not in _UNASKED,
    )
    return attrs.evolve(call, mode="default") if mode == "plan" and _is_plan(call, environ) else call


def _is_plan(event: Event, environ: Mapping[str, str]) -> bool:
    """Return whether a call writes the plan, which plan mode is for."""
    path, homes = event.arguments.get("file_path"), (environ.get("HOME") or event.workspace, event.workspace)
    is_write = event.server is None and event.tool in _WRITES
    return (
        is_write
        and isinstance(path, str)
        and path.endswith(".md")
        and PurePath(path).parent in (PurePath(home, ".claude", "plans") for home in homes)
    )


def _write(effect: Effect, event: Event) -> Reply:
    if effect.verb is Verb.SILENCE:
        return Reply()
    if event.kind is Kind.PERMISSION:
        return decision_about(effect, event)
    return event_output(event, permissionDecision=effect.verb.value, permissionDecisionReason=effect.text)


def _entries(command: str, seconds: int) -> Mapping[str, Any]:
    # Without `onFailure` a hook that crashes lets the call run.
    hook = {"type": "command", "command": command, "timeout": seconds, "onFailure": "block"}
    return {event: {"matcher": "*", "hooks": [hook]} for event in ("PreToolUse", "PermissionRequest")}


_FILE = ".claude/settings.json"
_SWITCHES = [("disableAllHooks", True)]
_SETTINGS = Settings(_FILE, _FILE, _entries, switches=_SWITCHES, elsewhere={"settings.local.json": _SWITCHES})


HOST = Host("claude-code", _wrote, _read, _write, _SETTINGS)
