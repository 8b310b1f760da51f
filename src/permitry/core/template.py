"""Templates: named lists of tools that need no confirmation while active."""

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
    _names: frozenset[str] = attrs.field(init=False, repr=False, eq=False)
    _allowed: frozenset[str] = attrs.field(init=False, repr=False, eq=False)
    _globs: tuple[Pattern, ...] = attrs.field(init=False, repr=False, eq=False)

    # Everything inherited is gathered once: asking costs the same however templates extend each other.

    @_names.default
    def _all_names(self) -> frozenset[str]:
        return frozenset({self.name}).union(*(parent._names for parent in self.extends))  # noqa: SLF001 -- our own kind

    @_allowed.default
    def _all_allowed(self) -> frozenset[str]:
        return frozenset(self.allowed_tools).union(*(parent._allowed for parent in self.extends))  # noqa: SLF001 -- our own kind

    @_globs.default
    def _all_globs(self) -> tuple[Pattern, ...]:
        return tuple(pattern for pattern in map(Pattern, self._allowed) if not pattern.is_exact)

    def allows(self, tool: str) -> bool:
        """Return whether the template or one it extends names `tool`."""
        return tool in self._allowed or any(pattern.matches(tool) for pattern in self._globs)

    def names(self) -> frozenset[str]:
        """Return the template's own name and the names of all it extends."""
        return self._names
