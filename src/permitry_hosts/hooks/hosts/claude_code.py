"""Claude Code: PreToolUse and other hooks. Source: code.claude.com/docs/en/hooks.

ConfigChange comes when a file of settings has changed, before the session takes it over, and can refuse that.

UserPromptSubmit comes for what the user wrote, and also for results of tasks in the background, for prompts that the
model has scheduled, and for messages of other agents. Which it was, only the transcript says: `turnOrigin`.
"""

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import attrs

from permitry.files import open_regular
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
from permitry_hosts.hooks.host import Effect, Event, Host, Kind, Reply, Settings, Verb, optional, text_in

__all__ = ["HOST"]

_KINDS = {
    "PreToolUse": Kind.BEFORE,
    "PermissionRequest": Kind.PERMISSION,
    "PostToolUse": Kind.AFTER,
    "PostToolUseFailure": Kind.AFTER,
    "UserPromptSubmit": Kind.PROMPT,
    "ConfigChange": Kind.SETTINGS,
}
_SOURCES = ("user_settings", "project_settings", "local_settings")
# With `bypassPermissions` a question may be skipped and the call run; with `dontAsk` it is refused without our words.
_UNASKED = frozenset({"bypassPermissions", "dontAsk"})
# What starts Claude Code by its SDK is handed the question, or Claude Code refuses it: an editor shows it to its user.
# `sdk-cli` is not such a program: Claude Code sets it for `claude -p` and where its input is not a terminal, so that
# no human is there. What another word names (`mcp`, an action of GitHub, or one that is not known) is not either.
_ENTRIES = frozenset({"sdk-ts", "sdk-py"})
_MOST_READ = 8 * 1024 * 1024
_WRITES = ("Write", "Edit", "MultiEdit")


def _wrote(payload: Mapping[str, Any]) -> bool:
    # Codex has the same events, with a turn; Copilot gives a time, Cursor its version.
    others = {"turn_id", "timestamp", "cursor_version", "conversation_id"}
    return {"hook_event_name", "session_id", "transcript_path"} <= payload.keys() and not others & payload.keys()


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    event = read_event(payload, _KINDS, environ.get("CLAUDE_PROJECT_DIR"), turn="prompt_id")
    mode = optional(payload, "permission_mode")
    event = attrs.evolve(event, transcript=optional(payload, "transcript_path"))
    if event.kind is Kind.SETTINGS:
        return _read_settings(event, payload)
    if event.kind is Kind.PROMPT:
        return read_prompt(event, payload)
    owner = payload.get("mcp_server")
    call = read_call(event, payload, text_in(owner, "name") if isinstance(owner, Mapping) else None)
    is_attended = environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "1"
    is_shown = is_attended or environ.get("CLAUDE_CODE_ENTRYPOINT") in _ENTRIES
    can_ask = is_shown and mode not in _UNASKED
    call = attrs.evolve(call, is_attended=is_attended, can_ask=can_ask)
    if call.mode == "plan" and _is_plan(call, environ):
        return attrs.evolve(call, mode="default")
    return call


def _read_settings(event: Event, payload: Mapping[str, Any]) -> Event:
    """Return the event with the file that has changed, if it is one of those with settings."""
    if payload.get("source") not in _SOURCES:
        return event
    return attrs.evolve(event, changed=optional(payload, "file_path"))


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


def _proven(event: Event) -> Collection[tuple[str, str]]:
    """Return turn and text of the messages of the user in the transcript of a session.

    A text that something else sent in the same turn as well is not among them.
    """
    from permitry.messages.said import is_users_own  # noqa: PLC0415 -- most hooks hear nothing

    users, others = set[tuple[str, str]](), set[tuple[str, str]]()
    for entry in _entries_in(event.transcript):
        said = str(entry["promptId"]), _text(entry) or ""
        (users if is_users_own(entry) else others).add(said)
    return users - others


def _entries_in(transcript: str | None) -> Iterator[Mapping[str, Any]]:
    """Yield what is written as a message of the user in the last part of a transcript."""
    with contextlib.suppress(OSError), open_regular(transcript or "") as (stream, status):
        stream.seek(max(0, status.st_size - _MOST_READ))
        for line in stream.read(_MOST_READ).splitlines():
            with contextlib.suppress(ValueError, RecursionError):
                entry = json.loads(line) if b'"promptId"' in line else None
                if isinstance(entry, Mapping) and entry.get("type") == "user" and _text(entry) is not None:
                    yield entry


def _text(entry: Mapping[str, Any]) -> str | None:
    """Return the text of a message; None for results of tools."""
    match entry.get("message"):
        case {"content": str(text)}:
            return text
        case {"content": [*blocks]} if all(isinstance(each, Mapping) for each in blocks):
            types = [each.get("type") for each in blocks]
        case _:
            return None
    if "text" not in types or "tool_result" in types:
        return None
    return "\n".join(str(each.get("text")) for each in blocks if each.get("type") == "text")


def _write(effect: Effect, event: Event) -> Reply:
    if effect.verb is Verb.SILENCE:
        return Reply()
    if event.kind is Kind.PERMISSION:
        return decision_about(effect, event)
    if event.kind is Kind.SETTINGS:
        return Reply.of({"decision": "block", "reason": effect.text})
    return event_output(event, permissionDecision=effect.verb.value, permissionDecisionReason=effect.text)


def _entries(command: str, seconds: int) -> Mapping[str, Any]:
    # Without `onFailure` a hook that crashes lets the call run.
    hook = command_hook(command, seconds, onFailure="block")
    return {**hook_entries(hook, "PreToolUse", "PermissionRequest"), "ConfigChange": {"hooks": [hook]}}


_FILE = ".claude/settings.json"
_SWITCHES = [("disableAllHooks", True)]
# What Claude Code starts because settings say so.
_PROGRAMS = frozenset({
    "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "fileSuggestion", "gcpAuthRefresh", "hooks",
    "otelHeadersHelper", "proxyAuthHelper", "statusLine", "subagentStatusLine",
})  # fmt: skip
_MANAGED = {
    "linux": "/etc/claude-code/managed-settings.json",
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
}
_SETTINGS = Settings(
    _FILE, _FILE, _entries, reports=report_entries, switches=_SWITCHES, elsewhere={"settings.local.json": _SWITCHES},
    programs=_PROGRAMS, pinned="""claude --settings '{"disableAllHooks": false}'""", managed=_MANAGED,
    protected=(
        "/**/.claude/settings*.json", "/etc/claude-code/**", "/Library/Application Support/ClaudeCode/**",
    ),
)  # fmt: skip


_HEARS = frozenset({Kind.PROMPT, Kind.AFTER})
HOST = Host(
    "claude-code", _wrote, _read, _write, sample_call, _SETTINGS, hears=_HEARS, proven=_proven,
    asks=True, program="claude", least=(2, 1, 295),
)  # fmt: skip
