"""One payload in, one reply out: the host is recognized, the call decided, and the effect written for that host."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.audit.record import JsonlRecorder
from permitry.config.cache import RuleCache
from permitry.config.folders import user_state
from permitry.config.layers import default_record, find_layers
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.context import AuthContext
from permitry.core.json_values import parse_json
from permitry.core.spec import ArgumentRole
from permitry.errors import CallError
from permitry.guard import Guard
from permitry.hooks.host import Effect, Event, Host, Kind, Reply, Verb
from permitry.hooks.memory import remembered
from permitry.outcome import Ask, Permit, Refusal, Silence
from permitry.session import Session

__all__ = ["HOSTS", "Options", "answer", "host_named"]

HOSTS = ("claude-code", "codex", "gemini", "copilot", "cursor", "cline", "opencode")
_FOLDER = "cwd"
_UNASKED = (
    "This call needs the user's confirmation ({reason}), and no one can be asked here. It did not run. "
    "Ask the user to run it, or to allow it in the rules; do not retry it before."
)


@attrs.frozen
class Options:
    """How a hook is to answer: with which rules (those of the layers if None), and whether permissions count."""

    rules: Sequence[str] | None = None
    grants: bool = False
    record: str | None = None


def host_named(name: str) -> Host:
    """Return a host by its name, one of `HOSTS`."""
    host: Host = importlib.import_module(f"permitry.hooks.{name.replace('-', '_')}").HOST
    return host


def answer(name: str, data: bytes, options: Options, environ: Mapping[str, str]) -> Reply:
    """Return the reply to a payload that came to the hook of the host `name`.

    Raises: `PermitryError` for a payload or for rules that cannot be read; anything a rule may raise.
    """
    payload = parse_json(data.decode())
    if not isinstance(payload, Mapping):
        raise CallError("the payload is not an object")
    host = next((each for each in _candidates(name) if each.wrote(payload)), None)
    if host is None:
        raise CallError("no known host wrote this payload")
    event = host.read(payload, environ)
    return host.write(_effect(host, event, options), event)


def _candidates(name: str) -> Iterator[Host]:
    """Yield the host that the command names, then all others: some of them read the settings of another one."""
    yield host_named(name)
    yield from (host_named(each) for each in HOSTS if each != name)


def _effect(host: Host, event: Event, options: Options) -> Effect:
    if event.kind in (Kind.AFTER, Kind.PROMPT):
        return Effect(Verb.SILENCE)
    name = event.tool if event.server is None else f"mcp:{event.server}/{event.tool}"
    rules, arguments = _in_folder(RuleCache().load(_origins(host, event, options), name), name, event)
    session = Session(agent=event.agent, workspace=event.workspace, attended=event.is_attended)
    session.switch_mode(event.mode)
    recorder = JsonlRecorder(options.record or str(default_record()), session=f"{host.name}:{event.session}")
    guard = Guard(rules.policy(), session, recorder=recorder, unmatched="silence")
    call = guard.call(name, arguments, call_id=event.call_id)
    with remembered(session, user_state() / "hooks", recorder.session, is_read=event.kind is Kind.PERMISSION):
        match guard.check(call):
            case Silence():
                return Effect(Verb.SILENCE)
            case Refusal() as refusal:
                return Effect(Verb.DENY, refusal.text)
            case Permit() as permit:
                permit.take()
                return Effect(Verb.ALLOW if options.grants else Verb.SILENCE, permit.decision.reason)
            case Ask() as ask if event.can_ask or event.kind is Kind.PERMISSION:
                # The host asks, and what it does then is not reported: it counts as run.
                effects = guard.policy.side_effects(ask.call, AuthContext.from_state(session))
                session.apply(ask.call, effects)
                return Effect(Verb.ASK, ask.request.reason)
            case Ask() as ask:
                return Effect(Verb.DENY, _UNASKED.format(reason=ask.request.reason))


def _origins(host: Host, event: Event, options: Options) -> list[Origin]:
    if options.rules is not None:
        return [Origin(name) for name in options.rules]
    return find_layers(Path(event.workspace), shipped=host.shipped(event))


def _in_folder(rules: RuleSet, tool: str, event: Event) -> tuple[RuleSet, Mapping[str, Any]]:
    """Return rules and arguments by which a command begins in the folder of the agent, not in that of its project."""
    spec = rules.tools.get(tool)
    if spec is None or not spec.is_shell or event.folder == event.workspace:
        return rules, event.arguments
    # INVARIANT: law 3. `cd sub` must not change what `../.env` means.
    placed = attrs.evolve(spec, roles={**(spec.roles or {}), _FOLDER: ArgumentRole.FOLDER})
    return attrs.evolve(rules, tools={**rules.tools, tool: placed}), {**event.arguments, _FOLDER: event.folder}
