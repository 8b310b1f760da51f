"""opencode: the plugin that `permitry hook install opencode` writes sends each call, and throws what is refused.

It sends no messages: those that agents write to sub-agents reach a plugin as those of the user do.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from permitry_hosts.hooks.host import Effect, Event, Host, Kind, Reply, Settings, Verb, arguments_in, optional, text_in

__all__ = ["HOST", "PLUGIN"]

PLUGIN = """\
// Written by permitry: asks before each tool call, and throws where the call must not run.
import { spawnSync } from "node:child_process"

const COMMAND = %s

const send = (call) =>
  spawnSync(COMMAND[0], COMMAND.slice(1), { input: JSON.stringify(call), encoding: "utf8", timeout: %d })

export const Permitry = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const done = send({ ev: "tool.execute.before", directory, input, output: { args: output.args } })
    const problem = (done.stderr || "").trim() || "permitry did not answer, so this call did not run"
    if (done.error || done.status !== 0) throw new Error(problem)
    if (done.stdout.trim() !== "") throw new Error(JSON.parse(done.stdout).deny || problem)
  },
  "tool.execute.after": async (input, { output }) => {
    send({ ev: "tool.execute.after", directory, input, output: { args: input.args, output } })
  },
})
"""
_KINDS = {"tool.execute.before": Kind.BEFORE, "tool.execute.after": Kind.AFTER}


def _wrote(payload: Mapping[str, Any]) -> bool:
    return payload.get("ev") in _KINDS


def _read(payload: Mapping[str, Any], environ: Mapping[str, str]) -> Event:
    folder = optional(payload, "directory") or environ["PWD"]
    about, output = arguments_in(payload, "input"), arguments_in(payload, "output")
    name = text_in(payload, "ev")
    return Event(
        _KINDS[name],
        name=name,
        session=text_in(about, "sessionID"),
        folder=folder,
        workspace=folder,
        tool=text_in(about, "tool"),
        arguments=arguments_in(output, "args"),
        call_id=optional(about, "callID"),
        result=output.get("output"),
    )


def _write(effect: Effect, event: Event) -> Reply:
    del event
    # There is nothing by which a plugin could let a call run unasked.
    return Reply.of({"deny": effect.text}) if effect.verb is Verb.DENY else Reply()


def _plugin(command: Sequence[str], seconds: int) -> str:
    return PLUGIN % (json.dumps(list(command)), seconds * 1000)


def _sample(command: str, folder: str, session: str) -> Mapping[str, Any]:
    call = {
        "input": {"tool": "bash", "sessionID": session, "callID": session},
        "output": {"args": {"command": command}},
    }
    return {"ev": "tool.execute.before", "directory": folder, **call}


_FILES = (".config/opencode/plugin/permitry.js", ".opencode/plugin/permitry.js")
_PROTECTED = (
    "/**/.opencode/plugin/**", "/**/.opencode/plugins/**", "/**/opencode.json", "/**/opencode.jsonc",
    "~/.config/opencode/plugin/**", "~/.config/opencode/plugins/**",
)  # fmt: skip
_SETTINGS = Settings(*_FILES, text=_plugin, protected=_PROTECTED)


HOST = Host(
    "opencode", _wrote, _read, _write, _sample, _SETTINGS, joint="_", folders=frozenset({"path", "workdir"}),
    hears=frozenset({Kind.AFTER}), takes_permissions=False,
)  # fmt: skip
