"""What `--otel` sends, and where to."""

import pytest
from tests.collector import attributes, listening
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.guard.guard import Guard
from permitry.guard.session import Session
from permitry_ops.otlp import over_otlp


@for_each("name", [None, "my-agent"])
def test_all_is_sent_at_the_end(monkeypatch: pytest.MonkeyPatch, name: str | None) -> None:
    """To the address of the environment, as the service that it names."""
    if name is not None:
        monkeypatch.setenv("OTEL_SERVICE_NAME", name)
    memory = MemoryRecorder()
    with listening() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        with over_otlp(memory) as recorder:
            guard = Guard(session=Session(yolo_mode=True), recorder=recorder)
            with guard.check(ToolCall("look", {"path": "canary-7"})):  # type: ignore[union-attr]  # YOLO mode permits it
                pass
            recorder.record("decided", ToolCall("never"), verdict="allow")
        assert [span.name for span in collector.spans()] == ["execute_tool look", "execute_tool never"]
        resource = collector.requests()[0].resource_spans[0].resource
        assert attributes(resource)["service.name"] == (name or "permitry")
        assert {"permitry.decisions", "gen_ai.execute_tool.duration"} <= collector.metrics().keys()
        assert all(b"canary-7" not in body for _, body in collector.bodies)
    assert [record["event"] for record in memory.records] == ["decided", "started", "finished", "decided"]
