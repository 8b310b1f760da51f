"""The tools of one context, and how a provider's tool call becomes a `ToolCall`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.json_values import parse_json
from permitry.core.names import wire_name
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import without_nulls
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.schema import exported, is_exportable
from permitry.errors import CallError, FatalToolError, RegistryError, ToolError

__all__ = ["Router", "ToolFamily"]

ToolFamily: TypeAlias = Callable[[ToolRegistry, AuthContext], None]
"""Registers the tools of one family that the context should have, each with its handler."""


@attrs.frozen
class Router:
    """The tools of one context: the definitions for the model, and how its calls are read."""

    registry: ToolRegistry
    context: AuthContext
    policy: AuthorizationPolicy | None = None

    @classmethod
    def from_context(
        cls,
        context: AuthContext,
        families: Iterable[ToolFamily],
        *,
        policy: AuthorizationPolicy | None = None,
        registry: ToolRegistry | None = None,
    ) -> "Router":
        """Return the router of what `families` register; `RegistryError` for two of one name or wire name."""
        registry = ToolRegistry() if registry is None else registry
        for family in families:
            family(registry, context)
        for spec in list(registry):
            wire = wire_name(spec.name)
            if registry.resolved(ToolCall(wire)).tool != spec.name:
                raise RegistryError(f"the tool `{spec.name}` is `{wire}` for providers, and another one is as well")
        return cls(registry, context, policy)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that are enabled here, and of which, with a policy, some call could run."""
        return self.registry.specs(self.context, self.policy)

    def exported(self, shape: str, *, strict: bool = False, free_form: bool = False) -> list[dict[str, Any]]:
        """Return the definitions for the model of the tools that the shape has, as `schema.exported` does."""
        specs = [spec for spec in self.specs if is_exportable(spec, shape)]
        return [exported(spec, shape, strict=strict, free_form=free_form) for spec in specs]

    def call(
        self,
        name: str,
        payload: Mapping[str, Any] | str,
        *,
        kind: PayloadKind = PayloadKind.FUNCTION,
        call_id: str | None = None,
        origin: str | None = None,
    ) -> ToolCall:
        """Return the call that a provider sent; `payload` is JSON text or an object, for custom calls plain text.

        A function call of a tool of the kind `unified_exec` becomes one of that kind. An argument that is null, and
        may be left out but not be null, is left out, as models do under a strict schema. Raises: `ToolError` for a
        tool that does not exist here or takes no such payload; `FatalToolError` when it takes no calls of this kind.
        """
        try:
            bare = ToolCall(name, call_id=call_id, origin=origin)
        except CallError as error:
            raise ToolError(f"The call was not understood: {error}.") from error
        spec = self.registry.get(self.registry.resolved(bare).tool)
        if spec is None or not self.registry.is_enabled(spec.name, self.context):
            raise ToolError(f"unsupported call: {name}")
        if kind is PayloadKind.FUNCTION and PayloadKind.FUNCTION not in spec.kinds:
            kind = next((each for each in (PayloadKind.UNIFIED_EXEC, PayloadKind.MCP) if each in spec.kinds), kind)
        if kind not in spec.kinds:
            kinds = ", ".join(sorted(each.value for each in spec.kinds))
            raise FatalToolError(f"the tool `{name}` takes calls of kind {kinds}, and this one is of kind {kind.value}")
        try:
            call = ToolCall(spec.name, _arguments(payload, kind), call_id=call_id, kind=kind, origin=origin)
        except CallError as error:
            raise ToolError(f"The call of `{name}` was not understood: {error}.") from error
        return attrs.evolve(call, arguments=without_nulls(call.arguments, spec.parameters))


def _arguments(payload: Mapping[str, Any] | str, kind: PayloadKind) -> Mapping[str, Any]:
    if not isinstance(payload, str):
        return payload
    is_text = kind is PayloadKind.CUSTOM
    arguments: Mapping[str, Any] = {"input": payload} if is_text else parse_json(payload.strip() or "{}")
    return arguments
