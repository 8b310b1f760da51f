"""Codex: PreToolUse, PermissionRequest, PostToolUse, UserPromptSubmit. Source: openai/codex, codex-rs/hooks/schema.

It has no answer `ask`, and runs a call that was answered so. A bare `allow` is not an answer either, except to a
PermissionRequest. The folder in a payload is the one that the model chose for the command. What is typed into a running
session with `write_stdin` reaches no hook. What an agent writes to a sub-agent comes as UserPromptSubmit as well.
"""

from collections.abc import Mapping
from typing import Any

from permitry_hosts.hooks.claude_like import (
    command_hook,
    decision_about,
    event_output,
    hook_entries,
    read_call,
    read_event,
    read_prompt,
    report_entries,
    sample_call,
)
from permitry_hosts.hooks.host import PATIENT, Effect, Event, Host, Kind, Reply, Settings, Verb

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
    event = read_event(payload, _KINDS, environ["PWD"], turn="turn_id")
    return read_prompt(event, payload) if event.kind is Kind.PROMPT else read_call(event, payload)


def _write(effect: Effect, event: Event) -> Reply:
    if event.kind is Kind.PERMISSION:
        reply = decision_about(effect, event)
    elif effect.verb is Verb.DENY:
        reply = event_output(event, permissionDecision="deny", permissionDecisionReason=effect.text)
    else:
        return Reply()
    return reply.refuse(effect.text) if effect.verb is Verb.DENY else reply


def _entries(command: str, seconds: int) -> Mapping[str, Any]:
    return hook_entries(command_hook(command, seconds), "PreToolUse", "PermissionRequest")


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    return {**sample_call(command, folder, session), "turn_id": session, "model": "none"}


_NOTE = "Codex runs no hook before you have trusted it: start it, and look at `/hooks`."
# The second is an older name of the first.
_ELSEWHERE = {"config.toml": [("features.hooks", False), ("features.codex_hooks", False)]}
_FILE = ".codex/hooks.json"
_SETTINGS = Settings(
    _FILE, _FILE, _entries, reports=report_entries, note=_NOTE, elsewhere=_ELSEWHERE, spare=PATIENT,
    pinned="codex -c features.hooks=true", is_inherited=True,
    managed=dict.fromkeys(("linux", "darwin"), "/etc/codex/requirements.toml"),
    protected=(
        "/**/.codex/hooks.json", "/**/.codex/config.toml", "/**/.agents/hooks.json", "/etc/codex/**",
    ),
)  # fmt: skip


HOST = Host(
    "codex", _wrote, _read, _write, _sample, _SETTINGS,
    rules="permitry:hooks-codex", folders=frozenset({"workdir", "dir_path"}),
    hears=frozenset({Kind.PROMPT, Kind.AFTER}), unseen=frozenset({"write_stdin"}),
)  # fmt: skip
