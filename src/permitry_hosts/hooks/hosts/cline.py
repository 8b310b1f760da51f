"""Cline: the hook PreToolUse. Source: docs.cline.bot/features/hooks/hook-reference.

It looks at no exit code, and to cancel a call ends the whole run, so that a command is not cancelled but replaced by
one that fails with the reason.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from permitry.core.json_values import parse_json
from permitry.errors import CallError
from permitry_hosts.hooks.host import Effect, Event, Host, Kind, Reply, Settings, Verb, arguments_in, optional, text_in

__all__ = ["HOST"]

_SHELLS = {"run_commands": "commands", "execute_command": "command"}


def _wrote(payload: Mapping[str, Any]) -> bool:
    return {"clineVersion", "hookName", "taskId"} <= payload.keys()


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    del environ
    roots = payload.get("workspaceRoots")
    if not isinstance(roots, list) or not roots or not isinstance(roots[0], str):
        raise CallError("the payload has no folder in `workspaceRoots`")
    call = payload.get("tool_call")
    if payload.get("hookName") not in ("tool_call", "PreToolUse") or not isinstance(call, Mapping):
        raise CallError("the payload is not about a tool call")
    server, tool, arguments = _call(text_in(call, "name"), arguments_in(call, "input"))
    return Event(
        Kind.BEFORE,
        name="tool_call",
        session=text_in(payload, "taskId"),
        folder=roots[0],
        workspace=roots[0],
        tool=tool,
        arguments=arguments,
        server=server,
        call_id=optional(call, "id"),
        agent="sub-agent" if payload.get("parent_agent_id") else "main",
    )


def _call(name: str, given: Mapping[str, Any]) -> tuple[str | None, str, Mapping[str, Any]]:
    """Return server, tool and arguments of a call; those of a server's tool are JSON text."""
    if name != "use_mcp_tool":
        return None, name, given
    inner = given.get("arguments") or {}
    arguments = {"arguments": parse_json(inner) if isinstance(inner, str) else inner}
    return text_in(given, "server_name"), text_in(given, "tool_name"), arguments_in(arguments, "arguments")


def _write(effect: Effect, event: Event) -> Reply:
    if effect.verb is not Verb.DENY:
        return Reply.of({"cancel": False})
    key = _SHELLS.get(event.tool) if event.server is None else None
    if key is None:
        return _cancel(effect.text)
    command = f"printf '%s\\n' {shlex.quote(effect.text)} >&2; exit 1"
    value = [command] if isinstance(event.arguments.get(key), list) else command
    return Reply.of({"cancel": False, "overrideInput": {key: value}})


def _cancel(text: str) -> Reply:
    return Reply.of({"cancel": True, "errorMessage": text})


def _script(command: Sequence[str], seconds: int) -> str:
    del seconds
    failed = shlex.quote(_cancel("permitry could not be started, so this call did not run").out)
    return f"#!/bin/sh\n# Written by permitry: asked before each tool call.\n{shlex.join(command)} || echo {failed}\n"


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    place = {"clineVersion": "", "hookName": "tool_call", "taskId": session, "workspaceRoots": [folder]}
    return {**place, "tool_call": {"id": session, "name": "run_commands", "input": {"commands": [command]}}}


_FILES = (".cline/hooks/PreToolUse", ".clinerules/hooks/PreToolUse")
# Its own limit is 30 seconds, and then it runs the call. Python needs some of them to start.
_SETTINGS = Settings(
    *_FILES, text=_script, is_program=True, longest=20,
    protected=(
        "/**/.cline/hooks/**", "/**/.clinerules/hooks/**",
        "~/Documents/Cline/Hooks/**", "~/.cline/data/settings.json",
    ),
)  # fmt: skip


HOST = Host("cline", _wrote, _read, _write, _sample, _SETTINGS, _cancel, takes_permissions=False)
