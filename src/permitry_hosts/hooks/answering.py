"""One payload in, one reply out: the host is recognized, the call decided, and the effect written for that host."""

import codecs
import functools
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import attrs

from permitry.channels.ancestors import ancestors
from permitry.config.folders import user_state
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.json_values import parse_json
from permitry.core.texts import visible
from permitry.errors import AuditError, CallError, safe_str
from permitry.guard.case import asker_of
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal, Silence
from permitry.guard.preview import values_in
from permitry.guard.session import Session
from permitry.guard.session_record import begin_session
from permitry.store.questions import StoredQuestions
from permitry_hosts.hooks.asking import HostLedger, HostRequests
from permitry_hosts.hooks.hearing import heard_file, note, recall
from permitry_hosts.hooks.host import Effect, Event, Host, Kind, Reply, Verb
from permitry_hosts.hooks.hosts import HOSTS, host_named
from permitry_hosts.hooks.joined import count_all, is_grant, strictest
from permitry_hosts.hooks.memory import locked
from permitry_hosts.hooks.own_files import own_rules
from permitry_hosts.hooks.policies import Policies
from permitry_hosts.hooks.reading import Reading, find_rules, own_tools, read_call
from permitry_hosts.hooks.request import HandedOverError
from permitry_hosts.hooks.stores import Places, Stores
from permitry_hosts.hooks.undo import LateVault, note_end
from permitry_hosts.hooks.waiting import deny_unanswered, wait_for_answer

__all__ = ["UNDECIDED", "Options", "answer"]

UNDECIDED = "permitry could not decide about this call, so it did not run: {}"
"""What the model is shown where something goes wrong."""
_EDITED = "The user permits this call with other arguments only, and it did not run. Make it with these: {arguments}"
_REPORTS = (Kind.AFTER, Kind.PROMPT)
_MOST_SAID = 4_000
"""So many characters of what went wrong are said: a host may drop a reply that is too long, and run the call."""
_OPEN = 900
"""So many seconds a question can be answered."""
_NEAR = 2
"""So many processes above a hook are those of its host: a shell, perhaps, and the host itself."""


@attrs.frozen
class Options:
    """How a hook is to answer: with which rules (those of the layers if None), and whether permissions count.

    `wait` is how many seconds it waits for a human, and `process` the one that the host has started. `policies` and
    `stores` may be kept for more answers; `before_waiting` is called when an answer is waited for, and may raise.
    `store` and `record` name where is kept what: see `Places`. The rules of `observed` are obeyed in nothing.
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
    observed: Sequence[str] = ()

    @property
    def places(self) -> Places:
        """Where is kept what."""
        return Places(self.store, self.record, self.patience)

    @property
    def questions(self) -> StoredQuestions:
        """The questions in the store.

        Raises: `StoreError`.
        """
        return StoredQuestions(self.stores.at(self.places.store, self.patience))


def answer(name: str, data: bytes, options: Options, environ: Mapping[str, str]) -> Reply:
    """Return the reply to a payload that came to the hook of the host `name`.

    Where rules cannot be read or a decision cannot be recorded, and whatever a rule raises, it is a denial that says
    so: some hosts show the model no words of a hook that fails.

    Raises: `PermitryError` for a payload that cannot be read, and whatever goes wrong with a report.
    """
    payload = parse_json(_decode(data))
    if not isinstance(payload, Mapping):
        raise CallError("the payload is not an object")
    host = next((each for each in _candidates(name) if each.wrote(payload)), None)
    if host is None:
        raise CallError("no known host wrote this payload")
    event = host.read(payload, environ)
    return host.write(_settle(host, event, options), event)


def _decode(data: bytes) -> str:
    """Return the text of a payload, without the byte order mark that some programs begin UTF-8 with.

    Raises: `CallError` for another encoding.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise CallError("the payload is UTF-16 or UTF-32; only UTF-8 is read")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CallError(f"the payload is not UTF-8: {error.reason} at byte {error.start}") from error


def _candidates(name: str) -> Iterator[Host]:
    """Yield the host that the command names, then all others: some of them read the settings of another one."""
    yield host_named(name)
    yield from (host_named(each) for each in HOSTS if each != name)


def _settle(host: Host, event: Event, options: Options) -> Effect:
    """Return the effect, or a denial with the words of what went wrong. A report cannot be denied."""
    try:
        with options.stores:
            return _effect(host, event, options)
    except HandedOverError:
        raise
    except Exception as error:
        if event.kind in _REPORTS:
            raise
        # Half of a surrogate pair, as in the name of a file, would make it no JSON to some hosts.
        problem = visible(f"{type(error).__name__}: {safe_str(error)}")
        said = problem if len(problem) <= _MOST_SAID else f"{problem[:_MOST_SAID]}..."
        return Effect(Verb.DENY, UNDECIDED.format(said))


def _effect(host: Host, event: Event, options: Options) -> Effect:
    if event.kind in _REPORTS:
        _take_report(host, event, options)
        return Effect(Verb.SILENCE)
    if event.kind is Kind.SETTINGS:
        return _about_settings(host, event)
    outcome = _decide(host, event, options)
    if isinstance(outcome, Ask) and options.wait:
        options.before_waiting()
        wait_for_answer(options.questions, outcome.id, options.wait)
        # The answer meets the rules as they are now.
        outcome = _decide(host, event, options)
    if isinstance(outcome, Ask):
        return deny_unanswered(outcome, options.places)
    return outcome


def _take_report(host: Host, event: Event, options: Options) -> None:
    """Note the end of a call, and what rules may ask for of what is reported."""
    if event.kind is Kind.AFTER:
        digests = functools.partial(_digests, host, event, options)
        note_end(user_state() / "undo", _session_name(host, event), event.call_id, digests)
    _hear(host, event, options)


def _about_settings(host: Host, event: Event) -> Effect:
    """Return whether a session may take over settings that have changed."""
    from permitry_hosts.hooks.settings_change import find_refusal  # noqa: PLC0415 -- seldom needed, and no call waits for it

    with locked(user_state() / "hooks", _session_name(host, event)) as notes:
        refusal = find_refusal(host, event, notes.path.with_suffix(".refused"))
    if refusal is None:
        return Effect(Verb.SILENCE)
    return Effect(Verb.DENY, refusal)


def _hear(host: Host, event: Event, options: Options) -> None:
    """Keep what is reported, if it counts and any rule may ask for it."""
    if event.kind not in host.hears:
        return
    # Where server and tool are joined to one name, another server may have a tool of that name.
    if event.kind is Kind.AFTER and any(host.servers(event.tool)) and event.tool not in own_tools(host, event):
        return
    wanted = options.policies.wanted(options.policies.rules.load(find_rules(host, event, options.rules)))
    if wanted:
        with locked(user_state() / "hooks", _session_name(host, event)) as notes:
            note(host, event, heard_file(notes.path), wanted)


def _digests(host: Host, event: Event, options: Options) -> Collection[str]:
    return _read(host, event, options).digests


def _read(host: Host, event: Event, options: Options) -> Reading:
    folders = host_named(event.names or host.name)
    return read_call(host, event, options.rules, options.policies, folders, observed=options.observed)


# Deciding ---------------------------------------------------------------------------------------------------------


def _session_name(host: Host, event: Event) -> str:
    return f"{host.name}:{event.session}"


def _session(host: Host, event: Event, options: Options) -> Session:
    """Return the session in which a call is decided; it begins with each hook."""
    session = Session(
        id=_session_name(host, event), agent=event.agent, workspace=event.workspace, attended=event.is_attended,
        shared=options.stores.counters(options.places), turn=event.turn or "",
    )  # fmt: skip
    session.switch_mode(event.mode)
    return session


def _decide(host: Host, event: Event, options: Options) -> Effect | Ask:
    """Decide on a call, or take the answer to the question about it; a question that the host does not ask is kept."""
    read = _read(host, event, options)
    policy = options.policies.policy(read.rules, own_rules(options.places.files), read.name, read.spec)
    session = _session(host, event, options)
    with options.stores.recorder(options.places, session.id) as recorder:
        guard = Guard(
            policy, session, recorder=recorder, unmatched="silence", undo=LateVault(user_state() / "undo"),
            grants=options.stores.grants(options.places), factory=HostRequests(folder=event.folder),
        )  # fmt: skip
        with locked(user_state() / "hooks", session.id) as notes:
            recall(host, event, session, heard_file(notes.path), options.policies.wanted(read.rules))
            notes.begin_once(options.places.record, lambda: begin_session(guard, recorder))
            with notes.remembered(session, is_read=event.kind is Kind.PERMISSION):
                effect = _answer(guard, event, read, options)
    if recorder.failure:
        raise AuditError(recorder.failure)
    return effect


def _answer(guard: Guard, event: Event, read: Reading, options: Options) -> Effect | Ask:
    above = tuple(ancestors(options.process))[:_NEAR]
    ledger = HostLedger(options.questions, lifetime=max(options.wait, _OPEN), above=above)
    # A call without an id gets one, by which the question about it is found.
    call_id = event.call_id or f"call-{ledger.new_id()}"
    calls = [guard.call(tool, read.arguments, call_id=call_id, server=server) for server, tool in read.names]
    grants = guard.grants
    call = calls[0] if len(calls) == 1 else strictest(guard, ledger, calls)
    is_asked_by_host = event.can_ask or event.kind is Kind.PERMISSION
    if is_asked_by_host:
        guard.asked_by = "host"
    else:
        guard.ledger = ledger
    # INVARIANT: law 6. Whatever the rules say by now, what was asked about stays a question, and a "no" stays one.
    asked = is_asked_by_host and isinstance(call, ToolCall) and ledger.is_asked(call, asker_of(guard))
    outcome = guard.check(call, asked=asked)
    match outcome:
        case Refusal():
            return Effect(Verb.DENY, outcome.text)
        case Ask() if not is_asked_by_host:
            return outcome
        case Permit() if isinstance(call, ToolCall) and outcome.call.digest != call.digest:
            # INVARIANT: law 5. The host would run the call as it was.
            arguments = json.dumps(outcome.call.to_dict(), ensure_ascii=False)
            return Effect(Verb.DENY, _EDITED.format(arguments=arguments))
    # Any reading of its name may be the right one: each counts.
    guard.grants = grants
    count_all(guard, (each for each in calls if each is not call), outcome.decision.rule_id)
    return _said(guard, outcome, options)


def _said(guard: Guard, outcome: Permit | Ask | Silence, options: Options) -> Effect:
    if isinstance(outcome, Silence):
        return Effect(Verb.SILENCE)
    reason = outcome.decision.reason
    if isinstance(outcome, Ask):
        return Effect(Verb.ASK, "; ".join((reason, *values_in(outcome.call, guard))))
    outcome.take()
    if outcome.approved_by is not None:
        return Effect(Verb.ALLOW, f"approved by {outcome.approved_by}: {reason}")
    if options.grants or _is_granted(guard, outcome):
        return Effect(Verb.ALLOW, reason)
    return Effect(Verb.SILENCE, reason)


def _is_granted(guard: Guard, permit: Permit) -> bool:
    """Return whether a human has permitted the call: rules ask about it, or what decided is none of them."""
    return permit.decision.verdict is Verdict.CONFIRM or is_grant(guard, permit.decision)
