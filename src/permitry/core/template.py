"""Templates: named lists of tools that need no confirmation while active."""

import functools
from collections.abc import Iterable

import attrs

from permitry.core.pattern import Pattern

__all__ = ["Template"]


def _names(value: Iterable[str] | None) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError("`allowed_tools` must be a list of names, not one string")
    return () if value is None else tuple(value)


def _only_templates(value: "Iterable[Template]") -> "tuple[Template, ...]":
    templates = tuple(value)
    if not all(isinstance(each, Template) for each in templates):
        raise TypeError("`extends` must be a list of templates")
    return templates


@attrs.frozen
class Template:
    """A named list of tools that need no confirmation while the template is active.

    `allowed_tools` holds names or globs; None and empty both allow nothing. `extends` are whole templates, so a
    cycle cannot be built. While an `exclusive` template is active, every other tool is blocked: by the rule
    `exclusive-template`, which a rule file with such a template brings along.
    """

    name: str
    allowed_tools: tuple[str, ...] = attrs.field(default=(), converter=_names)
    description: str = attrs.field(default="", kw_only=True)
    extends: tuple["Template", ...] = attrs.field(default=(), kw_only=True, converter=_only_templates)
    exclusive: bool = attrs.field(default=False, kw_only=True, validator=attrs.validators.instance_of(bool))

    # Everything inherited is gathered once: asking costs the same however templates extend each other.

    @functools.cached_property
    def _lineage(self) -> frozenset[str]:
        return frozenset({self.name}).union(*(parent.names() for parent in self.extends))

    @functools.cached_property
    def _tools(self) -> frozenset[str]:
        return frozenset(self.allowed_tools).union(*(parent._tools for parent in self.extends))  # noqa: SLF001 -- our own kind

    @functools.cached_property
    def _globs(self) -> tuple[Pattern, ...]:
        return tuple(pattern for pattern in map(Pattern, self._tools) if not pattern.is_exact)

    def allows(self, tool: str) -> bool:
        """Return whether the template or one it extends names `tool`."""
        return tool in self._tools or any(pattern.matches(tool) for pattern in self._globs)

    def names(self) -> frozenset[str]:
        """Return the template's own name and the names of all it extends."""
        return self._lineage
