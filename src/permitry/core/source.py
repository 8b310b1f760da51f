"""What brings rules into a policy that is there already: a rule set, as one session may have it."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard

__all__ = ["RuleSource", "is_rule_source"]

_ATTRIBUTES = ("policy_rules", "flows", "tools", "unmatched", "unmatched_source")


class RuleSource(Protocol):
    """Rules, with what they need of a policy: flows, declarations of tools, and what happens to unmatched calls.

    It never changes, and can be referenced weakly; `permitry.load_rules` returns one. What its parts are is said
    in `permitry.core.policy`, which knows this file.
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
