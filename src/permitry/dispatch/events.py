"""What a running tool reports before it ends: one stream for hosts, plugins, delegated agents and the command line.

Events of one run reach the sink in their order. They are delivered from a thread of the run, so that no tool waits for
a slow sink; output that comes faster than it is taken is joined, and beyond a bound its oldest part is left out, with
the number of characters in `data["omitted"]`. Of other events the oldest are dropped where more than 16,384 wait.
Nothing here decides anything: an event that is lost loses no result.
"""

import asyncio
import concurrent.futures
import contextvars
import enum
import inspect
import itertools
import logging
import operator
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeAlias

import attrs

from permitry.core.result import joined_ends

__all__ = [
    "CURRENT_REPORTER",
    "Artifact",
    "ArtifactKeeper",
    "EventSink",
    "Reporter",
    "ToolEvent",
    "ToolEventKind",
    "kept",
    "not_kept",
    "report",
    "reporter_here",
]

_LOG = logging.getLogger("permitry.events")
_EVERY = 0.05
"""The seconds between two deliveries of output, so that many small pieces are one event."""
_MOST_WAITING = 256 * 1024
"""The characters of output that wait for a sink at most."""
_MOST_EVENTS = 16_384
"""The pieces of output that wait for a sink at most, and the other events."""
_MOST_REMEMBERED = 8_000
"""The characters of output that a run which is stopped is told to have written."""

_RunKey: TypeAlias = tuple[str, str | None, str]
"""Tool, call id and agent of an event."""


class ToolEventKind(enum.Enum):
    """What is reported."""

    STARTED = "started"
    OUTPUT = "output"
    STATUS = "status"
    PROGRESS = "progress"
    PLAN = "plan"
    STEP = "step"
    FINISHED = "finished"


@attrs.frozen
class ToolEvent:
    """One report of a run: `text` for people, `data` as a JSON object.

    `data` holds for `PROGRESS` the numbers `done` and, where it is known, `total`; for `PLAN` the `steps`, each with
    `step` and `status`; for `OUTPUT` the characters `omitted` before this text, where any were; for `FINISHED` `ok`,
    `outcome` and `seconds`. A `STEP` is one round of an agent that the tool runs.
    """

    kind: ToolEventKind
    tool: str
    call_id: str | None
    agent: str
    text: str = ""
    data: Mapping[str, Any] = attrs.field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        head = {"event": self.kind.value, "tool": self.tool, "call_id": self.call_id, "agent": self.agent}
        return {**head, "text": self.text, "data": dict(self.data)}


EventSink: TypeAlias = Callable[[ToolEvent], object]
"""Takes events, one at a time. It may be async. What it raises is logged, and ends nothing."""


class Artifact(Protocol):
    """A long text that is being kept while it comes; `note` says what of it is kept, and where."""

    @property
    def note(self) -> str:
        """A phrase for the model, such as `the whole is the artifact ID`."""
        ...

    def write(self, text: str) -> None:
        """Keep more of it; `note` says what cannot be kept."""
        ...

    def close(self) -> None:
        """End it; safe to call again."""
        ...


class ArtifactKeeper(Protocol):
    """Where output goes that is too long for the model."""

    def open(self, tool: str, agent: str) -> Artifact:
        """Begin to keep what `tool` says in answer to `agent`.

        Raises: `OSError` when nothing can be kept.
        """
        ...


@attrs.define(eq=False)
class Reporter:
    """How one run reports: to its sink, if there is one, and where its long output goes. Thread-safe.

    A run within another run reports through the reporter of that one (`outer`), so that the sink has one stream, unless
    its caller has named another sink.
    """

    tool: str
    call_id: str | None
    agent: str
    sink: EventSink | None = None
    artifacts: ArtifactKeeper | None = None
    outer: "Reporter | None" = None
    _loop: asyncio.AbstractEventLoop | None = None
    _delivery: "_Delivery | None" = attrs.field(default=None, init=False)
    _is_closed: bool = attrs.field(default=False, init=False)
    _written: deque[str] = attrs.field(factory=deque, init=False)
    _length: int = attrs.field(default=0, init=False)
    _omitted: int = attrs.field(default=0, init=False)

    @property
    def receiver(self) -> EventSink | None:
        """The sink that takes its events in the end, if there is one."""
        return self.sink if self.outer is None else self.outer.receiver

    def report(self, kind: ToolEventKind, text: str = "", data: Mapping[str, Any] | None = None) -> None:
        """Report one event; after the end of the run none is delivered any more."""
        if kind is ToolEventKind.OUTPUT:
            self._remember(text)
        if (self.sink is not None or self.outer is not None) and not self._is_closed:
            self._put(ToolEvent(kind, self.tool, self.call_id, self.agent, text, {} if data is None else data))

    def _put(self, event: ToolEvent) -> None:
        if self._is_closed:
            return
        if self.outer is not None:
            self.outer._put(event)  # noqa: SLF001 -- of another one of its class
        elif self.sink is not None:
            delivery = self._started_delivery(self.sink)
            if delivery is not None:
                delivery.put(event)

    def _started_delivery(self, sink: EventSink) -> "_Delivery | None":
        """Return the way to the sink; None where there is no room for its thread: a run does without events then."""
        with _STARTING:
            if self._delivery is None and not self._is_closed:
                try:
                    self._delivery = _Delivery(sink, self._loop)
                except RuntimeError as error:
                    self._is_closed = True
                    _LOG.warning("Events of %s are not delivered: %s", self.tool, error)
            return self._delivery

    def _remember(self, text: str) -> None:
        with _REMEMBERING:
            self._written.append(text)
            self._length += len(text)
            while self._length - len(self._written[0]) >= _MOST_REMEMBERED:
                oldest = len(self._written.popleft())
                self._length -= oldest
                self._omitted += oldest

    def written(self) -> str:
        """Return the output that was reported so far: its last 8,000 characters, and how many came before them."""
        with _REMEMBERING:
            tail = "".join(self._written)[-_MOST_REMEMBERED:]
            length = self._omitted + self._length
        return tail if length == len(tail) else joined_ends("", tail, length)

    def close(self, text: str, data: Mapping[str, Any]) -> None:
        """Report the end of the run as the last event, once."""
        self.report(ToolEventKind.FINISHED, text, data)
        self._is_closed = True
        if self._delivery is not None:
            self._delivery.close()

    @property
    def delivered(self) -> "concurrent.futures.Future[None] | None":
        """Done when the sink has taken every event of a run that was closed; None: there is nothing to wait for."""
        return None if self._delivery is None else self._delivery.done

    def open_artifact(self) -> Artifact | None:
        """Begin to keep the output of this run; None where nothing keeps any.

        Raises: `OSError` when it cannot be kept.
        """
        return None if self.artifacts is None else self.artifacts.open(self.tool, self.agent)


_STARTING = threading.Lock()
_REMEMBERING = threading.Lock()


class _Delivery:
    """Events on their way to a sink, in a thread that ends with the run."""

    def __init__(self, sink: EventSink, loop: asyncio.AbstractEventLoop | None) -> None:
        self.done: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._sink = sink
        self._loop = loop
        self._waiting = _Waiting()
        self._is_closed = False
        self._has_failed = False
        self._changed = threading.Condition()
        threading.Thread(target=self._deliver, name="permitry-events", daemon=True).start()

    def put(self, event: ToolEvent) -> None:
        with self._changed:
            self._waiting.add(event)
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _deliver(self) -> None:
        is_open = True
        while is_open:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting.count or self._is_closed)
                waiting, self._waiting = self._waiting, _Waiting()
                is_open = not self._is_closed
            for event in waiting.events():
                self._hand_over(event)
            with self._changed:
                # Small pieces of output that come in the meantime will be one event.
                self._changed.wait_for(lambda: self._is_closed, _EVERY)
        self.done.set_result(None)

    def _hand_over(self, event: ToolEvent) -> None:
        try:
            outcome = self._sink(event)
            if inspect.isawaitable(outcome):
                self._await(outcome)
        except BaseException as error:  # noqa: BLE001 -- a sink may fail in any way, also by `exit()`, and ends nothing
            if not self._has_failed:
                self._has_failed = True
                _LOG.warning("The sink of events failed: %s", type(error).__name__, exc_info=error)

    def _await(self, outcome: Any) -> None:  # noqa: ANN401 -- whatever the sink gives to be awaited
        async def awaited() -> None:
            await outcome

        if self._loop is None:
            asyncio.run(awaited())
        else:
            asyncio.run_coroutine_threadsafe(awaited(), self._loop).result()


@attrs.define
class _Waiting:
    """Events that wait for a sink, numbered in their order; adding one costs the same however many these are."""

    count: int = 0
    # The oldest are dropped: a tool may report without end to a sink that takes nothing.
    others: deque[tuple[int, ToolEvent]] = attrs.field(factory=lambda: deque(maxlen=_MOST_EVENTS))
    outputs: deque[tuple[int, ToolEvent]] = attrs.field(factory=deque)
    size: int = 0
    omitted: dict[_RunKey, int] = attrs.field(factory=dict)

    def add(self, event: ToolEvent) -> None:
        self.count += 1
        if event.kind is not ToolEventKind.OUTPUT:
            self.others.append((self.count, event))
            return
        self.outputs.append((self.count, event))
        self.size += len(event.text)
        while self.size > _MOST_WAITING or len(self.outputs) > _MOST_EVENTS:
            self._omit()

    def _omit(self) -> None:
        """Leave out the oldest output, or the beginning of it where that is enough."""
        number, event = self.outputs.popleft()
        rest = event.text[self.size - _MOST_WAITING :] if self.size > _MOST_WAITING else ""
        left_out = len(event.text) - len(rest)
        self.size -= left_out
        self.omitted[_run_of(event)] = self.omitted.get(_run_of(event), 0) + left_out
        if rest:
            self.outputs.appendleft((number, attrs.evolve(event, text=rest)))

    def events(self) -> Iterator[ToolEvent]:
        """Yield all events in their order, with neighbouring pieces of the output of one run made one."""
        ordered = (event for _, event in sorted((*self.others, *self.outputs), key=operator.itemgetter(0)))
        for (_, is_output), group in itertools.groupby(ordered, lambda event: (_run_of(event), _is_output(event))):
            if is_output:
                yield self._joined(list(group))
            else:
                yield from group

    def _joined(self, pieces: list[ToolEvent]) -> ToolEvent:
        first = pieces[0]
        text, omitted = "".join(piece.text for piece in pieces), self.omitted.pop(_run_of(first), 0)
        return attrs.evolve(first, text=text, data={**first.data, "omitted": omitted} if omitted else first.data)


def _run_of(event: ToolEvent) -> _RunKey:
    return event.tool, event.call_id, event.agent


def _is_output(event: ToolEvent) -> bool:
    return event.kind is ToolEventKind.OUTPUT


CURRENT_REPORTER: contextvars.ContextVar[Reporter | None] = contextvars.ContextVar("permitry_reporter", default=None)
"""How the run reports that is at work here, also in threads that copy its context."""


def reporter_here() -> Reporter | None:
    """Return how the run reports that is at work here; None outside of a run."""
    return CURRENT_REPORTER.get()


def report(kind: ToolEventKind, text: str = "", **data: object) -> None:
    """Report an event of the run that is at work here; without one, or without a sink, nothing happens."""
    reporter = CURRENT_REPORTER.get()
    if reporter is not None:
        reporter.report(kind, text, data)


def kept(reporter: Reporter | None, *texts: str) -> str:
    """Keep texts, one after the other, and return what is to be said of it; nothing where nothing keeps any."""
    try:
        artifact = None if reporter is None else reporter.open_artifact()
        if artifact is None:
            return ""
        for text in texts:
            artifact.write(text)
        artifact.close()
    except Exception as error:  # noqa: BLE001 -- a keeper may fail in any way, and must not take the part that does fit
        return not_kept(error)
    return artifact.note


def not_kept(error: Exception) -> str:
    """Return what is to be said where output could not be kept."""
    return f"the whole could not be kept: {getattr(error, 'strerror', None) or type(error).__name__}"
