"""Qwen Code: PreToolUse, PostToolUse. Source: @qwen-code/qwen-code, docs/users/features/hooks.md.

Of several hooks the last decision counts, unless one says in a document, with exit code 0, that the
agent does not go on. So is said where the hook fails, too, which loses what went wrong. Whatever
bash prints before the document lets the call run, so that the settings keep it from reading files
at its start. UserPromptSubmit also comes for each result of a call, so that it is not heard.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs

from permitry_hosts.hooks.claude_like import (
    content_of,
    hook_entries,
    quiet_hook,
    read_call,
    read_event,
    sample_call,
)
from permitry_hosts.hooks.host import (
    PATIENT,
    Effect,
    Event,
    Host,
    Kind,
    Reply,
    Settings,
    Verb,
)

__all__ = ["HOST"]

_KINDS = {"PreToolUse": Kind.BEFORE, "PostToolUse": Kind.AFTER, "UserPromptSubmit": Kind.PROMPT}


def _wrote(payload: Mapping[str, Any]) -> bool:
    # Claude Code gives no time, Copilot no transcript, and Codex a turn.
    keys = {"hook_event_name", "session_id", "transcript_path", "timestamp"}
    is_known = keys <= payload.keys() and "turn_id" not in payload
    return is_known and payload["hook_event_name"] in _KINDS


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    event = read_event(payload, _KINDS, environ.get("QWEN_PROJECT_DIR"), turn="prompt_id")
    if event.kind is Kind.PROMPT:
        return event
    return attrs.evolve(read_call(event, payload), result=content_of(event, payload))


def _write(effect: Effect, event: Event) -> Reply:
    is_refused = effect.verb is Verb.DENY and event.kind is Kind.BEFORE
    return _refuse(effect.text) if is_refused else Reply()


def _refuse(text: str) -> Reply:
    about = {"permissionDecision": "deny", "permissionDecisionReason": text}
    output = {"hookEventName": "PreToolUse", **about}
    return Reply.of({"continue": False, "stopReason": text, "hookSpecificOutput": output})


def _hook(event: str, command: str, seconds: int) -> Mapping[str, Any]:
    # A number from 1000 on is taken for milliseconds.
    return hook_entries(quiet_hook(command, seconds), event)


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    sample = sample_call(command, folder, session)
    return {**sample, "timestamp": "", "tool_name": "run_shell_command"}


_FILE = ".qwen/settings.json"
_NOTE = (
    "a project can switch this hook off, in settings and in `.env`; so that none can: "
    "`permitry hook install qwen --managed` as root, "
    "and `export QWEN_CODE_SAFE_MODE=0 QWEN_CODE_SIMPLE=0` in your shell"
)
_MANAGED = {
    "linux": "/etc/qwen-code/settings.json",
    "darwin": "/Library/Application Support/QwenCode/settings.json",
}
_PROTECTED = (
    "/**/.qwen/settings.json", "/**/.qwen/.env",
    "/etc/qwen-code/**", "/Library/Application Support/QwenCode/**",
)  # fmt: skip
_OR_BLOCK = f" || echo '{_refuse('permitry did not permit this').out}' || exit 2"
_SETTINGS = Settings(
    _FILE, _FILE, partial(_hook, "PreToolUse"), reports=partial(_hook, "PostToolUse"),
    or_block=_OR_BLOCK, spare=PATIENT, note=_NOTE, switches=[("disableAllHooks", True)],
    managed=_MANAGED, protected=_PROTECTED,
)  # fmt: skip


HOST = Host(
    "qwen", _wrote, _read, _write, _sample, _SETTINGS, folders=frozenset({"directory", "path"}),
    hears=frozenset({Kind.AFTER}), takes_permissions=False,
)  # fmt: skip
