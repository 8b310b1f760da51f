"""Records of the registry: a registered tool, an authorized call, and what all runs share."""

from collections.abc import Callable
from typing import Any, TypeAlias

import attrs

from permitry.audit.recorder import RunRecord
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.arguments import Canonical, Check
from permitry.dispatch.events import ArtifactKeeper, EventSink
from permitry.dispatch.limits import Bucket, ReadWriteLocks, SingleFlight, ToolLimits
from permitry.dispatch.scope import Caller, CallScope
from permitry.dispatch.telemetry import ToolTelemetry
from permitry.errors import ToolError

__all__ = ["BY_SCHEMA", "Authorization", "IsEnabled", "Preview", "RegisteredTool", "Shared", "has_kind"]

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


@attrs.frozen
class RegisteredTool:
    """A tool as the registry keeps it.

    `call` takes the arguments, the authorization and what the host has given along, as the handler takes them.
    `canonical` returns arguments in the form that rules see; `check`, or else `schema`, refuses those that the tool
    does not take. `is_shareable`: identical calls at the same time are run once.
    """

    spec: ToolSpec
    call: "Callable[[dict[str, Any], Authorization, Caller | None], Any]" = attrs.field(repr=False)
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
    kinds: tuple[PayloadKind, ...] = attrs.field(init=False)

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
        """Return the call in the form that rules see; unchanged if its arguments cannot be brought into it."""
        if self.canonical is None:
            return call
        try:
            return attrs.evolve(call, arguments=self.canonical(call.to_dict()))
        except Exception:  # noqa: BLE001 -- arguments without such a form are refused by `misfit`
            return call

    def misfit(self, call: ToolCall) -> ToolError | None:
        """Return why the tool cannot take this call: its kind, its payload or its arguments; None if it can."""
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
    """Return whether the kind of the call is one of `kinds`, and its payload has the shape of it."""
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

    `tool`, whose declaration the rules saw, is the one that runs; the context was read from `session`.
    """

    call: ToolCall
    context: AuthContext
    tool: RegisteredTool
    record: RunRecord
    session: Any = attrs.field(default=None, repr=False)

    def caller(self, given: Caller | None) -> CallScope | None:
        """Return the scope of the caller, with the session of this authorization; None if none was given."""
        # INVARIANT: law 4. The session is the one in which the call was decided, never one given for its dispatch.
        return attrs.evolve(given, session=self.session) if isinstance(given, CallScope) else None


@attrs.define(eq=False)
class Shared:
    """The state that all runs of one registry share; `running` has what cancels each run."""

    locks: ReadWriteLocks = attrs.field(factory=ReadWriteLocks)
    single_flight: SingleFlight = attrs.field(factory=SingleFlight)
    running: dict[Authorization, Callable[[], None]] = attrs.field(factory=dict)
    telemetry: ToolTelemetry | None = None
    artifacts: ArtifactKeeper | None = None
    on_event: EventSink | None = None
