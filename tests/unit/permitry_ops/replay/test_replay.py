"""Recorded sessions, decided again call by call."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.whole_calls import policy_of

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.errors import CallError
from permitry_ops.replay.replay import Recording, replay
from permitry_ops.replay.tally import Tally

_RULES = """schema = 1

[[rule]]
id = "pays"
effect = "allow"
tools = ["pay"]
when.args.to.from = ["user", "find#iban"]

[[rule]]
id = "finds"
effect = "allow"
tools = ["find"]
adds_label = "found"

[[rule]]
id = "no-deleting"
effect = "block"
tools = ["delete"]

[[rule]]
id = "labelled"
effect = "confirm"
tools = ["say"]
when.label = "found"

[[rule]]
id = "says"
effect = "allow"
tools = ["say"]
"""


@pytest.fixture(scope="module")
def policy() -> AuthorizationPolicy:
    """Return rules that ask where a value comes from, and label."""
    return policy_of(_RULES)


def _call(name: str, call_id: str | None = None, **arguments: object) -> dict[str, object]:
    made: dict[str, object] = {"name": name, "arguments": arguments}
    return made if call_id is None else {"id": call_id, **made}


def _lines(*messages: object) -> Iterable[tuple[int, str | CallError]]:
    return [(number, json.dumps(message)) for number, message in enumerate(messages, 1)]


def _verdicts(tally: Tally) -> dict[str, int]:
    return dict(tally.verdicts)


def test_what_was_recorded_is_heard(policy: AuthorizationPolicy) -> None:
    """Messages of the user, and results of calls that would have run."""
    found = {"id": "f", "name": "find", "ok": True, "content": '{"iban": "DE22"}'}
    said = {"role": "user", "content": "Pay AT11."}
    pays = [_call("pay", to="AT11"), _call("pay", to="DE22")]
    assert _verdicts(replay(_lines(*pays), policy)) == {"confirm": 2}
    assert _verdicts(replay(_lines(said, *pays), policy)) == {"allow": 1, "confirm": 1}
    assert _verdicts(replay(_lines(said, _call("find", "f"), found, *pays), policy)) == {"allow": 3}
    failed = {**found, "ok": False}
    assert _verdicts(replay(_lines(said, _call("find", "f"), failed, *pays), policy)) == {"allow": 2, "confirm": 1}


def test_a_call_that_is_blocked_did_not_run() -> None:
    """Its result is none; one that is asked about counts as approved."""
    rules = policy_of(_RULES.replace('"find#iban"]', '"delete#iban", "ask#iban"]'))
    said = {"role": "user", "content": "x"}
    for tool, verdict in (("delete", "confirm"), ("ask", "allow")):
        result = {"id": "d", "name": tool, "ok": True, "content": '{"iban": "DE22"}'}
        tally = replay(_lines(said, _call(tool, "d"), result, _call("pay", to="DE22")), rules)
        assert tally.tools["pay", verdict] == 1


def test_labels_belong_to_a_session(policy: AuthorizationPolicy) -> None:
    """A key of the lines may say where another one begins."""
    lines = [{"run": run, **_call(tool)} for run, tool in ((1, "find"), (1, "say"), (2, "say"), (2, "delete"))]
    one = replay(_lines(*lines), policy)
    assert (one.sessions, _verdicts(one)) == (1, {"allow": 1, "confirm": 2, "block": 1})
    two = replay(_lines(*lines), policy, recording=Recording(session_key="run"))
    assert (two.sessions, _verdicts(two)) == (2, {"allow": 2, "confirm": 1, "block": 1})
    assert two.lost == {"confirm": 1, "block": 1}


def test_a_task_has_what_its_sessions_lose(policy: AuthorizationPolicy) -> None:
    """Two keys of the lines name session and task; a line without them belongs to the session before it."""
    runs = ((1, "t", "delete"), (1, "t", "say"), (2, "t", "find"), (2, "t", "ask"), (3, 7, "ask"), (4, "u", "say"))
    lines = [{"run": run, "task": task, **_call(tool)} for run, task, tool in runs]
    lines.insert(1, _call("delete"))
    tally = replay(_lines(*lines), policy, recording=Recording("s", "run", "task"))
    assert tally.sessions == 4
    assert tally.to_dict()["tasks_with_a_loss"] == [
        {"task": "t", "verdict": "block", "calls": 3, "sessions": 2, "first": "s:1"},
        {"task": "7", "verdict": "confirm", "calls": 1, "sessions": 1, "first": "s:6"},
    ]
    by_task = replay(_lines(*lines), policy, recording=Recording("s", task_key="task"))
    assert (by_task.sessions, by_task.tasks.keys()) == (3, tally.tasks.keys())


def test_without_a_task_it_is_the_session(policy: AuthorizationPolicy) -> None:
    """By its file, and by the value of its key."""
    lines = _lines({"run": 1, **_call("ask")}, {"run": 2, **_call("ask")})
    assert list(replay(lines, policy, recording=Recording("s", "run")).tasks) == ["s 1", "s 2"]
    assert list(replay(lines, policy, recording=Recording("s")).tasks) == ["s"]


def test_two_policies_are_compared(policy: AuthorizationPolicy) -> None:
    """Each with a session of its own; only what is stricter now is a loss."""
    before = policy_of(
        _RULES.replace('effect = "block"', 'effect = "confirm"').replace(
            '"says"\neffect = "allow"', '"says"\neffect = "confirm"'
        )
    )
    tally = replay(
        _lines(_call("say"), _call("delete"), _call("delete")), policy, before, recording=Recording("s.jsonl")
    )
    assert tally.changes == {("confirm", "allow", "say", "says"): 1, ("confirm", "block", "delete", "no-deleting"): 2}
    assert tally.places["confirm", "block", "delete", "no-deleting"] == "s.jsonl:2"
    assert tally.lost == {"block": 1}
    assert replay(_lines(_call("say")), policy, before).lost == {}


def test_a_line_that_cannot_be_read_is_counted(policy: AuthorizationPolicy) -> None:
    """And the rest is replayed."""
    lines: list[tuple[int, str | CallError]] = [
        (1, "{"),
        (2, CallError("too long")),
        (3, '{"name": "say", "arguments": 5}'),
    ]
    tally = replay([*lines, (4, '{"x": 1}'), *_lines(_call("say"))], policy, recording=Recording("s.jsonl"))
    assert (tally.calls, sum(tally.bad.values())) == (1, 4)
    assert tally.places["bad", "too long"] == "s.jsonl:2"


def test_a_long_session_takes_no_more_memory(policy: AuthorizationPolicy) -> None:
    """Calls whose results never come are forgotten."""

    def lines() -> Iterator[tuple[int, str | CallError]]:
        for number in range(3_000):
            yield number, json.dumps(_call("say", f"c{number}"))
        yield 1, json.dumps({"id": "c0", "name": "say", "ok": True, "content": "late"})

    assert replay(lines(), policy).calls == 3_000


def test_tallies_add_up(policy: AuthorizationPolicy) -> None:
    """Those of several files are those of one."""
    messages = [_call("say"), _call("find"), _call("delete")]
    whole, parts = (
        Tally(),
        [replay(_lines(each), policy, recording=Recording(f"{number}")) for number, each in enumerate(messages)],
    )
    for part in parts:
        whole.add(part)
    counted = whole.to_dict()
    assert (counted["calls"], counted["sessions"], counted["verdicts"]) == (3, 3, {"allow": 2, "block": 1})
    assert {row["rule"]: row["first"] for row in counted["rules"]} == {
        "says": "0:1",
        "finds": "1:1",
        "no-deleting": "2:1",
    }
    assert counted["sessions_with_a_loss"] == {"block": 1}
    json.dumps(counted)


def test_a_recorded_session_of_the_project(policy: AuthorizationPolicy) -> None:
    """The shipped one has calls in the form of a provider."""
    path = Path(__file__).resolve().parents[4] / "golden/sessions/bug-fix/session.jsonl"
    lines = list(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))
    tally = replay(lines, policy)
    assert tally.calls > 5
    assert not tally.bad


def test_each_call_is_watched_in_its_context(policy: AuthorizationPolicy) -> None:
    """With its place, what was heard until then, and the labels of earlier calls."""
    watched: list[tuple[str, str, bool, frozenset[str]]] = []

    def watch(place: str, call: ToolCall, context: AuthContext, _: ToolSpec | None) -> None:
        watched.append((place, call.name, bool(context.provenance.messages), frozenset(context.labels)))

    said = {"role": "user", "content": "Pay AT11."}
    lines = _lines(_call("say"), said, _call("find"), _call("say"))
    replay(lines, policy, recording=Recording("s"), watch=watch)
    assert watched == [
        ("s:1", "say", False, frozenset()),
        ("s:3", "find", True, frozenset()),
        ("s:4", "say", True, frozenset({"found"})),
    ]
