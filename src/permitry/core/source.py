"""What a session may bring into a policy that is there already: a rule set, and values of the lists of its rules."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeGuard

__all__ = ["Lists", "RuleSource", "is_rule_source", "lists_in", "lists_of"]

_ATTRIBUTES = ("policy_rules", "flows", "tools", "unmatched", "unmatched_source")


class RuleSource(Protocol):
    """Rules, with what they need of a policy: flows, declarations of tools, and what happens to unmatched calls.

    It never changes, and can be referenced weakly; `permitry.load_rules` returns one.
    """

    @property
    def policy_rules(self) -> tuple[Any, ...]:
        """The rules."""

    @property
    def flows(self) -> tuple[Any, ...]:
        """What calls leave behind."""

    @property
    def tools(self) -> Mapping[str, Any]:
        """Declarations of tools by name."""

    @property
    def unmatched(self) -> Any:  # noqa: ANN401 -- a verdict, which this file cannot know
        """The verdict about a call that no rule matches."""

    @property
    def unmatched_source(self) -> str | None:
        """Where that is written."""


def is_rule_source(value: Any) -> TypeGuard[RuleSource]:  # noqa: ANN401 -- whatever a host gives
    """Return whether a value has all that a source of rules has."""
    return all(hasattr(value, name) for name in _ATTRIBUTES)


class Lists(Mapping[str, tuple[str | float, ...]]):
    """The values of lists by their names, texts and numbers, or a `TypeError`; never changes."""

    __slots__ = ("__weakref__", "_values")

    def __init__(self, values: Mapping[str, Iterable[str | float]] = {}) -> None:
        self._values = {str(name): _check(name, some) for name, some in dict(values).items()}

    def __getitem__(self, name: str) -> tuple[str | float, ...]:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Lists({self._values!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return Lists, (self._values,)


def lists_of(value: Mapping[str, Iterable[str | float]] | None) -> Lists | None:
    """Return lists in the form in which they never change; None when there are none."""
    return value if value is None or type(value) is Lists else Lists(value)


def lists_in(rule: Any) -> frozenset[str]:  # noqa: ANN401 -- a rule, which may be of any class
    """Return the names of the lists that a rule uses; none for one that no session can fill."""
    return rule.lists if hasattr(rule, "with_lists") else frozenset()


def _check(name: str, values: Iterable[str | float]) -> tuple[str | float, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"the list `{name}` is a list of texts or numbers, not {values!r}")
    found = tuple(values)
    for value in found:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise TypeError(f"the list `{name}` has {value!r}, which is neither a text nor a number")
    return found
