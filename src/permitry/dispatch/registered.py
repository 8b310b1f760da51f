"""Records of the registry: a registered tool, an authorized call, and the state that all runs share."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import attrs

from permitry.audit.recorder import RunRecord
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.arguments import Canonical, Check
from permitry.dispatch.events import ArtifactKeeper, EventSink
from permitry.dispatch.limits import Bucket, ReadWriteLocks, SingleFlight, ToolLimits
from permitry.dispatch.scope import CallScope
from permitry.dispatch.telemetry import ToolTelemetry
from permitry.errors import ToolError

__all__ = ["BY_SCHEMA", "Authorization", "IsEnabled", "Preview", "RegisteredTool", "Shared", "Started", "has_kind"]

Preview: TypeAlias = Callable[[dict[str, Any]], str | None]
IsEnabled: TypeAlias = Callable[[AuthContext], bool]
_NO_FORM = "The arguments do not fit: they are in no form that the tool takes."
_PAYLOADS = {
    PayloadKind.CUSTOM: "a custom call has one text, `input`, and nothing else",
    PayloadKind.LOCAL_SHELL: "`command` must be a list: the program and its arguments",
    PayloadKind.UNIFIED_EXEC: "`cmd` or `session_id` must be there",
}
"""The payload that a kind of call requires, for any tool; the end of an error message."""
BY_SCHEMA = (PayloadKind.FUNCTION, PayloadKind.MCP)
"""The kinds of call whose arguments are those of the schema."""


class Started(Protocol):
    """A run of a tool, as the tool and the registry see it."""

    authorization: "Authorization"
    call: ToolCall

    @property
    def caller(self) -> CallScope | None:
        """The scope of the caller; None if none was given."""

    def cancel(self) -> None:
        """End the run as cancelled, unless it has ended."""


@attrs.frozen
class RegisteredTool:
    """A tool as the registry keeps it.

    `call` takes the arguments and the run, and adapts them to the signature of the handler. `canonical` returns
    arguments in the form that rules see; `check` raises for arguments that the tool does not take, and `schema` is used
    where there is no check. `is_shareable`: identical calls at the same time are run once.
    """

    spec: ToolSpec
    call: Callable[[dict[str, Any], Started], Any] = attrs.field(repr=False)
    is_async: bool
    limits: ToolLimits
    bucket: Bucket | None
    is_shareable: bool = False
    check: Check | None = attrs.field(default=None, repr=False)
    canonical: Canonical | None = attrs.field(default=None, repr=False)
    schema: ArgumentSchema | None = attrs.field(default=None, repr=False)
    preview: Preview | None = attrs.field(default=None, repr=False)
    enabled: IsEnabled | None = attrs.field(default=None, repr=False)
    # Read from the spec once, not at every run.
    resource: str | None = attrs.field(init=False)
    """The resource whose lock a run needs; None for a tool that spawns agents, as it would wait for their calls."""
    only_reads: bool = attrs.field(init=False)
    kinds: tuple[PayloadKind, ...] = attrs.field(init=False)

    @resource.default
    def _resource_of_limits(self) -> str | None:
        return None if self.spec.traits.spawns_agent else self.limits.resource

    @only_reads.default
    def _only_reads_of_spec(self) -> bool:
        return self.spec.only_reads

    @kinds.default
    def _kinds_of_spec(self) -> tuple[PayloadKind, ...]:
        return tuple(self.spec.kinds)

    def is_enabled(self, context: AuthContext) -> bool:
        """Return whether the tool is available in this context."""
        try:
            return self.enabled is None or self.enabled(context) is True
        except Exception:  # noqa: BLE001 -- law 2: a tool that cannot say that it is enabled is not
            return False

    def in_form(self, call: ToolCall) -> ToolCall:
        """Return the call with its arguments in the form that rules see; unchanged if they cannot be converted."""
        if self.canonical is None:
            return call
        try:
            return attrs.evolve(call, arguments=self.canonical(call.to_dict()))
        except Exception:  # noqa: BLE001 -- arguments without such a form are refused by `misfit`
            return call

    def misfit(self, call: ToolCall) -> ToolError | None:
        """Return why the tool cannot take this call, as far as the call itself shows; None if it can.

        The kind and payload are checked, then the arguments, by the tool's own check or else by its schema.
        """
        if call.kind not in self.kinds:
            kinds = ", ".join(sorted(kind.value for kind in self.kinds))
            name, own = self.spec.name, call.kind.value
            return ToolError(f"The tool `{name}` takes calls of kind {kinds}; this one is of kind {own}.")
        if not has_kind(call, self.kinds):
            return ToolError(f"The arguments do not fit: {_PAYLOADS[call.kind]}.")
        # INVARIANT: law 2. A check of the tool does not replace this: roles name the arguments of this form only.
        if self.canonical is not None and (wrong := _misform(call, self.canonical)) is not None:
            return wrong
        try:
            if self.check is not None:
                self.check(call.to_dict())
            elif self.schema is not None and call.kind in BY_SCHEMA:
                self.schema.fit(call.arguments)
        except ToolError as error:
            return error
        except Exception:  # noqa: BLE001 -- a check that crashes has found nothing; the tool itself reports what is wrong
            return None
        return None


def _misform(call: ToolCall, canonical: Canonical) -> ToolError | None:
    """Return the error for arguments that are not in the form that rules see; None if they are."""
    try:
        is_in_form = canonical(call.to_dict()) == call.to_dict()
    except Exception as error:  # noqa: BLE001 -- converting arbitrary arguments may fail in any way
        return error if isinstance(error, ToolError) else ToolError(_NO_FORM)
    return None if is_in_form else ToolError(_NO_FORM)


def has_kind(call: ToolCall, kinds: tuple[PayloadKind, ...]) -> bool:
    """Return whether the kind of the call is one of `kinds`, and its payload has the shape that the kind requires."""
    if call.kind not in kinds:
        return False
    if call.kind in BY_SCHEMA:
        return True
    match call.kind:
        case PayloadKind.CUSTOM:
            return set(call.arguments) == {"input"} and isinstance(call.arguments["input"], str)
        case PayloadKind.LOCAL_SHELL:
            return isinstance(call.arguments.get("command"), tuple)
        case _:  # `UNIFIED_EXEC`
            return bool({"cmd", "session_id"} & set(call.arguments))


# Not frozen, because that is slower to create; only the registry and the run see it.
@attrs.define(eq=False)
class Authorization:
    """What an `AuthorizedCall` refers to: the call, the context it was authorized in, and the record of its run.

    `tool` is the one whose declaration the rules saw; it is the one that runs, even if another has been registered in
    its place. `session` is the one that the context was read from.
    """

    call: ToolCall
    context: AuthContext
    tool: RegisteredTool
    record: RunRecord
    session: Any = attrs.field(default=None, repr=False)


@attrs.define(eq=False)
class Shared:
    """The state that all runs of one registry share."""

    locks: ReadWriteLocks = attrs.field(factory=ReadWriteLocks)
    single_flight: SingleFlight = attrs.field(factory=SingleFlight)
    running: set[Started] = attrs.field(factory=set)
    telemetry: ToolTelemetry | None = None
    artifacts: ArtifactKeeper | None = None
    on_event: EventSink | None = None
