"""Templates: named lists of tools that need no confirmation while active."""

from collections.abc import Iterable

import attrs

from permitry.core.pattern import Pattern

__all__ = ["Template"]


def _names(value: Iterable[str] | None) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError("`allowed_tools` must be a list of names, not one string")
    return () if value is None else tuple(value)


@attrs.frozen
class Template:
    """A named list of tools that need no confirmation while the template is active.

    `allowed_tools` holds names or globs; None and empty both allow nothing. `extends` are whole templates, so a
    cycle cannot be built.

    Source: seed 003, "TemplateAllowedToolsRule" and "Template Inheritance".
    """

    name: str
    allowed_tools: tuple[str, ...] = attrs.field(default=(), converter=_names)
    description: str = attrs.field(default="", kw_only=True)
    extends: tuple["Template", ...] = attrs.field(default=(), kw_only=True)
    _patterns: tuple[Pattern, ...] = attrs.field(init=False, repr=False, eq=False)

    @_patterns.default
    def _compiled(self) -> tuple[Pattern, ...]:
        return tuple(Pattern(name) for name in self.allowed_tools)

    def allows(self, tool: str) -> bool:
        """Return whether the template or one it extends names `tool`."""
        return any(pattern.matches(tool) for pattern in self._patterns) or any(
            parent.allows(tool) for parent in self.extends
        )

    def names(self) -> frozenset[str]:
        """Return the template's own name and the names of all it extends."""
        return frozenset({self.name}).union(*(parent.names() for parent in self.extends))
