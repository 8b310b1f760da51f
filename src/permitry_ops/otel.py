"""The record as spans and metrics of OpenTelemetry, next to the one that is kept.

Names are those of its conventions for generative AI: https://github.com/open-telemetry/semantic-conventions-genai
"""

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs
from opentelemetry import metrics, trace
from opentelemetry.trace import Span, Status, StatusCode

from permitry.audit.listener import Listener
from permitry.audit.redaction import redacted
from permitry.core.call import ToolCall

__all__ = ["OtelRecorder"]

_NAME = "permitry"
_TOOL, _ID, _ARGUMENTS = "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments"
_ERROR, _OUTCOME = "error.type", "permitry.outcome"
_OPERATION = {"gen_ai.operation.name": "execute_tool"}
_RUN_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The bounds, in seconds, that the conventions advise for durations."""
_WAIT_BUCKETS = (1, 2, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400)
"""Bounds, in seconds, for how long a human takes."""
_SHOWN = {"verdict": "permitry.verdict", "rule": "permitry.rule", "source": "permitry.rule.source",
          "phase": "permitry.phase", "policy_version": "permitry.policy.version", "mode": "permitry.mode",
          "agent": "gen_ai.agent.name"}  # fmt: skip
_UNDONE = {"call_id": _ID, "digest": "permitry.call.digest", "entry": "permitry.undo.entry",
           "undone_by": "permitry.undo.undone_by"}  # fmt: skip
_Key: TypeAlias = tuple[str | None, str]


@attrs.define(eq=False)
class _Open:
    """A call whose span has not ended; `asked_at` is in seconds."""

    span: Span
    asked_at: float | None = None


@attrs.define(eq=False)
class OtelRecorder(Listener):
    """Keeps each event with `recorder`, and then makes it part of a span for the call, and of metrics.

    The span `execute_tool TOOL` begins with the decision, inside of the span that is current then, and
    ends when the tool has, or does not run. An undo is a span `undo TOOL`. The text of arguments is
    shown only with `shows_arguments`, without secrets. At most `most` spans are open. What goes wrong
    with telemetry is logged, and changes nothing about a call.

    >>> from permitry import Session, ToolHandler
    >>> from permitry.audit.record import MemoryRecorder
    >>> handler = ToolHandler(Session(), recorder=OtelRecorder(MemoryRecorder()))
    """

    shows_arguments: bool = attrs.field(default=False, kw_only=True)
    most: int = attrs.field(default=1_000, kw_only=True, validator=attrs.validators.ge(1))
    tracer_provider: trace.TracerProvider | None = attrs.field(default=None, kw_only=True)
    meter_provider: metrics.MeterProvider | None = attrs.field(default=None, kw_only=True)
    _open: "OrderedDict[_Key, _Open]" = attrs.field(factory=OrderedDict, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)
    _tracer: trace.Tracer = attrs.field(init=False, repr=False)
    _decisions: metrics.Counter = attrs.field(init=False, repr=False)
    _waits: metrics.Histogram = attrs.field(init=False, repr=False)
    _runs: metrics.Histogram = attrs.field(init=False, repr=False)
    _undos: metrics.Counter = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Make what telemetry is given to."""
        self._tracer = trace.get_tracer(_NAME, tracer_provider=self.tracer_provider)
        meter = metrics.get_meter(_NAME, meter_provider=self.meter_provider)
        self._decisions = meter.create_counter("permitry.decisions", "{decision}", "decisions on tool calls")
        make = meter.create_histogram
        self._waits = make(
            "permitry.question.duration", "s", "how long questions were open",
            explicit_bucket_boundaries_advisory=_WAIT_BUCKETS,
        )  # fmt: skip
        self._runs = make(
            "gen_ai.execute_tool.duration", "s", "how long tools ran", explicit_bucket_boundaries_advisory=_RUN_BUCKETS
        )
        self._undos = meter.create_counter("permitry.undos", "{undo}", "calls whose changes were taken back")

    def hear(self, event: str, call: ToolCall, details: Mapping[str, Any]) -> None:
        """Make an event part of a span, and of metrics."""
        with self._lock:
            self._pass_on(event, call, details)

    def close(self) -> None:
        """End all spans: what has not ended by now is unfinished. The recorder stays open."""
        with self._lock:
            for key in tuple(self._open):
                self._end(key, "permitry.unfinished")

    def _pass_on(self, event: str, call: ToolCall, details: Mapping[str, Any]) -> None:
        key = call.call_id, call.digest
        shown = {_SHOWN[name]: value for name, value in details.items() if name in _SHOWN and value is not None}
        match event:
            case "decided":
                self._decisions.add(1, {_TOOL: call.tool, "permitry.verdict": str(details.get("verdict"))})
                span = self._span(key, call).span
                span.set_attributes(shown)
                if details.get("errors"):
                    span.set_attribute("permitry.errors", list(map(self._show_error, details["errors"])))
                if self.shows_arguments and "arguments" in details:
                    span.set_attribute(_ARGUMENTS, json.dumps(redacted(details["arguments"])))
                if details.get("verdict") == "block":
                    self._end(key, None, "blocked")
            case "asked":
                found = self._span(key, call)
                found.asked_at = time.monotonic()
                found.span.add_event("permitry.asked")
            case "answered":
                self._note_answer(key, call, details)
            case "finished":
                outcome, own, error = str(details.get("outcome")), {_TOOL: call.tool, **_OPERATION}, None
                if details.get("ok") is not True:
                    own[_ERROR] = error = f"permitry.{outcome.replace(' ', '_')}"
                self._runs.record(float(details.get("seconds") or 0), own)
                self._span(key, call)
                self._end(key, error, outcome)
            case "undone":
                self._note_undo(call, details)
            case _:
                self._span(key, call).span.add_event(f"permitry.{event}")

    def _show_error(self, error: str) -> str:
        """Return the rule that failed; why it did may quote an argument."""
        return redacted(error) if self.shows_arguments else error.partition(":")[0]

    def _note_answer(self, key: _Key, call: ToolCall, details: Mapping[str, Any]) -> None:
        is_approved, is_edited = details.get("approved") is True, details.get("edited") is True
        found, about = self._span(key, call), {"permitry.approved": is_approved}
        own = {"permitry.edited": is_edited, "permitry.grant": details.get("grant")}
        found.span.add_event("permitry.answered", about | {name: value for name, value in own.items() if value})
        if found.asked_at is not None:
            self._waits.record(time.monotonic() - found.asked_at, {_TOOL: call.tool, **about})
        if not is_approved:
            self._end(key, None, "not approved")
        elif is_edited:
            # The call with the edited arguments is another one, with a span of its own.
            self._end(key, None)

    def _note_undo(self, call: ToolCall, details: Mapping[str, Any]) -> None:
        seconds, now = float(details.get("seconds") or 0), time.time_ns()
        given = {_UNDONE[name]: details[name] for name in _UNDONE if details.get(name)}
        span = self._tracer.start_span(
            f"undo {call.tool}", attributes={_TOOL: call.tool, **given}, start_time=now - int(seconds * 1e9)
        )
        span.end(now)
        self._undos.add(1, {_TOOL: call.tool})

    def _span(self, key: _Key, call: ToolCall) -> _Open:
        if key not in self._open:
            attributes = {**_OPERATION, "gen_ai.tool.type": "function", _TOOL: call.tool}
            attributes["permitry.call.digest"] = call.digest
            if call.call_id is not None:
                attributes[_ID] = call.call_id
            if session := getattr(self.recorder, "session", None):
                attributes["gen_ai.conversation.id"] = session
            self._open[key] = _Open(self._tracer.start_span(f"execute_tool {call.tool}", attributes=attributes))
            if len(self._open) > self.most:
                self._end(next(iter(self._open)), "permitry.unfinished")
        return self._open[key]

    def _end(self, key: _Key, error: str | None, outcome: str = "") -> None:
        """End a span; only what went wrong is an error, and what was decided is an outcome."""
        span = self._open.pop(key).span
        if outcome:
            span.set_attribute(_OUTCOME, outcome)
        if error is not None:
            span.set_attribute(_ERROR, error)
            span.set_status(Status(StatusCode.ERROR))
        span.end()
