"""What a running tool reports: in order, to whoever asked for it, and never in the way of the tool."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.events import Artifact, ToolEvent, ToolEventKind, report, reporter_here
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.dispatch.waiting import GRACE
from permitry.errors import AuditError
from permitry.guard.session import Session
from permitry.handler import ToolHandler

Kind = ToolEventKind
INNER = ToolCall("inner")


class NoArtifacts:
    """Keeps nothing; it makes a run have a reporter without a sink."""

    def open(self, tool: str, agent: str) -> Artifact:
        """Refuse."""
        raise OSError(tool, agent)


@pytest.fixture
def seen(registry: ToolRegistry) -> list[ToolEvent]:
    """Return the events of the registry's tools, as they come."""
    events: list[ToolEvent] = []
    registry.on_event = events.append
    return events


@pytest.fixture
def speaking(registry: ToolRegistry) -> ToolRegistry:
    """Return the registry with a tool that reports."""

    def speak(_: object) -> str:
        report(Kind.STATUS, "looking")
        report(Kind.OUTPUT, "one ")
        report(Kind.OUTPUT, "two")
        report(Kind.PROGRESS, done=1, total=2)
        return "done"

    registry.register(ToolSpec("speak"), speak)
    return registry


def _kinds(events: list[ToolEvent]) -> list[str]:
    return [event.kind.value for event in events]


def test_a_run_is_reported_from_its_start_to_its_end(
    speaking: ToolRegistry, handler: ToolHandler, seen: list[ToolEvent]
) -> None:
    """All of it is there when the result is; pieces of output may be joined."""
    assert len(speaking)
    assert handler.handle(ToolCall("speak", call_id="c1")).text == "done"
    text = "".join(event.text for event in seen if event.kind is Kind.OUTPUT)
    assert (seen[0].kind, seen[1].text, text) == (Kind.STARTED, "looking", "one two")
    assert seen[-2].data == {"done": 1, "total": 2}
    assert (seen[-1].kind, seen[-1].text, seen[-1].data["ok"]) == (Kind.FINISHED, "done", True)
    assert {(event.tool, event.call_id, event.agent) for event in seen} == {("speak", "c1", "main")}


def test_an_event_is_a_json_object() -> None:
    """For hosts that send it on."""
    event = ToolEvent(Kind.PROGRESS, "speak", "c1", "main", "half", {"done": 1})
    assert event.to_dict() == {
        "event": "progress", "tool": "speak", "call_id": "c1", "agent": "main", "text": "half", "data": {"done": 1},
    }  # fmt: skip


def test_the_caller_may_look_for_itself(speaking: ToolRegistry, handler: ToolHandler, seen: list[ToolEvent]) -> None:
    """Then the registry's own sink takes nothing."""
    mine: list[ToolEvent] = []
    handler.handle(ToolCall("speak"), CallScope(on_event=mine.append))
    assert len(speaking)
    assert (_kinds(mine)[0], _kinds(mine)[-1], seen) == ("started", "finished", [])


def test_steps_of_an_agent_may_go_elsewhere(registry: ToolRegistry, handler: ToolHandler) -> None:
    """To `on_step`, with everything else going where it went."""

    def agent(_: object) -> str:
        report(Kind.STEP, "round 1")
        return "done"

    registry.register(ToolSpec("agent"), agent)
    steps: list[ToolEvent] = []
    events: list[ToolEvent] = []
    handler.handle(ToolCall("agent"), CallScope(on_step=steps.append, on_event=events.append))
    handler.handle(ToolCall("agent"), CallScope(on_step=steps.append))
    handler.handle(ToolCall("agent"), CallScope(on_event=events.append))
    assert _kinds(steps) == ["step", "step"]
    assert _kinds(events) == ["started", "finished", "started", "step", "finished"]


def test_an_async_host_may_have_an_async_sink(speaking: ToolRegistry, handler: ToolHandler) -> None:
    """It is awaited on the loop of the host."""
    events: list[tuple[str, int]] = []

    async def sink(event: ToolEvent) -> None:
        await asyncio.sleep(0)
        events.append((event.kind.value, threading.get_ident()))

    async def main() -> ToolResult:
        return await handler.ahandle(ToolCall("speak"), CallScope(on_event=sink))

    assert len(speaking)
    assert asyncio.run(main()).text == "done"
    assert (events[0][0], events[-1][0]) == ("started", "finished")
    assert {thread for _, thread in events} == {threading.get_ident()}


def test_an_async_sink_serves_a_host_that_is_not(speaking: ToolRegistry, handler: ToolHandler) -> None:
    """On a loop of its own."""
    events: list[ToolEvent] = []

    async def sink(event: ToolEvent) -> None:
        events.append(event)

    assert len(speaking)
    handler.handle(ToolCall("speak"), CallScope(on_event=sink))
    assert _kinds(events)[-1] == "finished"


def test_a_sink_that_fails_ends_nothing(
    speaking: ToolRegistry, handler: ToolHandler, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged once."""

    def sink(_: ToolEvent) -> None:
        raise ValueError("no")

    speaking.on_event = sink
    with caplog.at_level(logging.WARNING, "permitry.events"):
        assert handler.handle(ToolCall("speak")).text == "done"
    assert [record.message for record in caplog.records] == ["The sink of events failed: ValueError"]


def test_a_slow_sink_holds_up_no_tool(registry: ToolRegistry, handler: ToolHandler) -> None:
    """What the tool says in the meantime is joined; beyond a bound the oldest of it is left out, and counted."""
    go = threading.Event()
    events: list[ToolEvent] = []

    def sink(event: ToolEvent) -> None:
        go.wait(10)
        events.append(event)

    def flood(_: object) -> str:
        for number in range(10_000):
            report(Kind.OUTPUT, f"{number:>99}\n")
        go.set()
        return "done"

    registry.on_event = sink
    registry.register(ToolSpec("flood"), flood)
    handler.handle(ToolCall("flood"))
    output = [event for event in events if event.kind is Kind.OUTPUT]
    omitted = sum(event.data.get("omitted", 0) for event in output)
    assert omitted > 0
    assert sum(len(event.text) for event in output) + omitted == 1_000_000
    assert output[-1].text.endswith(" 9999\n")


def test_a_run_inside_of_a_run_reports_for_itself(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Each event has the name of its own tool, and all go one way."""
    events: list[ToolEvent] = []

    def inner(_: object) -> str:
        report(Kind.STATUS, "within")
        return "inner"

    registry.register(ToolSpec("inner"), inner)
    registry.register(ToolSpec("outer"), lambda _: handler.handle(ToolCall("inner")))
    handler.handle(ToolCall("outer"), CallScope(on_event=events.append))
    assert [(event.tool, event.kind.value) for event in events] == [
        ("outer", "started"), ("inner", "started"), ("inner", "status"), ("inner", "finished"), ("outer", "finished"),
    ]  # fmt: skip


def test_an_agent_that_is_given_the_sink_of_its_caller_shares_its_stream(
    registry: ToolRegistry, handler: ToolHandler
) -> None:
    """One thread delivers the events of both, in their order."""
    threads: set[int] = set()
    events: list[ToolEvent] = []

    def sink(event: ToolEvent) -> None:
        threads.add(threading.get_ident())
        events.append(event)

    def agent(_: object, scope: CallScope) -> ToolResult:
        return handler.handle(ToolCall("inner"), attrs.evolve(scope, depth=1))

    registry.register(ToolSpec("inner"), lambda _: "inner")
    registry.register_call_time(ToolSpec("agent"), agent)
    handler.handle(ToolCall("agent"), CallScope(on_event=sink, on_step=sink))
    assert [(event.tool, event.kind.value) for event in events] == [
        ("agent", "started"), ("inner", "started"), ("inner", "finished"), ("agent", "finished"),
    ]  # fmt: skip
    assert len(threads) == 1


def test_a_run_within_one_that_reports_to_nobody_has_its_own_sink(registry: ToolRegistry, handler: ToolHandler) -> None:
    """As where an agent has a registry of its own."""
    own, events = ToolRegistry(), list[ToolEvent]()
    own.on_event = events.append
    own.register(ToolSpec("inner"), lambda _: "inner")
    registry.register(ToolSpec("agent"), lambda _: ToolHandler(Session(yolo_mode=True), registry=own).handle(INNER))
    registry.artifacts = NoArtifacts()
    assert handler.handle(ToolCall("agent")).text == "inner"
    assert _kinds(events) == ["started", "finished"]


def test_nothing_is_reported_after_the_end(registry: ToolRegistry, handler: ToolHandler, seen: list[ToolEvent]) -> None:
    """What a tool leaves behind in a thread is not shown to anyone."""
    left: list[Callable[[], None]] = []

    def leave(_: object) -> str:
        reporter = reporter_here()
        assert reporter is not None
        left.append(lambda: reporter.report(Kind.STATUS, "late"))
        return "done"

    registry.register(ToolSpec("leave"), leave)
    handler.handle(ToolCall("leave"))
    left[0]()
    time.sleep(0.1)
    assert _kinds(seen) == ["started", "finished"]


def test_without_a_run_there_is_nothing_to_report_to() -> None:
    """And no error."""
    report(Kind.STATUS, "hello")
    assert reporter_here() is None


def test_output_is_seen_while_the_tool_runs(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Not when it has ended."""
    came = threading.Event()
    registry.on_event = lambda event: came.set() if event.text == "now" else None

    def wait(_: object) -> str:
        report(Kind.OUTPUT, "now")
        return str(came.wait(10))

    registry.register(ToolSpec("wait"), wait)
    assert handler.handle(ToolCall("wait")).text == "True"


def test_a_sink_that_would_end_the_program_ends_nothing(
    speaking: ToolRegistry, handler: ToolHandler, caplog: pytest.LogCaptureFixture
) -> None:
    """It takes the next event as well, and the run does not wait for what will never come."""
    events: list[ToolEvent] = []

    def sink(event: ToolEvent) -> None:
        events.append(event)
        raise SystemExit

    speaking.on_event = sink
    begun = time.monotonic()
    assert handler.handle(ToolCall("speak")).text == "done"
    assert time.monotonic() - begun < GRACE
    assert _kinds(events)[-1] == "finished"
    assert [record.message for record in caplog.records] == ["The sink of events failed: SystemExit"]


def test_events_end_where_the_end_cannot_be_recorded(
    speaking: ToolRegistry, handler: ToolHandler, seen: list[ToolEvent]
) -> None:
    """No thread is left to wait for more of them."""

    class FullRecorder(MemoryRecorder):
        def record(self, event: str, call: ToolCall, /, **details: object) -> None:
            if event == "finished":
                raise AuditError("the disk is full")
            super().record(event, call, **details)

    handler.recorder = FullRecorder()
    begun = time.monotonic()
    with pytest.raises(AuditError):
        handler.handle(ToolCall("speak"))
    assert len(speaking)
    assert time.monotonic() - begun < GRACE
    assert _kinds(seen)[-1] == "finished"
    assert not [thread for thread in threading.enumerate() if thread.name == "permitry-events"]


def test_a_call_runs_where_its_events_cannot_be_delivered(
    speaking: ToolRegistry, handler: ToolHandler, seen: list[ToolEvent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with too many threads; its end is on record."""

    class NoThread(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    assert len(speaking)
    with monkeypatch.context() as patched:
        patched.setattr("permitry.dispatch.events.threading.Thread", NoThread)
        assert handler.handle(ToolCall("speak")).text == "done"
    assert seen == []


def test_output_of_one_run_is_not_taken_for_that_of_another(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Pieces are joined only where they are neighbours and of one run."""
    events: list[ToolEvent] = []

    def inner(_: object) -> str:
        report(Kind.OUTPUT, "inner 1 ")
        report(Kind.OUTPUT, "inner 2")
        outer_reports[0]()
        report(Kind.OUTPUT, "inner 3")
        return "inner"

    outer_reports: list[Callable[[], None]] = []

    def outer(_: object) -> ToolResult:
        reporter = reporter_here()
        assert reporter is not None
        outer_reports.append(lambda: reporter.report(Kind.OUTPUT, "outer"))
        return handler.handle(ToolCall("inner"))

    registry.register(ToolSpec("inner"), inner)
    registry.register(ToolSpec("outer"), outer)
    handler.handle(ToolCall("outer"), CallScope(on_event=events.append))
    assert "outer" in [event.text for event in events if event.kind is Kind.OUTPUT and event.tool == "outer"]
    assert "".join(event.text for event in events if event.kind is Kind.OUTPUT and event.tool == "inner") == (
        "inner 1 inner 2inner 3"
    )


def test_what_waits_for_a_sink_is_bounded(registry: ToolRegistry, handler: ToolHandler) -> None:
    """However many events come: the newest are delivered, and each costs the tool the same."""
    go = threading.Event()
    events: list[ToolEvent] = []

    def sink(event: ToolEvent) -> None:
        go.wait(60)
        events.append(event)

    def flood(_: object) -> str:
        for number in range(40_000):
            report(Kind.STATUS, str(number))
            report(Kind.OUTPUT, f"{number:>19}\n")
        go.set()
        return "done"

    registry.on_event = sink
    registry.register(ToolSpec("flood"), flood)
    handler.handle(ToolCall("flood"))
    statuses = [event.text for event in events if event.kind is Kind.STATUS]
    output = [event for event in events if event.kind is Kind.OUTPUT]
    assert len(statuses) < 20_000
    assert statuses[-1] == "39999"
    assert sum(len(event.text) + event.data.get("omitted", 0) for event in output) == 800_000


def test_a_tool_that_is_cancelled_has_said_what_it_wrote(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Without a result of its own, on a thread and on a loop; only the last part of much."""

    async def count(arguments: dict[str, int]) -> str:
        for number in range(arguments["to"]):
            report(Kind.OUTPUT, f"{number}\n")
        registry.cancel("c1")
        await asyncio.sleep(60)
        return "never"

    registry.on_event = lambda _: None
    registry.register(ToolSpec("count", timeout=30), count)
    stopped = "The call of `count` was cancelled; it may have had effects. What it wrote until then:\n"
    few = ToolCall("count", {"to": 3}, call_id="c1")
    assert handler.handle(few).text == f"{stopped}0\n1\n2\n"
    many = ToolCall("count", {"to": 10_000}, call_id="c1")
    text = asyncio.run(ToolHandler(handler.session, registry=registry).ahandle(many)).text
    left_out, shown = text.removeprefix(f"{stopped}\n...[").split(" characters left out]...\n")
    assert (int(left_out), shown[-10:]) == (48_890 - 8_000, "9998\n9999\n")


def test_what_an_interrupted_tool_wrote_goes_with_the_error(registry: ToolRegistry, handler: ToolHandler) -> None:
    """A host that is interrupted gets no result."""

    def speak(_: object) -> str:
        report(Kind.OUTPUT, "one")
        raise KeyboardInterrupt

    registry.on_event = lambda _: None
    registry.register(ToolSpec("speak"), speak)
    with pytest.raises(KeyboardInterrupt) as interrupted:
        handler.handle(ToolCall("speak"))
    assert interrupted.value.__notes__ == ["What it wrote until then:\none"]
