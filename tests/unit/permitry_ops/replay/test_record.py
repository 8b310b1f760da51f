"""The calls in an audit record, decided again."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.whole_calls import policy_of

from permitry.audit.record import JsonlRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.records import RecordFilter, records_at
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.guard.grants import Grant
from permitry.guard.guard import Guard
from permitry.guard.ledgers import grants_at
from permitry.guard.outcome import Ask
from permitry.guard.session import Session
from permitry_ops.replay.record import Circumstances, Unjudged, call_of, replay_record
from permitry_ops.replay.tally import Tally

_RULES = """schema = 1

[[rule]]
id = "finds"
effect = "allow"
tools = ["find"]
adds_label = "found"

[[rule]]
id = "labelled"
effect = "block"
tools = ["send"]
when.label = "found"

[[rule]]
id = "rarely"
effect = "block"
tools = ["say"]
budget = { calls = 1, per = "1h", by = "session" }

[[rule]]
id = "says"
effect = "allow"
tools = ["say"]

[[rule]]
id = "in-plan"
effect = "block"
tools = ["look"]
when.mode = ["plan"]
"""
_SECRET: dict[str, Any] = {"password": "hunter2"}
_PAYS = '[[rule]]\nid = "pays"\neffect = "allow"\ntools = ["pay"]\nwhen.args.to.from = ["user"]\n'


@attrs.define
class _Recording:
    """A session that is recorded, under rules, and replayed."""

    path: Path
    rules: str = _RULES
    now: float = 0.0
    guard: Guard = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        recorder = JsonlRecorder(str(self.path), clock=lambda: f"2026-01-01T{int(self.now):02}:00:00.000+00:00")
        recorder.begin(workspace="/w", agent="main", mode="default", template=None)
        session = Session(workspace="/w", clock=lambda: self.now * 3600)
        self.guard = Guard(policy_of(self.rules), session, recorder=recorder)

    def call(self, name: str, *, approve: bool | None = None, spec: ToolSpec | None = None, **arguments: object) -> str:
        """Make a call, answer if it is asked about, and return the verdict."""
        call = ToolCall(name, arguments)
        verdict = self.guard.policy.decide(call, _context(self.guard), spec).verdict.value
        asked = self.guard.check(call, spec)
        if isinstance(asked, Ask) and approve is not None:
            self.guard.answer(asked.id, ToolConfirmationResponse(approve))
        return verdict

    def replayed(self, rules: str | None = None, *, against: str | None = None, **known: Any) -> Tally:  # noqa: ANN401 -- what Circumstances takes
        """Return what rules, by default the same, say of the record."""
        records = records_at(self.path, RecordFilter())
        other = None if against is None else policy_of(against)
        policy = policy_of(self.rules if rules is None else rules)
        return replay_record(records, policy, other, circumstances=Circumstances(**known, name="r"))


def _context(guard: Guard) -> AuthContext:
    return AuthContext.from_state(guard.session)


@pytest.fixture
def recording(tmp_path: Path) -> _Recording:
    """Return a session that is recorded."""
    return _Recording(tmp_path / "audit.jsonl")


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _write(path: Path, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(change(record)) + "\n" for record in _records(path)))


def test_the_same_rules_give_the_same_decisions(recording: _Recording) -> None:
    """With labels, budgets by the recorded time, modes, and calls that ran only once they were approved."""
    seen = [recording.call("send", approve=True), recording.call("find"), recording.call("send")]
    seen += [recording.call("say"), recording.call("say", text="b")]
    recording.now += 2
    seen += [recording.call("say", text="c"), recording.call("look", approve=False)]
    recording.guard.session.switch_mode("plan")
    seen.append(recording.call("look", at="a"))
    assert seen == ["confirm", "allow", "block", "allow", "block", "allow", "confirm", "block"]
    tally = recording.replayed()
    assert (tally.calls, tally.sessions, dict(tally.changes), dict(tally.unjudged)) == (8, 1, {}, {})
    assert dict(tally.verdicts) == {"allow": 3, "confirm": 2, "block": 3}


def test_other_rules_show_what_differs_from_the_record(recording: _Recording) -> None:
    """By the recorded verdict, with the place; against further rules, that of theirs."""
    recording.call("say")
    recording.call("say", text="b")
    rules = _RULES.replace('effect = "block"\ntools = ["say"]', 'effect = "confirm"\ntools = ["say"]')
    tally = recording.replayed(rules)
    assert dict(tally.changes) == {("block", "confirm", "say", "rarely"): 1}
    assert tally.places["block", "confirm", "say", "rarely"] == "r:3"
    assert not recording.replayed(rules, against=rules).changes
    strict = recording.replayed(rules.replace('effect = "allow"\ntools = ["say"]', 'effect = "block"\ntools = ["say"]'))
    assert strict.lost == {"block": 1}


def test_what_a_grant_permitted_is_what_the_rules_ask_about(recording: _Recording, tmp_path: Path) -> None:
    """Only the rules are compared, and without the grant they ask; a rule of that name in a file is one of them."""
    recording.guard.grants = grants_at(tmp_path / "s.db")
    recording.guard.grants.store.add(Grant('tools = ["elsewhere"]').row())
    recording.call("elsewhere")
    assert _records(recording.path)[-1]["verdict"] == "allow"
    tally = recording.replayed()
    assert (tally.calls, dict(tally.changes), dict(tally.unjudged)) == (1, {}, {})
    _write(recording.path, lambda record: {**record, "source": "rules.toml:2"})
    other = _RULES.replace('tools = ["say"]', 'tools = ["says"]')
    assert dict(recording.replayed(other).changes) == {("allow", "confirm", "elsewhere", "(no rule)"): 1}


def test_a_call_with_secrets_is_counted_apart(recording: _Recording) -> None:
    """It would be another call; so is one of which the digest does not fit."""
    recording.call("say", **_SECRET)
    recording.call("look", approve=True)
    tally = recording.replayed()
    assert (tally.calls, dict(tally.unjudged)) == (1, {Unjudged.SECRETS: 1})
    assert tally.places["unjudged", Unjudged.SECRETS] == "r:2"
    _write(recording.path, lambda each: {**each, "arguments": {"x": 1}} if "arguments" in each else each)
    assert recording.replayed().unjudged == {Unjudged.SECRETS: 2}


def test_what_follows_a_call_with_secrets_may_differ(recording: _Recording) -> None:
    """It may have left labels, so that another decision is none of the rules."""
    recording.call("find", **_SECRET)
    assert recording.call("send") == "block"
    assert recording.replayed().unjudged == {Unjudged.SECRETS: 1, Unjudged.EARLIER: 1}


def test_what_was_heard_is_not_recorded(tmp_path: Path) -> None:
    """A rule that asks for it decides otherwise now, which says nothing of the rules."""
    recording = _Recording(tmp_path / "audit.jsonl", "schema = 1\n" + _PAYS)
    recording.guard.session.heard("Pay 10 to AT11.")
    assert recording.call("pay", to="AT11") == "allow"
    assert recording.call("pay", to="DE22", approve=False) == "confirm"
    tally = recording.replayed()
    assert (tally.calls, dict(tally.changes), dict(tally.unjudged)) == (1, {}, {Unjudged.HEARD: 1})


def test_that_the_user_said_nothing_is_not_assumed(tmp_path: Path) -> None:
    """A restriction over the user's words may apply, so that the call is not counted as allowed."""
    asks = '[[rule]]\nid = "no"\neffect = "block"\ntools = ["say"]\nwhen.prompt.words = ["quiet"]\n'
    recording = _Recording(tmp_path / "audit.jsonl", _RULES + asks)
    recording.guard.session.heard("Say hello.")
    assert recording.call("say") == "allow"
    tally = recording.replayed()
    assert (tally.calls, dict(tally.unjudged)) == (0, {Unjudged.HEARD: 1})


def test_what_the_session_alone_permitted_is_seen(recording: _Recording) -> None:
    """The ignore list is replayed; a rule that was added for the session is not known."""
    recording.guard.session.ignore("look")
    assert recording.call("look") == "allow"
    tally = recording.replayed()
    assert (tally.verdicts, tally.unjudged) == ({"allow": 1}, {})
    _write(recording.path, lambda each: {**each, "rule": "session-always-1"} if "rule" in each else each)
    assert recording.replayed().unjudged == {Unjudged.SESSION: 1}


def test_a_tool_is_what_it_was_declared_as(tmp_path: Path) -> None:
    """Its declaration is known by its digest; without it another decision says nothing."""
    recording = _Recording(tmp_path / "audit.jsonl", "schema = 1\n")
    spec = ToolSpec("peek", traits=ToolTraits(read_only=True, destructive=False, open_world=False))
    assert recording.call("peek", spec=spec) == "allow"
    assert recording.replayed(tools={"peek": spec}).verdicts == {"allow": 1}
    for tools in ({}, {"peek": attrs.evolve(spec, description="other")}):
        assert recording.replayed(tools=tools).unjudged == {Unjudged.TOOL: 1}


def test_the_same_rules_on_other_files_are_no_change(recording: _Recording) -> None:
    """A decision that no known circumstance explains is not one of the rules."""
    recording.call("say")
    _write(recording.path, lambda each: {**each, "verdict": "block"} if "verdict" in each else each)
    assert recording.replayed().unjudged == {Unjudged.OTHER: 1}


@pytest.mark.parametrize("phase", ["input", "host"])
def test_what_no_rule_decided_is_not_judged(recording: _Recording, phase: str) -> None:
    """Such as a call that did not fit its tool."""
    recording.call("say")
    _write(recording.path, lambda each: {**each, "phase": phase} if "phase" in each else each)
    assert recording.replayed().unjudged == {Unjudged.HOST: 1}


def test_lines_that_are_no_records_are_reported(recording: _Recording) -> None:
    """Half a line, and a verdict that is not known."""
    recording.call("say")
    _write(recording.path, lambda each: {**each, "verdict": "maybe"} if "verdict" in each else each)
    with recording.path.open("a") as file:
        file.write('{"event": "deci')
    tally = recording.replayed()
    assert (tally.calls, sum(tally.bad.values())) == (0, 2)


def test_a_call_is_rebuilt_with_its_server() -> None:
    """Its digest says which kind of call it was; arguments that are not there are none."""
    call = ToolCall("search", {"q": "a"}, server="docs", call_id="c1")
    record = {"tool": call.tool, "arguments": call.to_dict(), "digest": call.digest, "call_id": "c1"}
    assert call_of(record) == call
    assert call_of({**record, "arguments": None}) is None
    assert call_of({**record, "tool": ""}) is None


def test_each_call_is_watched_in_its_context(recording: _Recording) -> None:
    """With its place, and the labels of earlier calls."""
    recording.call("find")
    recording.call("say")
    watched: list[tuple[str, frozenset[str]]] = []

    def watch(place: str, call: ToolCall, context: AuthContext, _: ToolSpec | None) -> None:
        watched.append((f"{place.partition(':')[0]} {call.name}", frozenset(context.labels)))

    known = Circumstances(name="r")
    replay_record(records_at(recording.path, RecordFilter()), policy_of(_RULES), circumstances=known, watch=watch)
    assert watched == [("r find", frozenset()), ("r say", frozenset({"found"}))]
