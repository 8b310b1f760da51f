"""One payload in, one reply out: the host is recognized, the call decided, and the effect written for that host."""

import contextlib
import functools
import importlib
import os
import time
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.config.catalogue import shipped_path
from permitry.config.folders import user_state
from permitry.config.layers import find_layers
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.confirm.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.json_values import parse_json
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.core.well_known import WELL_KNOWN
from permitry.errors import AuditError, CallError
from permitry.guard import Guard
from permitry.hooks.hearing import heard_file, note, recall
from permitry.hooks.host import Effect, Event, Host, Kind, Reply, Verb
from permitry.hooks.memory import locked
from permitry.hooks.own_files import own_rules
from permitry.hooks.policies import Policies
from permitry.hooks.stores import Places, Recording, Stores
from permitry.hooks.undoing import LateVault, note_end
from permitry.hooks.waiting import Question, Questions, ancestors
from permitry.outcome import Ask, Cause, Permit, Refusal, Silence
from permitry.session import Session

__all__ = ["HOSTS", "Options", "answer", "host_named"]

HOSTS = ("claude-code", "codex", "gemini", "copilot", "cursor", "cline", "opencode")
_FOLDER = "folder of the agent"
"""An argument that no tool has."""
_FOLDERS = frozenset({ArgumentRole.FOLDER, ArgumentRole.READ_TREE, ArgumentRole.LIST_TREE})
_UNASKED = (
    "{message} No one can be asked here, so it did not run. Ask the user to answer `permitry approve {id}` in another "
    "terminal, then make the same call again; do not retry it before."
)
_OPEN = 900
"""So many seconds a question can be answered."""


@attrs.frozen
class Options:
    """How a hook is to answer: with which rules (those of the layers if None), and whether permissions count.

    `wait` is how many seconds it waits for a human, and `process` the one that the host has started. `policies` and
    `stores` may be kept for more answers; `before_waiting` is called when an answer is waited for, and may raise.
    `store` and `record` name where is kept what: see `Places`.
    """

    rules: Sequence[str] | None = None
    grants: bool = False
    record: str | None = None
    wait: float = 0
    process: int = attrs.field(factory=os.getpid)
    policies: Policies = attrs.field(factory=Policies)
    before_waiting: Callable[[], object] = lambda: None
    store: str | None = None
    patience: float = 5.0
    stores: Stores = attrs.field(factory=Stores)

    @property
    def places(self) -> Places:
        """Where is kept what."""
        return Places(self.store, self.record, self.patience)


def host_named(name: str) -> Host:
    """Return a host by its name, one of `HOSTS`."""
    host: Host = importlib.import_module(f"permitry.hooks.{name.replace('-', '_')}").HOST
    return host


def answer(name: str, data: bytes, options: Options, environ: Mapping[str, str]) -> Reply:
    """Return the reply to a payload that came to the hook of the host `name`.

    Raises: `PermitryError` for a payload or for rules that cannot be read, and where a decision cannot be recorded;
    anything a rule may raise.
    """
    payload = parse_json(data.decode())
    if not isinstance(payload, Mapping):
        raise CallError("the payload is not an object")
    host = next((each for each in _candidates(name) if each.wrote(payload)), None)
    if host is None:
        raise CallError("no known host wrote this payload")
    event = host.read(payload, environ)
    with options.stores:
        return host.write(_effect(host, event, options), event)


def _candidates(name: str) -> Iterator[Host]:
    """Yield the host that the command names, then all others: some of them read the settings of another one."""
    yield host_named(name)
    yield from (host_named(each) for each in HOSTS if each != name)


def _effect(host: Host, event: Event, options: Options) -> Effect:
    if event.kind in (Kind.AFTER, Kind.PROMPT):
        if event.kind is Kind.AFTER:
            note_end(user_state() / "undo", _session_name(host, event), event.call_id)
        _hear(host, event, options)
        return Effect(Verb.SILENCE)
    outcome = _decided(host, event, options)
    if isinstance(outcome, Effect):
        return outcome
    questions = Questions(user_state() / "questions")
    question = _question(host, event, outcome, options)
    response = questions.take(question.id, question.digest)
    if response is None:
        questions.open(question)
        if options.wait:
            options.before_waiting()
        response = questions.wait(question, options.wait)
    if response is None:
        return Effect(Verb.DENY, _UNASKED.format(message=outcome.decision.message, id=question.id))
    answered = _decided(host, event, options, response)
    return answered if isinstance(answered, Effect) else Effect(Verb.DENY, answered.decision.message or "")


def _hear(host: Host, event: Event, options: Options) -> None:
    """Keep what is reported, if it counts and any rule may ask for it."""
    if event.kind not in host.hears:
        return
    # Where server and tool are joined to one name, another server may have a tool of that name.
    if event.kind is Kind.AFTER and any(host.servers(event.tool)) and event.tool not in _own_tools(host, event):
        return
    wanted = options.policies.wanted(options.policies.rules.load(_origins(host, event, options)))
    if wanted:
        with locked(user_state() / "hooks", _session_name(host, event)) as notes:
            note(host, event, heard_file(notes.path), wanted)


def _session_name(host: Host, event: Event) -> str:
    return f"{host.name}:{event.session}"


def _decided(
    host: Host, event: Event, options: Options, response: ToolConfirmationResponse | None = None
) -> Effect | Ask:
    """Decide on a call, with the answer of a human if there is one; a question that the host does not ask is kept."""
    name = event.tool if event.server is None else f"mcp:{event.server}/{event.tool}"
    origins = _origins(host, event, options)
    load = options.policies.rules.load
    loaded = load(origins, name)
    # A tool that the rules of a user declare may still be one of a server.
    is_own = event.server is None and event.tool in _own_tools(host, event)
    servers = [] if is_own or event.server else list(host.servers(event.tool))
    if servers:
        loaded = load(origins)
    folders = host_named(event.names or host.name).folders if is_own else None
    spec, arguments = _in_folder(loaded, name, event, folders)
    policy = options.policies.policy(loaded, own_rules(options.places.files), name, spec)
    session = _session(host, event)
    recorder = Recording(options.stores.recorder(options.places, session.id))
    guard = Guard(
        policy, session, recorder=recorder, unmatched="silence", undo=LateVault(user_state() / "undo"),
        grants=options.stores.grants(options.places),
    )  # fmt: skip
    named = [(event.server, event.tool), *servers]
    calls = [guard.call(tool, arguments, call_id=event.call_id, server=server) for server, tool in named]
    is_read = event.kind is Kind.PERMISSION
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(recorder))
        notes = stack.enter_context(locked(user_state() / "hooks", recorder.session))
        recall(host, event, session, heard_file(notes.path), options.policies.wanted(loaded))
        stack.enter_context(notes.remembered(session, is_read=is_read))
        call = max(calls, key=functools.partial(_strictness, guard.policy, AuthContext.from_state(session)))
        # INVARIANT: law 6. Whatever the rules say by now, what was asked about stays a question, and a "no" stays one.
        outcome = guard.check(call, asked=response is not None or _is_open(host, event, call))
        if isinstance(outcome, Ask) and response is not None:
            outcome = guard.answer(outcome.id, response)
        if isinstance(outcome, Refusal):
            if outcome.cause is Cause.NOT_RECORDED:
                raise AuditError(recorder.failure)
            return Effect(Verb.DENY, outcome.text)
        if isinstance(outcome, Ask):
            if not event.can_ask and event.kind is not Kind.PERMISSION:
                return outcome
            # The host asks, and what it does then is not reported: it counts as run.
            _count(guard, [call])
        # Any reading of its name may be the right one: each counts.
        _count(guard, [each for each in calls if each is not call])
        match outcome:
            case Silence():
                return Effect(Verb.SILENCE)
            case Permit() as permit:
                permit.take()
                is_said = options.grants or response is not None or _is_granted(guard, permit)
                return Effect(Verb.ALLOW if is_said else Verb.SILENCE, permit.decision.reason)
            case Ask() as ask:
                return Effect(Verb.ASK, ask.decision.reason)


def _session(host: Host, event: Event) -> Session:
    """Return the session in which a call is decided; it begins with each hook."""
    session = Session(
        id=_session_name(host, event), agent=event.agent, workspace=event.workspace, attended=event.is_attended
    )
    session.switch_mode(event.mode)
    return session


def _is_granted(guard: Guard, permit: Permit) -> bool:
    """Return whether a human has permitted the call beforehand: what decided is none of the rules, or they ask."""
    decision = permit.decision
    known = (getattr(rule, "id", None) for rule in guard.policy.rules)
    return decision.verdict is Verdict.CONFIRM or decision.rule_id not in known


def _own_tools(host: Host, event: Event) -> Container[str]:
    """Return the names of the tools that the host itself has."""
    # Only the names: to load the set as rules would take as long as all the rest.
    return _tools_in(shipped_path(host.shipped(event)[1]).read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=len(HOSTS))
def _tools_in(text: str) -> frozenset[str]:
    return frozenset(tomllib.loads(text)["tool"])


def _count(guard: Guard, calls: Iterable[ToolCall | Refusal]) -> None:
    """Count calls that may run, and set what they set."""
    for call in calls:
        if isinstance(call, ToolCall):
            guard.session.apply(call, guard.policy.side_effects(call, AuthContext.from_state(guard.session)))


def _strictness(policy: AuthorizationPolicy, context: AuthContext, call: ToolCall | Refusal) -> tuple[int, bool]:
    """Return how strict the rules are about one reading of a name."""
    if isinstance(call, Refusal):
        return Verdict.BLOCK.strictness, True
    decision = policy.decide(call, context)
    return decision.verdict.strictness, decision.rule_id is not None


def _is_open(host: Host, event: Event, call: ToolCall | Refusal) -> bool:
    if isinstance(call, Refusal):
        return False
    name = Question.name(host.name, event.session, event.agent, call.digest)
    return Questions(user_state() / "questions").find(name) is not None


def _question(host: Host, event: Event, ask: Ask, options: Options) -> Question:
    call = ask.call
    return Question(
        Question.name(host.name, event.session, event.agent, call.digest),
        host=host.name,
        session=event.session,
        agent=event.agent,
        tool=call.tool,
        arguments=call.to_dict(),
        digest=call.digest,
        reason=ask.request.reason,
        folder=event.folder,
        until=time.time() + max(options.wait, _OPEN),
        above=list(ancestors(options.process)),
    )


def _origins(host: Host, event: Event, options: Options) -> list[Origin]:
    if options.rules is not None:
        return [Origin(name) for name in options.rules]
    return find_layers(Path(event.workspace), shipped=host.shipped(event))


def _in_folder(
    rules: RuleSet, tool: str, event: Event, folders: frozenset[str] | None
) -> tuple[ToolSpec | None, Mapping[str, Any]]:
    """Return declaration and arguments by which a call is made in the folder of the agent, not in that of its project.

    `folders` are the arguments of the host's own tools that name a folder; None for the tool of a server.
    """
    spec = rules.tools.get(tool, WELL_KNOWN.get(tool))
    if spec is None or not spec.roles:
        return None, event.arguments
    roles = spec.roles if folders is None else _own_roles(spec.roles, folders)
    spec = attrs.evolve(spec, roles=roles)
    if event.folder == event.workspace:
        return spec, event.arguments
    # INVARIANT: law 3. `cd sub` must not change what `../.env` means.
    own = {name.rstrip("?") for key, role in roles.items() if role is ArgumentRole.FOLDER for name in key.split("|")}
    # One below `~` may mean the home folder, or a folder of this name: then it and that of the agent both count.
    moved = {
        name: str(Path(event.folder, value))
        for name, value in event.arguments.items()
        if name in own and isinstance(value, str) and value and value[0] != "~"
    }
    if moved:
        return spec, {**event.arguments, **moved}
    placed = attrs.evolve(spec, roles={**roles, _FOLDER: ArgumentRole.FOLDER})
    return placed, {**event.arguments, _FOLDER: event.folder}


def _own_roles(roles: Mapping[str, ArgumentRole], folders: frozenset[str]) -> dict[str, ArgumentRole]:
    """Return the roles of a tool of the host: of several names for a folder those that it has, as it ignores others."""
    own: dict[str, ArgumentRole] = {}
    for key, role in roles.items():
        names = key.split("|")
        if role not in _FOLDERS or len(names) == 1:
            own[key] = role
            continue
        known = [name for name in names if name.rstrip("?") in folders]
        if known:
            own["|".join(known)] = role
        if role is not ArgumentRole.FOLDER:
            own |= {name: ArgumentRole.READ_PATH for name in names if name not in known}
    return own
