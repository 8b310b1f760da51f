"""GitHub Copilot CLI: preToolUse, permissionRequest, postToolUse. Source: github/docs, reference/hooks-reference.md.

It also runs the hooks in Claude Code's settings, with a payload of its own. It does not say who wrote a prompt, so that
none is heard.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.core.json_values import parse_json
from permitry.errors import CallError
from permitry_hosts.hooks.claude_like import read_event
from permitry_hosts.hooks.host import PATIENT, Effect, Event, Host, Kind, Reply, Settings, Verb, arguments_in, text_in

__all__ = ["HOST"]

_KINDS = {
    "preToolUse": Kind.BEFORE,
    "permissionRequest": Kind.PERMISSION,
    "postToolUse": Kind.AFTER,
    "userPromptSubmitted": Kind.PROMPT,
}
_CLAUDE = {"PreToolUse": Kind.BEFORE, "PostToolUse": Kind.AFTER, "UserPromptSubmit": Kind.PROMPT}


def _wrote(payload: Mapping[str, Any]) -> bool:
    if {"sessionId", "timestamp", "cwd"} <= payload.keys():
        return True
    # The form for hooks that are written for Claude Code, with its names of tools.
    keys = {"session_id", "timestamp", "cwd", "hook_event_name"}
    return keys <= payload.keys() and str(payload["hook_event_name"]) in _CLAUDE and "transcript_path" not in payload


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    folder = text_in(payload, "cwd")
    workspace = environ.get("COPILOT_PROJECT_DIR") or folder
    if "hook_event_name" in payload:
        return _claude_like(payload, workspace)
    name = payload.get("hookName", "postToolUse" if "toolResult" in payload else "preToolUse")
    if "prompt" in payload and "toolName" not in payload:
        name = "userPromptSubmitted"
    if name not in _KINDS:
        raise CallError(f"the event `{name}` is not known")
    event = Event(_KINDS[name], name=name, session=text_in(payload, "sessionId"), folder=folder, workspace=workspace)
    if event.kind is Kind.PROMPT:
        return event
    given = payload.get("toolArgs", payload.get("toolInput"))
    # Some versions give the arguments as JSON text.
    arguments = {"toolArgs": parse_json(given) if isinstance(given, str) else given}
    # Without a terminal a question is answered with no.
    return attrs.evolve(
        event,
        tool=text_in(payload, "toolName"),
        arguments=arguments_in(arguments, "toolArgs"),
        result=_result(payload.get("toolResult")),
        can_ask=True,
    )


def _result(result: object) -> object:
    if isinstance(result, Mapping) and result.get("resultType") == "success":
        return result.get("textResultForLlm")
    return None


def _claude_like(payload: Mapping[str, Any], workspace: str) -> Event:
    event = read_event(payload, _CLAUDE, workspace)
    if event.kind is Kind.PROMPT:
        return event
    tool, arguments = text_in(payload, "tool_name"), arguments_in(payload, "tool_input")
    return attrs.evolve(event, tool=tool, arguments=arguments, names="claude-code", can_ask=True)


def _write(effect: Effect, event: Event) -> Reply:
    if effect.verb is Verb.SILENCE:
        return Reply()
    if event.kind is Kind.PERMISSION:
        # Asked, the host asks: it is about to do so.
        is_asked = effect.verb is Verb.ASK
        return Reply() if is_asked else Reply.of({"behavior": effect.verb.value, "message": effect.text})
    return Reply.of({"permissionDecision": effect.verb.value, "permissionDecisionReason": effect.text})


def _entries(command: str, seconds: int) -> Mapping[str, Any]:
    hook = {"type": "command", "bash": command, "timeoutSec": seconds}
    return {"preToolUse": hook, "permissionRequest": hook}


def _reports(command: str, seconds: int) -> Mapping[str, Any]:
    return {"postToolUse": {"type": "command", "bash": command, "timeoutSec": seconds}}


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    call = {"toolName": "bash", "toolArgs": {"command": command}}
    return {"sessionId": session, "timestamp": 0, "cwd": folder, **call}


_FILES = (".copilot/hooks/permitry.json", ".github/hooks/permitry.json")
_SWITCH = [("disableAllHooks", True)]
_ELSEWHERE = ("../copilot/settings.json", "../copilot/settings.local.json", "../../.claude/settings.json")
_SETTINGS = Settings(
    *_FILES, _entries, _reports, {"version": 1}, switches=_SWITCH, spare=PATIENT,
    elsewhere=dict.fromkeys(_ELSEWHERE, _SWITCH),
    protected=(
        "/**/.github/hooks/**", "~/.copilot/hooks/**", "/etc/github-copilot/**",
        "~/.copilot/config.json", "~/.copilot/settings.json", "/**/.github/copilot/settings*.json",
    ),
)  # fmt: skip


HOST = Host("copilot", _wrote, _read, _write, _sample, _SETTINGS, joint="-", hears=frozenset({Kind.AFTER}), asks=True)
