"""What the registry keeps of a tool, of a call that was authorized, and of all that runs."""

import os
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.authorized import AuthorizedCall, RunObserver
from permitry.dispatch.events import ArtifactKeeper, EventSink
from permitry.dispatch.limits import Bucket, Flights, ToolLimits, Turns
from permitry.dispatch.telemetry import ToolTelemetry

if TYPE_CHECKING:
    from permitry.dispatch.running import Run

__all__ = ["Authorization", "RegisteredTool", "Shared"]


@attrs.frozen
class RegisteredTool:
    """A tool as the registry keeps it: `call` takes the arguments and the run, whatever the handler's own form is."""

    spec: ToolSpec
    call: Callable[[dict[str, Any], "Run"], Any] = attrs.field(repr=False)
    is_async: bool
    limits: ToolLimits
    bucket: Bucket | None
    is_shareable: bool = False
    resource: str | None = attrs.field(init=False)
    """What the tool takes turns for; who starts agents must not wait for what these do."""
    only_reads: bool = attrs.field(init=False)
    kinds: tuple[PayloadKind, ...] = attrs.field(init=False)

    # What the spec says is asked once, not at every run.

    @resource.default
    def _resource_of_limits(self) -> str | None:
        return None if self.spec.traits.spawns_agent else self.limits.resource

    @only_reads.default
    def _only_reads_of_spec(self) -> bool:
        return self.spec.only_reads

    @kinds.default
    def _kinds_of_spec(self) -> tuple[PayloadKind, ...]:
        return tuple(self.spec.kinds)


# Not frozen, which takes longer to make: it stays between the registry and the run.
@attrs.define(eq=False)
class Authorization:
    """What stands behind an `AuthorizedCall`: the call, the context it was authorized in, and who is told.

    It goes with the `token`: what can no more be redeemed is not kept. `tool` is the one whose declaration the rules
    saw: it runs, whatever is registered in its place by then. `session` is the one that the context was read from.
    """

    token: "weakref.ref[AuthorizedCall]"
    call: ToolCall
    context: AuthContext
    tool: RegisteredTool
    observer: RunObserver
    session: Any = attrs.field(default=None, repr=False)
    process: int = attrs.field(factory=os.getpid)


@attrs.define(eq=False)
class Shared:
    """What the runs of one registry share."""

    turns: Turns = attrs.field(factory=Turns)
    flights: Flights = attrs.field(factory=Flights)
    running: "set[Run]" = attrs.field(factory=set)
    telemetry: ToolTelemetry | None = None
    artifacts: ArtifactKeeper | None = None
    on_event: EventSink | None = None
