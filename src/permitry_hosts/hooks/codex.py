"""Codex: PreToolUse, PermissionRequest, PostToolUse, UserPromptSubmit. Source: openai/codex, codex-rs/hooks/schema.

It has no answer `ask`, and runs a call that was answered so. A bare `allow` is not an answer either, except to a
PermissionRequest. The folder in a payload is the one that the model chose for the command. What is typed into a running
session with `write_stdin` reaches no hook. What an agent writes to a sub-agent comes as UserPromptSubmit as well.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.core.names import server_tool
from permitry.errors import CallError
from permitry_hosts.hooks.host import (
    MODES,
    PATIENT,
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
    returned,
    text_in,
)

__all__ = ["HOST"]

_KINDS = {
    "PreToolUse": Kind.BEFORE,
    "PermissionRequest": Kind.PERMISSION,
    "PostToolUse": Kind.AFTER,
    "UserPromptSubmit": Kind.PROMPT,
}


def _wrote(payload: Mapping[str, Any]) -> bool:
    return {"hook_event_name", "turn_id", "model"} <= payload.keys()


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    name, folder = text_in(payload, "hook_event_name"), text_in(payload, "cwd")
    if name not in _KINDS:
        raise CallError(f"the event `{name}` is not known")
    event = Event(
        _KINDS[name],
        name=name,
        session=text_in(payload, "session_id"),
        folder=folder,
        workspace=environ["PWD"],
        turn=optional(payload, "turn_id"),
    )
    if event.kind is Kind.PROMPT:
        # What is written to a sub-agent is another agent's.
        return attrs.evolve(event, text=None if optional(payload, "agent_id") else optional(payload, "prompt"))
    mode = optional(payload, "permission_mode") or "default"
    server, tool = server_tool(text_in(payload, "tool_name"))
    return attrs.evolve(
        event,
        tool=tool,
        arguments=arguments_in(payload, "tool_input"),
        call_id=call_key(payload, "tool_use_id"),
        server=server,
        agent=agent_in(payload),
        result=returned(payload.get("tool_response")) if event.kind is Kind.AFTER else None,
        mode=MODES.get(mode, mode),
    )


def _write(effect: Effect, event: Event) -> Reply:
    if event.kind is Kind.PERMISSION:
        return decision_about(effect, event)
    if effect.verb is Verb.DENY:
        return event_output(event, permissionDecision="deny", permissionDecisionReason=effect.text)
    return Reply()


def _entries(command: str, seconds: int) -> Mapping[str, Any]:
    hook = {"type": "command", "command": command, "timeout": seconds}
    return {event: {"matcher": "*", "hooks": [hook]} for event in ("PreToolUse", "PermissionRequest")}


def _reports(command: str, seconds: int) -> Mapping[str, Any]:
    hook = {"type": "command", "command": command, "timeout": seconds}
    return {"PostToolUse": {"matcher": "*", "hooks": [hook]}, "UserPromptSubmit": {"hooks": [hook]}}


_NOTE = "Codex runs no hook before you have trusted it: start it, and look at `/hooks`."
# The second is an older name of the first.
_ELSEWHERE = {"config.toml": [("features.hooks", False), ("features.codex_hooks", False)]}
_FILE = ".codex/hooks.json"
_SETTINGS = Settings(
    _FILE, _FILE, _entries, reports=_reports, note=_NOTE, elsewhere=_ELSEWHERE, spare=PATIENT,
    pinned="codex -c features.hooks=true", is_inherited=True,
)  # fmt: skip


HOST = Host(
    "codex", _wrote, _read, _write, _SETTINGS, rules="permitry:hooks-codex", folders=frozenset({"workdir", "dir_path"}),
    hears=frozenset({Kind.PROMPT, Kind.AFTER}),
)  # fmt: skip
