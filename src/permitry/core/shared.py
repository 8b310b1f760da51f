"""What calls leave behind when they run, and budgets that many processes share."""

from collections.abc import Collection
from typing import Literal, Protocol, runtime_checkable

import attrs

__all__ = ["Limit", "SharedCounts", "SharedLimits", "Sharer", "SideEffects"]

Sharer = Literal["principal", "organisation"]


@attrs.frozen
class Limit:
    """At most `most` calls that the rule `rule` means, in any `seconds`, by each principal or by all together."""

    rule: str
    by: Sharer
    most: int
    seconds: float


@attrs.frozen
class SideEffects:
    """What a call leaves behind: labels, the ids of rules whose budget it counts for, targets, shared budgets."""

    labels: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    shared: frozenset[Limit] = frozenset()


@runtime_checkable
class SharedCounts(Protocol):
    """How much of shared budgets is used, at one moment."""

    def uses(self, limit: Limit) -> int:
        """Return how many calls the last `limit.seconds` had, or too many, or raise `UnevaluableError`."""

    def relies_on(self, limit: Limit) -> bool:
        """Return whether `uses` has answered that the budget is not spent."""

    def whose(self, limit: Limit) -> str:
        """Return whose calls are counted, in words."""

    def snapshot(self) -> "SharedCounts":
        """Return itself: the same answer each time."""


class SharedLimits(Protocol):
    """Where shared budgets are counted. Thread-safe, and safe in several processes."""

    def snapshot(self) -> SharedCounts:
        """Return the counts of this moment."""

    def charge(self, limits: Collection[Limit], within: Collection[Limit] = ()) -> bool:
        """Count a call for each of `limits`; return False, and count nothing, if one of `within` is spent.

        Raises: `StoreError` when it cannot be counted.
        """

    def close(self) -> None:
        """Give back what is left, as far as the store can be reached."""
