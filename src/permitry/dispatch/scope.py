"""What a tool may be given in addition to its arguments: the state of its caller, and the call."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.dispatch.events import EventSink, ToolEvent, ToolEventKind

__all__ = ["CallScope", "Caller", "KindApart", "Listener", "ToolInvocation"]


def _tuple_of(messages: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(messages)


@attrs.frozen
class KindApart:
    """A sink that sends events of one kind to another one; equal where both sinks are."""

    kind: ToolEventKind
    sink: EventSink
    others: EventSink | None

    def __call__(self, event: ToolEvent) -> object:
        """Send an event."""
        sink = self.sink if event.kind is self.kind else self.others
        return None if sink is None else sink(event)


@attrs.frozen
class CallScope:
    """The state of the caller at one call, for the few tools that need it, such as `subtask` and `execute`.

    `depth` counts from 0 for the main agent; `history` are the messages so far, oldest first; `deadline` is in
    seconds of `time.monotonic`; `step` counts from 0. `on_event` takes the events of the run and of all that it
    starts; `on_step` takes those of kind `STEP` in its place.

    An agent started here works under `scope.session.child(name)`, and so is never allowed more than its caller. A
    tool always gets the session in which its call was authorized, even if the host passed another one.
    """

    depth: int = 0
    history: tuple[Mapping[str, Any], ...] = attrs.field(default=(), converter=_tuple_of, kw_only=True)
    on_event: EventSink | None = attrs.field(default=None, kw_only=True)
    on_step: EventSink | None = attrs.field(default=None, kw_only=True)
    deadline: float | None = attrs.field(default=None, kw_only=True)
    model: str | None = attrs.field(default=None, kw_only=True)
    step: int = attrs.field(default=0, kw_only=True)
    # Any: the class of sessions is defined in an outer layer, which this folder must not import.
    session: Any = attrs.field(default=None, kw_only=True, repr=False)

    def sink(self) -> EventSink | None:
        """Return what takes the events of this caller's runs, if anything does."""
        if self.on_step is None:
            return self.on_event
        return KindApart(ToolEventKind.STEP, self.on_step, self.on_event)


@attrs.frozen
class Listener:
    """Takes the events of a run for a caller that passes no `CallScope`."""

    on_event: EventSink

    def sink(self) -> EventSink:
        """Return what takes the events."""
        return self.on_event


Caller: TypeAlias = CallScope | Listener
"""What a host may give along with a call."""


@attrs.frozen
class ToolInvocation:
    """One authorized call, for tools that must know in which context and for which caller they run.

    `scope` is that of a main agent if the host passed none; `session` is the one that the call was authorized in.
    """

    call: ToolCall
    context: AuthContext = attrs.field(factory=AuthContext)
    scope: CallScope = attrs.field(factory=CallScope)
    session: Any = attrs.field(default=None, repr=False)
