"""Events that a tool reports while it runs: one stream for hosts, plugins, agents and the command line.

The events of a run reach the sink in order, from a thread, so that no tool waits for a slow sink. Output that
the sink does not take in time is joined; beyond a limit the oldest is omitted, and `data["omitted"]` counts its
characters. Of other events the oldest are dropped when more than 16,384 wait. Events decide nothing.
"""

import asyncio
import enum
import inspect
import itertools
import logging
import operator
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

import attrs

from permitry.dispatch.clip import join_ends

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
"""The seconds between two deliveries, so that many small pieces of output become one event."""
_MOST_WAITING = 256 * 1024
"""The most characters of output that wait for a sink."""
_MOST_EVENTS = 16_384
"""The most pieces of output that wait for a sink, and the most other events."""
_MOST_REMEMBERED = 8_000
"""The most characters of its output that are kept, to show them if the run is stopped."""

_RUN = ("tool", "call_id", "agent")
"""What says of which run an event is."""
_run_of = operator.attrgetter(*_RUN)


class ToolEventKind(enum.Enum):
    """The kinds of events."""

    STARTED = "started"
    OUTPUT = "output"
    STATUS = "status"
    PROGRESS = "progress"
    PLAN = "plan"
    STEP = "step"
    FINISHED = "finished"


@attrs.frozen
class ToolEvent:
    """One event of a run: `text` for people to read, `data` as a JSON object.

    `data` holds for `PROGRESS` the numbers `done` and, where it is known, `total`; for `PLAN` the `steps`, each
    with `step` and `status`; for `OUTPUT` the characters `omitted` before this text; for `FINISHED` `ok`, `outcome`
    and `seconds`; for a `STEP`, a round of an agent that the tool runs, its `round`, and the `messages` since.
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
"""Takes events, one at a time; may be async. An exception from it is logged, and stops nothing."""


class Artifact(Protocol):
    """A long text that is stored while it is produced."""

    @property
    def note(self) -> str:
        """What is stored, and where, in a phrase for the model: `the whole is the artifact ID`."""

    def write(self, text: str) -> None:
        """Store more of it; what cannot be stored is mentioned in `note`."""

    def close(self) -> None:
        """Finish storing; safe to call again."""


class ArtifactKeeper(Protocol):
    """Stores output that is too long for the model."""

    def open(self, tool: str, agent: str) -> Artifact:
        """Return a new artifact for the output of a tool of `agent`; `OSError` where it cannot be stored."""


@attrs.define(eq=False)
class Reporter:
    """Sends the events of one run to its sink, or through `outer`, and stores its long output. Thread-safe."""

    tool: str
    call_id: str | None
    agent: str
    sink: EventSink | None = None
    artifacts: ArtifactKeeper | None = None
    outer: "Reporter | None" = None
    _loop: asyncio.AbstractEventLoop | None = None
    _delivery: "_Delivery | None" = attrs.field(default=None, init=False)
    _is_closed: bool = attrs.field(default=False, init=False)
    _tail: str = attrs.field(default="", init=False)
    _length: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        if self.sink is None:
            return
        try:
            self._delivery = _Delivery(self.sink, self._loop)
        except RuntimeError as error:
            # Its thread cannot be started: the run has no events.
            _LOG.warning("Events of %s are not delivered: %s", self.tool, error)

    @property
    def receiver(self) -> EventSink | None:
        """The sink that finally receives its events, that of `outer` included, if there is one."""
        return self.sink if self.outer is None else self.outer.receiver

    def report(self, kind: ToolEventKind, text: str = "", data: Mapping[str, Any] | None = None) -> None:
        """Report one event; after `close` nothing is delivered."""
        if kind is ToolEventKind.OUTPUT:
            self._remember(text)
        if self.sink is not None or self.outer is not None:
            self._put(ToolEvent(kind, self.tool, self.call_id, self.agent, text, data or {}))

    def _put(self, event: ToolEvent) -> None:
        if self._is_closed:
            return
        if self.outer is not None:
            self.outer._put(event)  # noqa: SLF001 -- another instance of this class
        elif self._delivery is not None:
            self._delivery.put(event)

    def _remember(self, text: str) -> None:
        with _REMEMBERING:
            self._tail = (self._tail + text)[-_MOST_REMEMBERED:]
            self._length += len(text)

    def tail(self) -> str:
        """Return the last 8,000 characters of the output, with a note of how many came before them."""
        with _REMEMBERING:
            tail, length = self._tail, self._length
        return tail if length == len(tail) else join_ends("", tail, length)

    def close(self, text: str, data: Mapping[str, Any]) -> None:
        """Report the end of the run as the last event, once."""
        self.report(ToolEventKind.FINISHED, text, data)
        self._is_closed = True
        if self._delivery is not None:
            self._delivery.close()

    @property
    def delivered(self) -> "Future[None] | None":
        """A future, done when the sink has taken all events up to `close`, if there is a delivery."""
        return None if self._delivery is None else self._delivery.done

    def open_artifact(self) -> Artifact | None:
        """Return a new artifact for the output of this run, if they are kept; `OSError` if it fails."""
        return None if self.artifacts is None else self.artifacts.open(self.tool, self.agent)


_REMEMBERING = threading.Lock()


class _Delivery:
    """Delivers events to a sink, in a thread that ends with the run."""

    def __init__(self, sink: EventSink, loop: asyncio.AbstractEventLoop | None) -> None:
        self.done: Future[None] = Future()
        self._sink, self._loop = sink, loop
        self._waiting = _Waiting()
        self._is_closed = self._has_failed = False
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
                self._send(event)
            with self._changed:
                # Small pieces of output that arrive in this time become one event.
                self._changed.wait_for(lambda: self._is_closed, _EVERY)
        self.done.set_result(None)

    def _send(self, event: ToolEvent) -> None:
        try:
            outcome = self._sink(event)
            if inspect.isawaitable(outcome):
                self._await(outcome)
        except BaseException as error:  # noqa: BLE001 -- a sink may fail in any way, even by `exit()`, and stops nothing
            if not self._has_failed:
                self._has_failed = True
                _LOG.warning("The sink of events failed: %s", type(error).__name__, exc_info=error)

    def _await(self, outcome: Any) -> None:  # noqa: ANN401 -- whatever awaitable the sink returns
        async def wait() -> None:
            await outcome

        if self._loop is None:
            asyncio.run(wait())
        else:
            asyncio.run_coroutine_threadsafe(wait(), self._loop).result()


@attrs.define
class _Waiting:
    """Events that wait for a sink, numbered in order; adding one takes constant time."""

    count: int = 0
    # The oldest are dropped: a tool may report without end to a sink that takes nothing.
    others: deque[tuple[int, ToolEvent]] = attrs.field(factory=lambda: deque(maxlen=_MOST_EVENTS))
    outputs: deque[tuple[int, ToolEvent]] = attrs.field(factory=deque)
    size: int = 0
    omitted: Counter[tuple[Any, ...]] = attrs.field(factory=Counter)

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
        """Drop the oldest piece of output, or only its beginning where that is enough."""
        number, event = self.outputs.popleft()
        rest = event.text[self.size - _MOST_WAITING :] if self.size > _MOST_WAITING else ""
        left_out = len(event.text) - len(rest)
        self.size -= left_out
        self.omitted[_run_of(event)] += left_out
        if rest:
            self.outputs.appendleft((number, attrs.evolve(event, text=rest)))

    def events(self) -> Iterator[ToolEvent]:
        """Yield all events in order; adjacent output of one run is joined to one event."""
        ordered = (event for _, event in sorted((*self.others, *self.outputs), key=operator.itemgetter(0)))
        for (*run, kind), group in itertools.groupby(ordered, operator.attrgetter(*_RUN, "kind")):
            if kind is not ToolEventKind.OUTPUT:
                yield from group
                continue
            pieces = list(group)
            omitted = self.omitted.pop(tuple(run), 0)
            data = {**pieces[0].data, "omitted": omitted} if omitted else pieces[0].data
            yield attrs.evolve(pieces[0], text="".join(each.text for each in pieces), data=data)


CURRENT_REPORTER: ContextVar[Reporter | None] = ContextVar("permitry_reporter", default=None)
"""The reporter of the run that is active here, also in threads that copy its context."""


def reporter_here() -> Reporter | None:
    """Return the reporter of the run that is active here; None outside a run."""
    return CURRENT_REPORTER.get()


def report(kind: ToolEventKind, text: str = "", **data: object) -> None:
    """Report an event of the run that is active here; without a run or a sink, do nothing."""
    reporter = CURRENT_REPORTER.get()
    if reporter is not None:
        reporter.report(kind, text, data)


def kept(reporter: Reporter | None, *texts: str) -> str:
    """Store texts as one artifact, and return a phrase for the model on it, if they are kept."""
    try:
        artifact = None if reporter is None else reporter.open_artifact()
        if artifact is None:
            return ""
        for text in texts:
            artifact.write(text)
        artifact.close()
    except Exception as error:  # noqa: BLE001 -- storing may fail in any way; the result must not be lost for it
        return not_kept(error)
    return artifact.note


def not_kept(error: Exception) -> str:
    """Return a phrase for the model about output that could not be stored."""
    return f"the whole could not be kept: {getattr(error, 'strerror', None) or type(error).__name__}"
