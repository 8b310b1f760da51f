"""What helps to write tests of rules."""

from typing import Any

import attrs

from permitry.core.context import AuthContext
from permitry.core.template import Template

__all__ = ["AuthContextBuilder"]


@attrs.define
class AuthContextBuilder:
    """A fluent way to write down a context in a test; every step returns the builder.

    >>> AuthContextBuilder().in_plan_mode().ignoring("bash").build().is_plan_mode
    True
    """

    _fields: dict[str, Any] = attrs.field(factory=dict, init=False)

    def in_plan_mode(self) -> "AuthContextBuilder":
        """Set plan mode."""
        return self._with(is_plan_mode=True)

    def in_yolo_mode(self) -> "AuthContextBuilder":
        """Set YOLO mode."""
        return self._with(yolo_mode=True)

    def in_mode(self, mode: str) -> "AuthContextBuilder":
        """Set the host's word for its mode."""
        return self._with(mode=mode)

    def ignoring(self, *tools: str) -> "AuthContextBuilder":
        """Add names to the ignore list."""
        return self._with(tool_ignore_list=(*self._fields.get("tool_ignore_list", ()), *tools))

    def using(self, template: Template) -> "AuthContextBuilder":
        """Make a template the active one."""
        return self._with(active_template=template)

    def as_agent(self, agent: str) -> "AuthContextBuilder":
        """Set the name of the agent that calls."""
        return self._with(agent=agent)

    def in_workspace(self, workspace: str) -> "AuthContextBuilder":
        """Set the workspace root."""
        return self._with(workspace=workspace)

    def unattended(self) -> "AuthContextBuilder":
        """Say that no human is there to answer."""
        return self._with(attended=False)

    def counting(self, **counts: int) -> "AuthContextBuilder":
        """Set how often tools have run."""
        return self._with(counts=counts)

    def labelled(self, *labels: str) -> "AuthContextBuilder":
        """Set the taint labels."""
        return self._with(labels=frozenset(labels))

    def build(self) -> AuthContext:
        """Return the immutable context."""
        return AuthContext(**self._fields)

    def _with(self, **fields: object) -> "AuthContextBuilder":
        self._fields.update(fields)
        return self
