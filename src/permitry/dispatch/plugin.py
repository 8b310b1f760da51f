"""What a plugin is: a tool, or several, as its author writes them."""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from permitry.core.context import AuthContext
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.dispatch.events import ToolEventKind, report
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.errors import RegistryError

__all__ = ["ToolContext", "ToolPlugin", "ToolsetPlugin"]

_report_status = functools.partial(report, ToolEventKind.STATUS)


@attrs.frozen
class ToolContext:
    """What a plugin is given in addition to the arguments: the context of the session, and what the host provides.

    `services` are objects of the host by name. `on_status` takes one line for the user, which becomes an event. `scope`
    is the state of the caller and `session` its session: an agent that a plugin starts works under
    `session.child(name)`. `enabled` is called without a tool call: `scope` is empty then, and `session` None.
    """

    auth: AuthContext = attrs.field(factory=AuthContext)
    services: Mapping[str, Any] = attrs.field(factory=dict)
    on_status: Callable[[str], None] = _report_status
    scope: CallScope = attrs.field(factory=CallScope, kw_only=True)
    session: Any = attrs.field(default=None, kw_only=True, repr=False)


PluginHandler: TypeAlias = Callable[[dict[str, Any], ToolContext], Any]


@attrs.frozen
class ToolPlugin:
    """One tool in a file of its own: the module-level variable `plugin`.

    `definition` is the tool as the OpenAI API takes it, with or without the outer `{"type": "function"}`. `handler`
    takes the arguments, which fit the JSON Schema in the `parameters` of the definition, and a `ToolContext`. It may be
    async, and returns `(ok, text)`, text, a JSON object, or a `ToolResult`. `enabled` says for each request whether the
    tool is offered, and may be called, at all.
    """

    definition: Mapping[str, Any]
    handler: PluginHandler
    enabled: Callable[[ToolContext], bool] = lambda _: True
    traits: ToolTraits = attrs.field(factory=ToolTraits, kw_only=True)
    roles: Mapping[str, ArgumentRole] | None = attrs.field(default=None, kw_only=True)
    version: str = attrs.field(default="1", kw_only=True)
    timeout: float | None = attrs.field(default=60.0, kw_only=True)

    @property
    def spec(self) -> ToolSpec:
        """The tool's declaration; `RegistryError` or `CallError` for a definition without a usable name."""
        outer = self.definition
        inner = outer.get("function", outer)
        if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
            raise RegistryError("the definition has no `name`; it is the tool as the OpenAI API takes it")
        description = inner.get("description")
        if description is not None and not isinstance(description, str):
            raise RegistryError("the `description` in the definition is not a string")
        return ToolSpec(
            inner["name"],
            description or "",
            parameters=inner.get("parameters") or {},
            traits=self.traits,
            roles=self.roles,
            version=self.version,
            timeout=self.timeout,
        )


@attrs.frozen
class ToolsetPlugin:
    """Several tools that work in one folder, as an entry point: `register` adds them to a registry."""

    register: Callable[[ToolRegistry, Path], object]
