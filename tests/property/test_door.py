"""Laws 5 and 7: what was authorized is what runs, once, and nothing runs without a record.

Random sessions go through the whole facade: calls with and without ids, repeated ids, unknown tools, restrictions, and
people (or channels) that answer in every way. Each tool notes, while it runs, how much was on record by then.
"""

import contextlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import attrs
from hypothesis import given
from hypothesis import strategies as st

from permitry.audit.recorder import AuditRecord, MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.scope import Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.dispatch.registry import Handler, ToolRegistry
from permitry.errors import AuditError
from permitry.handler import Ready, ToolHandler
from permitry.rules.configured import ConfiguredRule

Json: TypeAlias = Any

_TOOLS = ("look", "write", "guarded", "blocked", "crash")
_POLICY = create_default_authorization_policy(
    [
        ConfiguredRule("guard", Verdict.CONFIRM, 160, Scope((ToolSelector("guarded"),))),
        ConfiguredRule("block", Verdict.BLOCK, 150, Scope((ToolSelector("blocked"),))),
    ]
)


@attrs.frozen
class Step:
    """One call of a session, the mode it comes in, and what the human says if asked."""

    call: ToolCall
    mode: str
    answer: object


@attrs.frozen
class Run:
    """One run of a tool: the digest of what it was given, and how many events were on record when it began."""

    digest: str
    recorded: int


@attrs.define
class Recorder:
    """Keeps every event but those whose numbers are in `failing`: for these it raises."""

    failing: frozenset[int] = frozenset()
    kept: list[AuditRecord] = attrs.field(factory=list)
    _number: int = 0

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Keep one event, or fail."""
        self._number += 1
        if self._number in self.failing:
            raise AuditError("on purpose")
        memory = MemoryRecorder()
        memory.record(event, call, **details)
        self.kept.extend(memory.records)


@attrs.define
class Session:
    """A handler whose tools note their runs."""

    recorder: Recorder
    runs: list[Run] = attrs.field(factory=list)
    answer: object = None
    handler: ToolHandler = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        registry = ToolRegistry()
        for name in _TOOLS:
            registry.register(ToolSpec(name, traits=ToolTraits(read_only=name == "look")), self._tool(name))
        channel = CallbackChannel(self._answer)
        self.handler = ToolHandler(policy=_POLICY, registry=registry, recorder=self.recorder, channel=channel)

    def play(self, steps: Sequence[Step]) -> None:
        """Handle every call; a host goes on after an error of the record."""
        for step in steps:
            self.handler.session.switch_mode(step.mode)
            self.answer = step.answer
            with contextlib.suppress(AuditError):
                self.handler.handle(step.call)

    def _tool(self, name: str) -> Handler:
        def run(arguments: dict[str, Any]) -> tuple[bool, str]:
            self.runs.append(Run(ToolCall(name, arguments).digest, len(self.recorder.kept)))
            if name == "crash":
                raise ZeroDivisionError
            return True, "done"

        return run

    def _answer(self, _: ToolConfirmationRequest) -> Any:  # noqa: ANN401 -- wrong answers are among them
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def _count(records: Sequence[AuditRecord], event: str) -> int:
    return sum(each["event"] == event for each in records)


def _of(records: Sequence[AuditRecord], event: str, run: AuditRecord) -> list[int]:
    same = (event, run["call_id"], run["digest"])
    return [i for i, each in enumerate(records) if (each["event"], each["call_id"], each["digest"]) == same]


def _assert_authorized(before: Sequence[AuditRecord], digest: str) -> None:
    """Check what was on record when a tool began: its start, a decision on it, and a yes if one was needed."""
    started = before[-1]
    assert (started["event"], started["digest"]) == ("started", digest)
    decisions = _of(before, "decided", started)
    assert decisions
    verdict = before[decisions[-1]]["verdict"]
    assert verdict in {"allow", "confirm"}
    if before[decisions[-1]].get("edited"):
        # The answer with the edit names the call that was asked about: same id, earlier digest.
        said = [each for each in before if (each["event"], each["call_id"]) == ("answered", started["call_id"])]
        assert said
        assert (said[-1]["approved"], said[-1]["edited"]) == (True, True)
    elif verdict == "confirm":
        answers = [before[i] for i in _of(before, "answered", started) if i > decisions[-1]]
        assert [answer["approved"] for answer in answers] == [True]
    # One decision is one run: only an edit by a human, decided again, can make the same call run once more.
    assert all(earlier < decisions[-1] for earlier in _of(before, "started", started)[:-1])


_answers = st.one_of(
    st.builds(
        ToolConfirmationResponse,
        st.sampled_from((True, True, False)),
        skip_future=st.booleans(),
        abort=st.sampled_from((False, False, True)),
        arguments=st.one_of(st.none(), st.none(), st.fixed_dictionaries({"n": st.integers(0, 3)})),
    ),
    st.sampled_from((None, True, "yes", OSError("gone"))),
)
_calls = st.builds(
    ToolCall,
    st.sampled_from((*_TOOLS, "missing")),
    st.fixed_dictionaries({}, optional={"n": st.integers(0, 2)}),
    call_id=st.sampled_from((None, "a", "b", "call-1", "call-2")),
)
_steps = st.lists(
    st.builds(Step, _calls, st.sampled_from(("default", "default", "plan", "yolo")), _answers), max_size=12
)


@given(steps=_steps)
def test_every_run_was_decided_and_approved_on_record(steps: list[Step]) -> None:
    """When a tool begins, its decision, and a human's yes where one was needed, have been recorded for that digest."""
    session = Session(Recorder())
    session.play(steps)
    for run in session.runs:
        _assert_authorized(session.recorder.kept[: run.recorded], run.digest)


@given(steps=_steps)
def test_runs_starts_and_ends_are_as_many(steps: list[Step]) -> None:
    """Each run has one start and one end on record, and is counted once in the session."""
    session = Session(Recorder())
    session.play(steps)
    records = session.recorder.kept
    assert len(session.runs) == _count(records, "started") == _count(records, "finished")
    assert len(session.runs) == session.handler.session.counts.total()


@given(steps=_steps, failing=st.frozensets(st.integers(1, 30), max_size=8))
def test_a_failing_record_never_lets_a_call_run_unrecorded(steps: list[Step], failing: frozenset[int]) -> None:
    """Whatever events a record fails to keep, nothing runs without those that must come before."""
    session = Session(Recorder(failing))
    session.play(steps)
    for run in session.runs:
        _assert_authorized(session.recorder.kept[: run.recorded], run.digest)
    assert len(session.runs) == _count(session.recorder.kept, "started")


@given(steps=_steps)
def test_no_call_of_one_id_runs_twice(steps: list[Step]) -> None:
    """However often the same call with the same id comes, it runs once at most, unless a human edits one into it."""
    plain = [step for step in steps if getattr(step.answer, "arguments", None) is None]
    session = Session(Recorder())
    session.play([*plain, *plain])
    started = [(each["call_id"], each["digest"]) for each in session.recorder.kept if each["event"] == "started"]
    assert len(set(started)) == len(started)


_json: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=10,
)


def _spoil(value: Json) -> None:
    """Change a value everywhere it can be changed."""
    if isinstance(value, dict):
        for each in value.values():
            _spoil(each)
        value["spoilt"] = True
    elif isinstance(value, list):
        for each in value:
            _spoil(each)
        value.append("spoilt")


@given(arguments=st.dictionaries(st.text(max_size=2), _json, max_size=4))
def test_what_was_authorized_is_what_runs(arguments: dict[str, Json]) -> None:
    """Whatever happens to the caller's own objects after the decision, the tool gets what was decided about."""
    session = Session(Recorder())
    digest = ToolCall("look", arguments).digest
    outcome = session.handler.begin(ToolCall("look", arguments))
    _spoil(arguments)
    assert isinstance(outcome, Ready)
    assert session.handler.run(outcome).ok
    assert [run.digest for run in session.runs] == [digest]
