"""What several hosts have as Claude Code has it: events by their names, fields of a payload, answers and settings."""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.core.names import server_tool
from permitry.errors import CallError
from permitry_hosts.hooks.host import (
    Effect,
    Event,
    Kind,
    Reply,
    Verb,
    arguments_in,
    optional,
    returned,
    text_in,
)

__all__ = [
    "agent_in",
    "call_key",
    "command_hook",
    "content_of",
    "decision_about",
    "event_output",
    "hook_entries",
    "quiet_hook",
    "read_call",
    "read_event",
    "read_prompt",
    "report_entries",
    "sample_call",
]

_MODES = {"bypassPermissions": "yolo"}
"""The modes that have another name here."""


def read_event(
    payload: Mapping[str, Any], kinds: Mapping[str, Kind], workspace: str | None, *, turn: str = ""
) -> Event:
    """Return the event that a payload names, in the folder where the agent is; `turn` is the key of the turn.

    Raises: `CallError`, also for an event that is none of `kinds`.
    """
    name, folder = text_in(payload, "hook_event_name"), text_in(payload, "cwd")
    if name not in kinds:
        raise CallError(f"the event `{name}` is not known")
    session = text_in(payload, "session_id")
    return Event(
        kinds[name],
        name=name,
        session=session,
        folder=folder,
        workspace=workspace or folder,
        turn=optional(payload, turn),
    )


def read_prompt(event: Event, payload: Mapping[str, Any]) -> Event:
    """Return an event with what the user wrote; what is written to a sub-agent is another agent's.

    Raises: `CallError`.
    """
    is_others = optional(payload, "agent_id") is not None
    return attrs.evolve(event, text=None if is_others else optional(payload, "prompt"))


def read_call(event: Event, payload: Mapping[str, Any], owner: str | None = None) -> Event:
    """Return an event with its call, and its mode; `owner` is the server of the tool where the host names it.

    Raises: `CallError`.
    """
    mode = optional(payload, "permission_mode") or "default"
    server, tool = server_tool(text_in(payload, "tool_name"), owner)
    has_result = event.name == "PostToolUse"
    return attrs.evolve(
        event,
        tool=tool,
        arguments=arguments_in(payload, "tool_input"),
        call_id=call_key(payload),
        server=server,
        agent=agent_in(payload),
        result=returned(payload.get("tool_response")) if has_result else None,
        mode=_MODES.get(mode, mode),
    )


def agent_in(payload: Mapping[str, Any]) -> str:
    """Return the kind of the agent: `main` for the one that the user talks to, and for no other.

    Raises: `CallError`.
    """
    kind = optional(payload, "agent_type") or "main"
    return "sub-agent" if kind == "main" and optional(payload, "agent_id") else kind


def call_key(payload: Mapping[str, Any]) -> str | None:
    """Return the id of a call, with that of the sub-agent before it: an id may occur in several agents."""
    parts = optional(payload, "agent_id"), optional(payload, "tool_use_id")
    return None if parts[1] is None else "/".join(each for each in parts if each)


def decision_about(effect: Effect, event: Event) -> Reply:
    """Return what Claude Code and Codex are answered when they are about to ask the user for a permission."""
    if effect.verb not in (Verb.ALLOW, Verb.DENY):
        return Reply()
    message = {"message": effect.text} if effect.verb is Verb.DENY else {}
    return event_output(event, decision={"behavior": effect.verb.value, **message})


def event_output(event: Event, **output: object) -> Reply:
    """Return an answer to an event as Claude Code and Codex read it."""
    return Reply.of({"hookSpecificOutput": {"hookEventName": event.name, **output}})


def content_of(event: Event, payload: Mapping[str, Any]) -> object:
    """Return what the model is shown of a call that ran without an error; None for all else.

    As Gemini CLI and those made from it report results.
    """
    response = payload.get("tool_response")
    if event.kind is Kind.AFTER and isinstance(response, Mapping) and not response.get("error"):
        return returned(response.get("llmContent"))
    return None


def command_hook(command: str, seconds: int, **more: object) -> Mapping[str, Any]:
    """Return the entry of a command in a file of settings, with the seconds after which the host waits no longer."""
    return {"type": "command", "command": command, "timeout": seconds, **more}


def quiet_hook(command: str, seconds: int) -> Mapping[str, Any]:
    """Return the entry of a command for a host that starts it by bash, and waits in milliseconds.

    Bash reads no file at its start then: what that prints comes before the document, which some
    hosts take for a text, and run the call.
    """
    # Only the first shell of several reads `~/.bashrc` where its input is a socket.
    env = {"BASH_ENV": "", "SHLVL": "9"}
    return command_hook(command, seconds * 1000, name="permitry", env=env)


def hook_entries(hook: Mapping[str, Any], *events: str, matcher: str = "*") -> dict[str, Any]:
    """Return the entries of one hook for several events of every tool."""
    return {event: {"matcher": matcher, "hooks": [hook]} for event in events}


def report_entries(command: str, seconds: int) -> Mapping[str, Any]:
    """Return the entries for what calls returned and what the user wrote, of Claude Code and Codex."""
    hook = command_hook(command, seconds)
    return {**hook_entries(hook, "PostToolUse"), "UserPromptSubmit": {"hooks": [hook]}}


def sample_call(command: str, folder: str, session: str) -> dict[str, Any]:
    """Return a payload of Claude Code before it runs a command in its shell."""
    return {
        "session_id": session, "transcript_path": "/", "cwd": folder, "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": session,
        "tool_input": {"command": command},
    }  # fmt: skip
