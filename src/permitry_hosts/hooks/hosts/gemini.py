"""Gemini CLI: BeforeTool, AfterTool. Source: @google/gemini-cli-core, docs/hooks/reference.md.

It has an answer `ask`, and without a terminal hangs at it; the payload does not say whether there is one. BeforeAgent
reports the user's words together with the files that they name, so that it is not heard.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs

from permitry.errors import CallError
from permitry_hosts.hooks.claude_like import content_of, hook_entries, quiet_hook, read_event, sample_call
from permitry_hosts.hooks.host import (
    PATIENT,
    Effect,
    Event,
    Host,
    Kind,
    Reply,
    Settings,
    Verb,
    arguments_in,
    optional,
    text_in,
)

__all__ = ["HOST"]

_KINDS = {"BeforeTool": Kind.BEFORE, "AfterTool": Kind.AFTER, "BeforeAgent": Kind.PROMPT}


def _wrote(payload: Mapping[str, Any]) -> bool:
    return payload.get("hook_event_name") in _KINDS and "session_id" in payload


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    event = read_event(payload, _KINDS, environ.get("GEMINI_PROJECT_DIR"))
    if event.kind is Kind.PROMPT:
        return event
    server, tool = _tool(payload)
    arguments, result = arguments_in(payload, "tool_input"), content_of(event, payload)
    return attrs.evolve(event, tool=tool, server=server, arguments=arguments, result=result)


def _tool(payload: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the server and the tool of a call, which `mcp_context` names."""
    name, about = text_in(payload, "tool_name"), payload.get("mcp_context")
    if about is None:
        return None, name
    if not isinstance(about, Mapping):
        raise CallError("the payload has no object `mcp_context`")
    return text_in(about, "server_name"), optional(about, "tool_name") or name


def _write(effect: Effect, event: Event) -> Reply:
    del event
    said = {"decision": effect.verb.value, "reason": effect.text}
    if effect.verb is Verb.DENY:
        # Its user is shown this one alone: it hides what makes a tool fail.
        return Reply.of({**said, "systemMessage": effect.text})
    return Reply.of(said) if effect.verb is Verb.ALLOW else Reply()


def _hook(event: str, command: str, seconds: int) -> Mapping[str, Any]:
    return hook_entries(quiet_hook(command, seconds), event, matcher=".*")


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    before = {"hook_event_name": "BeforeTool", "timestamp": "", "tool_name": "run_shell_command"}
    return {**sample_call(command, folder, session), **before}


_FILE = ".gemini/settings.json"
_SWITCHES = [
    ("hooksConfig.enabled", False), ("tools.enableHooks", False),
    ("hooksConfig.disabled", "permitry"), ("hooks.disabled", "permitry"),
]  # fmt: skip
_SETTINGS = Settings(
    _FILE, _FILE, partial(_hook, "BeforeTool"), reports=partial(_hook, "AfterTool"), switches=_SWITCHES, spare=PATIENT,
    protected=("/**/.gemini/settings.json", "/etc/gemini-cli/**"),
)  # fmt: skip


HOST = Host(
    "gemini", _wrote, _read, _write, _sample, _SETTINGS, folders=frozenset({"dir_path"}), hears=frozenset({Kind.AFTER})
)
