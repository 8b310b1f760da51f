"""Spans and metrics, as a collector receives them over OTLP."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from tests.collector import Collector, attributes, listening

from permitry.audit.record import JsonlRecorder, MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.errors import AuditError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit
from permitry.guard.session import Session
from permitry_ops.otel import OtelRecorder


@attrs.define
class Sending:
    """Providers whose telemetry comes to a collector."""

    at: Collector
    tracers: TracerProvider
    meters: MeterProvider

    def recorder(self, **options: Any) -> OtelRecorder:  # noqa: ANN401 -- as the class takes them
        """Return a recorder whose telemetry comes there."""
        providers = {"tracer_provider": self.tracers, "meter_provider": self.meters}
        return OtelRecorder(MemoryRecorder(), **{**providers, **options})

    def spans(self) -> list[Any]:
        """Return the spans that came, in the order in which they ended."""
        return self.at.spans()

    def metrics(self) -> dict[str, Any]:
        """Return the metrics by name."""
        self.meters.force_flush()
        return self.at.metrics()


@pytest.fixture
def collector() -> Iterator[Sending]:
    """Return a collector that listens, and what sends to it."""
    with listening() as found:
        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{found.address}/v1/traces")))
        exporter = OTLPMetricExporter(f"{found.address}/v1/metrics")
        meters = MeterProvider([PeriodicExportingMetricReader(exporter, 3_600_000)])
        yield Sending(found, tracers, meters)
        tracers.shutdown()
        meters.shutdown()


def permitted(guard: Guard, call: ToolCall) -> Permit:
    """Return the permit of a call that may run, once it is approved if it is asked about."""
    outcome = guard.check(call)
    if isinstance(outcome, Ask):
        outcome = guard.answer(outcome.id, ToolConfirmationResponse(True))
    assert isinstance(outcome, Permit)
    return outcome


def test_a_run_is_a_span_by_the_conventions(collector: Sending) -> None:
    """With all that was decided, inside of the span of the agent, and without a word of the arguments."""
    guard = Guard(session=Session(yolo_mode=True), recorder=collector.recorder())
    call = ToolCall("look", {"path": "a.txt"}, call_id="c1")
    with trace.use_span(collector.tracers.get_tracer("agent").start_span("invoke_agent"), end_on_exit=True) as agent:
        permit = permitted(guard, call)
        permit.take()
        permit.done(ok=True)
    span, outer = collector.spans()
    assert (span.name, outer.name, span.kind, span.status.code) == ("execute_tool look", "invoke_agent", 1, 0)
    assert span.parent_span_id == outer.span_id == agent.get_span_context().span_id.to_bytes(8, "big")
    decision = permit.decision
    assert attributes(span) == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1", "permitry.call.digest": call.digest, "permitry.verdict": "allow",
        "permitry.rule": decision.rule_id, "permitry.rule.source": "built-in", "permitry.phase": "permission",
        "permitry.policy.version": decision.policy_version, "permitry.mode": "yolo", "permitry.outcome": "ok",
        "gen_ai.agent.name": "main",
    }  # fmt: skip
    assert [event.name for event in span.events] == ["permitry.started"]
    assert span.start_time_unix_nano < span.end_time_unix_nano
    assert all(b"a.txt" not in body for _, body in collector.at.bodies)


def test_arguments_are_shown_on_request_and_without_secrets(collector: Sending) -> None:
    """Only then."""
    guard = Guard(session=Session(yolo_mode=True), recorder=collector.recorder(shows_arguments=True))
    with permitted(guard, ToolCall("look", {"path": "a.txt", "token": "canary-7"})):
        pass
    (span,) = collector.spans()
    assert json.loads(attributes(span)["gen_ai.tool.call.arguments"]) == {"path": "a.txt", "token": "[redacted]"}
    assert all(b"canary-7" not in body for _, body in collector.at.bodies)


@pytest.mark.parametrize("is_approved", [True, False])
def test_a_question_is_part_of_the_span(collector: Sending, *, is_approved: bool) -> None:
    """With what was answered, and how long that took."""
    guard = Guard(session=Session(), recorder=collector.recorder())
    ask = guard.check(ToolCall("send", call_id="c1"))
    assert isinstance(ask, Ask)
    outcome = guard.answer(ask.id, ToolConfirmationResponse(is_approved))
    if isinstance(outcome, Permit):
        outcome.take()
        outcome.done(ok=False)
    (span,) = collector.spans()
    ended = ("failed", "permitry.failed", 2) if is_approved else ("not approved", None, 0)
    shown = attributes(span)
    assert shown["permitry.verdict"] == "confirm"
    assert (shown["permitry.outcome"], shown.get("error.type"), span.status.code) == ended
    asked, answered, *_ = span.events
    assert (asked.name, answered.name, attributes(answered)) == (
        "permitry.asked", "permitry.answered", {"permitry.approved": is_approved}
    )  # fmt: skip
    (point,) = collector.metrics()["permitry.question.duration"].histogram.data_points
    assert (attributes(point), point.count) == ({"gen_ai.tool.name": "send", "permitry.approved": is_approved}, 1)


def test_decisions_and_runs_are_counted(collector: Sending) -> None:
    """By tool and verdict; a blocked call ends its span, and has no run."""
    recorder = collector.recorder()
    call = ToolCall("look")
    for verdict in ("allow", "block", "block"):
        recorder.record("decided", call, verdict=verdict, errors=["r: KeyError"])
    recorder.record("decided", call, verdict="allow")
    recorder.record("finished", call, ok=False, outcome="timed out", seconds=2.5)
    found = collector.metrics()
    points = found["permitry.decisions"].sum.data_points
    assert {(attributes(point)["permitry.verdict"], point.as_int) for point in points} == {("allow", 2), ("block", 2)}
    (point,) = found["gen_ai.execute_tool.duration"].histogram.data_points
    assert (point.sum, attributes(point)) == (
        2.5,
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "error.type": "permitry.timed_out"},
    )
    assert point.explicit_bounds[0] == 0.01
    assert [(each["permitry.outcome"], each.get("error.type")) for each in map(attributes, collector.spans())] == [
        ("blocked", None), ("blocked", None), ("timed out", "permitry.timed_out")
    ]  # fmt: skip


@pytest.mark.parametrize(("shows_arguments", "shown"), [(False, "r"), (True, "r: token=[redacted]")])
def test_why_a_rule_failed_may_quote_an_argument(collector: Sending, *, shows_arguments: bool, shown: str) -> None:
    """So it is shown as arguments are; which rule it was is always shown."""
    recorder = collector.recorder(shows_arguments=shows_arguments)
    error = "r: token=canary-7"
    recorder.record("decided", ToolCall("look"), verdict="block", errors=[error])
    (span,) = collector.spans()
    assert [each.string_value for each in attributes(span)["permitry.errors"].values] == [shown]


def test_an_undo_is_a_span_of_its_own(collector: Sending) -> None:
    """Of the call that was undone, for as long as it took; and it is counted."""
    details = {"call_id": "c1", "digest": "d", "entry": "2", "undone_by": "3", "seconds": 0.5}
    collector.recorder().record("undone", ToolCall("bash"), **details)
    (span,) = collector.spans()
    assert (span.name, span.kind, span.status.code) == ("undo bash", 1, 0)
    assert attributes(span) == {
        "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "c1", "permitry.call.digest": "d",
        "permitry.undo.entry": "2", "permitry.undo.undone_by": "3",
    }  # fmt: skip
    assert span.end_time_unix_nano - span.start_time_unix_nano == 500_000_000
    (point,) = collector.metrics()["permitry.undos"].sum.data_points
    assert (attributes(point), point.as_int) == ({"gen_ai.tool.name": "bash"}, 1)


def test_an_undo_without_an_id_is_a_span_too(collector: Sending) -> None:
    """The call may have had none."""
    collector.recorder().record("undone", ToolCall("bash"), call_id=None, entry="2")
    assert attributes(collector.spans()[0]) == {"gen_ai.tool.name": "bash", "permitry.undo.entry": "2"}


def test_an_answer_with_edited_arguments_ends_the_span(collector: Sending) -> None:
    """What runs is another call, with another digest."""
    guard = Guard(session=Session(), recorder=collector.recorder())
    ask = guard.check(ToolCall("send", {"to": "a"}, call_id="c1"))
    assert isinstance(ask, Ask)
    permit = guard.answer(ask.id, ToolConfirmationResponse(True, arguments={"to": "b"}))
    assert isinstance(permit, Permit)
    with permit:
        pass
    first, second = collector.spans()
    assert (first.status.code, "permitry.outcome" in attributes(first)) == (0, False)
    assert attributes(first.events[-1]) == {"permitry.approved": True, "permitry.edited": True}
    assert attributes(second)["permitry.outcome"] == "ok"
    assert attributes(first)["permitry.call.digest"] != attributes(second)["permitry.call.digest"]


def test_a_grant_is_the_answer_that_it_gives(collector: Sending) -> None:
    """With its id, as a human could have answered as well."""
    recorder = collector.recorder()
    recorder.record("decided", ToolCall("send"), verdict="confirm")
    recorder.record("answered", ToolCall("send"), approved=True, grant="g1")
    recorder.record("finished", ToolCall("send"), ok=True, outcome="ok", seconds=0.1)
    (span,) = collector.spans()
    assert attributes(span.events[0]) == {"permitry.approved": True, "permitry.grant": "g1"}


def test_what_is_open_at_the_end_is_unfinished(collector: Sending) -> None:
    """Else it would not be sent at all."""
    recorder = collector.recorder()
    recorder.record("decided", ToolCall("look"), verdict="allow")
    recorder.close()
    recorder.close()
    assert [attributes(span)["error.type"] for span in collector.spans()] == ["permitry.unfinished"]


def test_the_session_is_that_of_the_record(tmp_path: Path) -> None:
    """What is kept for an undo is filed under it; a recorder without one has none."""
    assert not hasattr(OtelRecorder(MemoryRecorder()), "session")
    inner = JsonlRecorder(str(tmp_path / "a.jsonl"), session="s1")
    assert OtelRecorder(inner).session == "s1"
    inner.close()


def test_a_span_names_the_session_of_the_record(collector: Sending, tmp_path: Path) -> None:
    """So that the calls of one conversation are found together."""
    recorder = collector.recorder()
    recorder.recorder = JsonlRecorder(str(tmp_path / "a.jsonl"), session="s1")
    recorder.record("decided", ToolCall("look"), verdict="block", agent="helper")
    (span,) = collector.spans()
    shown = attributes(span)
    assert (shown["gen_ai.conversation.id"], shown["gen_ai.agent.name"]) == ("s1", "helper")
    recorder.recorder.close()


def test_spans_do_not_pile_up(collector: Sending) -> None:
    """The oldest ends when there are too many."""
    recorder = collector.recorder(most=2)
    for number in range(4):
        recorder.record("decided", ToolCall("look", call_id=f"c{number}"), verdict="allow")
    said = [attributes(span) for span in collector.spans()]
    assert [each["gen_ai.tool.call.id"] for each in said] == ["c0", "c1"]
    assert {each["error.type"] for each in said} == {"permitry.unfinished"}


class _Failing:
    def record(self, _event: str, _call: ToolCall, /, **_: object) -> None:
        raise AuditError("full")


def test_what_is_not_kept_is_not_passed_on(collector: Sending) -> None:
    """The record comes first, and its error reaches the guard."""
    recorder = collector.recorder()
    recorder.recorder = _Failing()
    with pytest.raises(AuditError):
        recorder.record("decided", ToolCall("look"), verdict="block")
    assert collector.spans() == []


def test_telemetry_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The event is kept, and the failure is logged."""

    class Tracers(trace.TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> trace.Tracer:
            return Tracer()

    class Tracer(trace.NoOpTracer):
        def start_span(self, *_: object, **__: object) -> trace.Span:
            raise RuntimeError("away")

    memory = MemoryRecorder()
    recorder = OtelRecorder(memory, tracer_provider=Tracers())
    with permitted(Guard(session=Session(yolo_mode=True), recorder=recorder), ToolCall("look")):
        pass
    events: list[Mapping[str, object]] = list(memory.records)
    assert [record["event"] for record in events] == ["decided", "started", "finished"]
    assert "cannot pass on an event `decided`" in caplog.text


def test_what_shares_a_write_does_so_behind_telemetry(tmp_path: Path) -> None:
    """A recorder that has nothing for that is not given it."""
    assert not hasattr(OtelRecorder(MemoryRecorder()), "together")
    inner = JsonlRecorder(str(tmp_path / "a.jsonl"))
    recorder = OtelRecorder(inner)
    with recorder.together():
        recorder.record("decided", ToolCall("look"), verdict="allow")
        assert not (tmp_path / "a.jsonl").read_text()
    assert (tmp_path / "a.jsonl").read_text().count("\n") == 1
    inner.close()
