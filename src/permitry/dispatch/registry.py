"""The registry: tools by name, and `dispatch`, which takes nothing but an `AuthorizedCall`."""

import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Self, TypeAlias, TypeVar

import attrs

from permitry.audit.recorder import RunRecord
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.names import wire_name
from permitry.core.policy import AuthorizationPolicy
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.arguments import is_async, takes
from permitry.dispatch.authorized import Authorizations, AuthorizedCall
from permitry.dispatch.events import ArtifactKeeper, EventSink
from permitry.dispatch.limits import Bucket, RateLimit, ToolLimits
from permitry.dispatch.registered import BY_SCHEMA, Authorization, IsEnabled, Preview, RegisteredTool, Shared
from permitry.dispatch.running import Run
from permitry.dispatch.scope import Caller, CallScope, ToolInvocation
from permitry.dispatch.telemetry import ToolTelemetry
from permitry.errors import RegistryError, ToolError, UnknownToolError, safe_str

__all__ = ["CallTimeHandler", "ContextHandler", "Handler", "Preview", "ToolRegistry"]

Outcome: TypeAlias = ToolResult | tuple[bool, str] | str
Handler: TypeAlias = Callable[[dict[str, Any]], Outcome | Awaitable[Outcome]]
CallTimeHandler: TypeAlias = Callable[[dict[str, Any], CallScope], Outcome | Awaitable[Outcome]]
ContextHandler: TypeAlias = Callable[[dict[str, Any], ToolInvocation], Outcome | Awaitable[Outcome]]
Function = TypeVar("Function", bound=Callable[..., Any])


@attrs.define
class ToolRegistry:
    """Tools by name. A tool takes its arguments as a dict and returns `(ok, text)`, text alone, or a `ToolResult`.

    Tools that need the state of the caller are registered as call-time tools: `dispatch` hands them a `CallScope`.
    `telemetry` counts every run; `artifacts` keeps output that is too long for the model. `on_event` takes what running
    tools report, unless the caller's `CallScope` has an `on_event` of its own.
    """

    telemetry: ToolTelemetry | None = attrs.field(default=None, kw_only=True)
    artifacts: ArtifactKeeper | None = attrs.field(default=None, kw_only=True)
    on_event: EventSink | None = attrs.field(default=None, kw_only=True)
    _tools: dict[str, RegisteredTool] = attrs.field(factory=dict, init=False)
    _aliases: dict[str, str] = attrs.field(factory=dict, init=False)
    # For each name that is valid for providers, the tools whose own name differs from it (`mcp:docs/search`).
    _wires: dict[str, tuple[str, ...]] = attrs.field(factory=dict, init=False, repr=False)
    # INVARIANT: an entry is here exactly while its AuthorizedCall has been created, not yet redeemed, and not dropped.
    _outstanding: Authorizations[Authorization] = attrs.field(factory=Authorizations, init=False, repr=False)
    _shared: Shared = attrs.field(factory=Shared, init=False, repr=False)
    _closing: list[Callable[[], None]] = attrs.field(factory=list, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False, eq=False)

    # Registering ----------------------------------------------------------------------------------

    def register(
        self,
        spec: ToolSpec,
        handler: Handler,
        *,
        preview: Preview | None = None,
        enabled: IsEnabled | None = None,
        limits: ToolLimits | None = None,
        replace: bool = False,
    ) -> None:
        """Add a tool. `preview` describes what a call would change, for the human who is asked.

        `enabled` says in which contexts the tool is available at all; if it raises, the tool is not. With `replace` it
        replaces a tool of that name; calls authorized before still run the tool they were authorized for. Arguments
        that do not fit are an error before any question is asked: by the `check` of the handler (see `with_check`), or
        else by the JSON Schema.

        Raises: `RegistryError` when the name is taken, for anything of the wrong type, for a function that cannot take
        one dict, and for a schema that cannot be used; then nothing is registered.
        """
        tool = _tool(spec, handler, lambda arguments, *_: handler(arguments), limits)
        # An idempotent tool may run once for identical calls that are made at the same time.
        self._add(attrs.evolve(tool, is_shareable=spec.traits.idempotent is True), preview, enabled, replace=replace)

    def register_call_time(
        self,
        spec: ToolSpec,
        handler: CallTimeHandler,
        *,
        preview: Preview | None = None,
        enabled: IsEnabled | None = None,
        limits: ToolLimits | None = None,
        replace: bool = False,
    ) -> None:
        """Add a tool as `register` does; its handler takes `(arguments, scope)`, the state of the caller."""

        def call(arguments: dict[str, Any], authorization: Authorization, given: Caller | None) -> object:
            scope = authorization.caller(given)
            if scope is None:
                raise ToolError(f"The tool `{spec.name}` needs the state of its caller, which was not given here.")
            return handler(arguments, scope)

        self._add(_tool(spec, handler, call, limits, "scope"), preview, enabled, replace=replace)

    def register_with_context(
        self,
        spec: ToolSpec,
        handler: ContextHandler,
        *,
        preview: Preview | None = None,
        enabled: IsEnabled | None = None,
        limits: ToolLimits | None = None,
        replace: bool = False,
    ) -> None:
        """Add a tool as `register` does; its handler takes `(arguments, invocation)`, with call and context."""

        def call(arguments: dict[str, Any], authorization: Authorization, given: Caller | None) -> object:
            session = authorization.session
            scope = authorization.caller(given) or CallScope(session=session)
            return handler(arguments, ToolInvocation(authorization.call, authorization.context, scope, session))

        self._add(_tool(spec, handler, call, limits, "invocation"), preview, enabled, replace=replace)

    def tool(self, function: Function | None = None, /, **rest: Any) -> Any:  # noqa: ANN401 -- a decorator of two forms
        """Register a function as a tool, with `@registry.tool` or `@registry.tool(name=…, traits=…, roles=…)`.

        `rest` is what `permitry.dispatch.schema.spec_of` takes, and `preview`, `enabled`, `limits` and `replace`. The
        function itself is returned unchanged.

        Raises: `RegistryError` for a signature that has no JSON Schema, and when the name is taken.
        """
        from permitry.dispatch.schema import handler_of, spec_of  # noqa: PLC0415 -- pydantic, for those who use it

        if function is not None and not callable(function):
            raise RegistryError(f"`@registry.tool` decorates a function, not {function!r}; write `tool(name=…)`")
        own = {key: rest.pop(key) for key in ("preview", "enabled", "limits", "replace") if key in rest}

        def register(function: Function) -> Function:
            self.register(spec_of(function, **rest), handler_of(function), **own)
            return function

        return register if function is None else register(function)

    def alias(self, name: str, of: str) -> None:
        """Make `name` another name of the tool `of`: rules, record and tool see only the name `of`.

        Raises: `RegistryError` when the name is taken; `UnknownToolError` when there is no tool `of`.
        """
        with self._lock:
            self._check_free(name)
            if of not in self._tools:
                raise UnknownToolError(f"no tool `{of}` is registered, for which `{name}` could stand")
            self._aliases[name] = of

    def unregister(self, name: str) -> None:
        """Remove a tool and its aliases; calls that are running go on. Raises: `UnknownToolError`."""
        with self._lock:
            if self._tools.pop(name, None) is None:
                raise UnknownToolError(f"no tool `{name}` is registered")
            self._aliases = {alias: of for alias, of in self._aliases.items() if of != name}
            wire = wire_name(name)
            self._wires[wire] = tuple(each for each in self._wires.get(wire, ()) if each != name)

    def _add(self, tool: RegisteredTool, preview: Preview | None, enabled: IsEnabled | None, *, replace: bool) -> None:
        name = tool.spec.name
        for word, function in (("preview", preview), ("enabled", enabled)):
            if function is not None and not callable(function):
                raise RegistryError(f"the tool `{name}`: `{word}` is a function or None, not {function!r}")
        wire = wire_name(name)
        with self._lock:
            if not (replace and name in self._tools):
                self._check_free(name)
            self._tools[name] = attrs.evolve(tool, preview=preview, enabled=enabled)
            if wire != name and name not in self._wires.get(wire, ()):
                self._wires[wire] = (*self._wires.get(wire, ()), name)

    def _check_free(self, name: str) -> None:
        if name in self._tools or name in self._aliases:
            raise RegistryError(f"the tool `{name}` is already registered")

    # Looking --------------------------------------------------------------------------------------

    def get(self, name: str) -> ToolSpec | None:
        """Return the spec of the tool `name`, or None."""
        tool = self._tools.get(name)
        return None if tool is None else tool.spec

    def specs(
        self, context: AuthContext | None = None, policy: AuthorizationPolicy | None = None
    ) -> tuple[ToolSpec, ...]:
        """Return the specs of all tools, or of those that are enabled in a context and could run by a policy."""
        specs = [each.spec for each in list(self._tools.values()) if context is None or each.is_enabled(context)]
        if context is None or policy is None:
            return tuple(specs)
        return tuple(spec for spec in specs if policy.could_run(spec, context))

    def is_enabled(self, name: str, context: AuthContext) -> bool:
        """Return whether a tool `name` is registered and enabled in this context."""
        tool = self._tools.get(name)
        return tool is not None and tool.is_enabled(context)

    def misfit(self, call: ToolCall) -> ToolError | None:
        """Return why the tool of a call, if there is one, cannot take it, as an error for the model."""
        tool = self._tools.get(call.tool)
        return None if tool is None else tool.misfit(call)

    def resolved(self, call: ToolCall) -> ToolCall:
        """Return the call under the tool's own name, if it names the tool by an alias, or as providers write its name.

        A tool or alias of exactly this name goes first. A provider name that two tools share means neither of them.
        Arguments that the tool takes in several forms are brought into the one that rules see.
        """
        asked = call.tool
        tool = self._tools.get(asked)
        if tool is not None:
            return tool.in_form(call)
        name = self._aliases.get(asked)
        if name is None:
            wired = self._wires.get(asked, ())
            if len(wired) != 1:
                return call
            name = wired[0]
        kind = PayloadKind.FUNCTION if call.kind is PayloadKind.MCP else call.kind
        named = attrs.evolve(call, name=name, server=None, kind=kind)
        tool = self._tools.get(name)
        return named if tool is None else tool.in_form(named)

    def preview(self, call: ToolCall) -> str | None:
        """Return what `call` would change, if its tool has a preview; if that fails, say so instead."""
        tool = self._tools.get(call.tool)
        if tool is None or tool.preview is None:
            return None
        try:
            return tool.preview(call.to_dict())
        except Exception as error:  # noqa: BLE001 -- a preview that fails must not keep the question from the human
            return f"(no preview: {' '.join(safe_str(error).split())})"

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[ToolSpec]:
        return (tool.spec for tool in list(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)

    # Running --------------------------------------------------------------------------------------

    def dispatch(self, authorized: AuthorizedCall, scope: Caller | None = None) -> ToolResult:
        """Run an authorized call and return its result; of a crash, which is in the record, that says so.

        Raises: `ReplayError` for an object not created here or already used; `FatalToolError` from the tool, and when
        the tool takes no calls of this kind.
        """
        return self._run(authorized, scope).run()

    async def adispatch(self, authorized: AuthorizedCall, scope: Caller | None = None) -> ToolResult:
        """Do what `dispatch` does on the event loop; a tool that is not async runs in a thread."""
        return await self._run(authorized, scope).arun()

    def cancel(self, call_id: str) -> bool:
        """End every run of this call id as cancelled, from any thread, and return whether there was one."""
        runs = list(self._shared.running.items())
        found = [cancel for authorization, cancel in runs if authorization.call.call_id == call_id]
        for cancel in found:
            cancel()
        return bool(found)

    def closing(self, callback: Callable[[], None]) -> None:
        """Have `callback` run at `close`, to end what a tool keeps alive between calls."""
        self._closing.append(callback)

    def close(self) -> None:
        """Cancel all runs, and run what was given to `closing`, the last one first; safe to call again."""
        for cancel in list(self._shared.running.values()):
            cancel()
        while self._closing:
            with contextlib.suppress(Exception):
                self._closing.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, authorized: AuthorizedCall, scope: Caller | None) -> Run:
        authorization = self._outstanding.redeem(authorized)
        shared = self._shared
        # The host may have set these fields after the registry was created.
        shared.telemetry, shared.artifacts, shared.on_event = self.telemetry, self.artifacts, self.on_event
        return Run(authorization, scope, shared)

    def _authorize(
        self,
        call: ToolCall,
        spec: ToolSpec | None,
        context: AuthContext,
        record: RunRecord,
        session: Any = None,  # noqa: ANN401 -- this folder does not know what a session is
    ) -> AuthorizedCall:
        """Create the authorization of `call`; `RegistryTools` alone does, after a decision about this `spec`."""
        tool = self._tools.get(call.tool)
        # INVARIANT: law 5. What the rules saw is what runs: from here on the authorization holds the tool itself.
        if tool is None or tool.spec is not spec:
            raise UnknownToolError(f"no tool `{call.tool}` is registered with the declaration that was decided on")
        return self._outstanding.create(Authorization(call, context, tool, record, session))


def _tool(
    spec: ToolSpec,
    handler: Callable[..., Any],
    call: Callable[[dict[str, Any], Authorization, Caller | None], Any],
    limits: ToolLimits | None,
    second: str = "",
) -> RegisteredTool:
    """Return the registered tool; `second` names what its handler takes after the arguments."""
    if not isinstance(spec, ToolSpec):
        raise RegistryError(f"a tool is registered by its ToolSpec, not {spec!r}; write register(ToolSpec(…), handler)")
    if not callable(handler):
        raise RegistryError(f"the handler of `{spec.name}` is a function, not {handler!r}")
    if not takes(handler, 1 + bool(second)):
        given = f"`(arguments, {second})`" if second else "one dict, `(arguments)`"
        raise RegistryError(
            f"the handler of `{spec.name}` takes {given}: the arguments of a call are a dict; decorate a function with "
            "parameters of its own with `@registry.tool`"
        )
    limits = ToolLimits() if limits is None else limits
    if not isinstance(limits, ToolLimits):
        raise RegistryError(f"the tool `{spec.name}`: `limits` is a ToolLimits, not {limits!r}")
    if limits.rate is not None and not isinstance(limits.rate, RateLimit):
        raise RegistryError(
            f"the tool `{spec.name}`: `rate` is a RateLimit, such as RateLimit(10, per=60), not {limits.rate!r}"
        )
    bucket = None if limits.rate is None else Bucket(limits.rate)
    check = getattr(handler, "check", None)
    return RegisteredTool(
        spec, call, is_async=is_async(handler), limits=limits, bucket=bucket, check=check,
        canonical=getattr(handler, "canonical", None), schema=_schema_of(spec) if check is None else None,
    )  # fmt: skip


def _schema_of(spec: ToolSpec) -> ArgumentSchema | None:
    if not spec.parameters or spec.kinds.isdisjoint(BY_SCHEMA):
        return None
    try:
        return ArgumentSchema(spec.parameters)
    except RegistryError as error:
        raise RegistryError(f"the tool `{spec.name}`: {error}") from error
