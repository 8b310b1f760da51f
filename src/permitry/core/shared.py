"""Budgets that many processes share: what a rule allows each principal, or the organisation."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal, Protocol, runtime_checkable

import attrs

from permitry.errors import UnevaluableError

__all__ = ["GivenCounts", "Limit", "SharedCounts", "SharedLimits", "Sharer"]

Sharer = Literal["principal", "organisation"]


@attrs.frozen
class Limit:
    """At most `most` calls that the rule `rule` means, in any `seconds`, by each principal or by all together."""

    rule: str
    by: Sharer
    most: int
    seconds: float


@runtime_checkable
class SharedCounts(Protocol):
    """How much of shared budgets is used, at one moment."""

    def uses(self, limit: Limit) -> int:
        """Return how many calls were counted in the last `limit.seconds`; if anything, too many.

        Raises: `UnevaluableError` when that is not known.
        """

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


def _read_only(value: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(value))


@attrs.frozen
class GivenCounts:
    """Counts that are given: by the id of its rule, how much of a budget is used. Of all others it is not known."""

    given: Mapping[str, int] = attrs.field(factory=dict, converter=_read_only, hash=False)

    def uses(self, limit: Limit) -> int:
        """Return what is given.

        Raises: `UnevaluableError` where nothing is.
        """
        if limit.rule not in self.given:
            raise UnevaluableError(f"`shared` of the context does not say how much of `{limit.rule}` is used")
        return self.given[limit.rule]

    def relies_on(self, limit: Limit) -> bool:
        """Return whether the budget is not spent."""
        return self.given.get(limit.rule, limit.most) < limit.most

    def whose(self, limit: Limit) -> str:
        """Return the kind of those whose calls are counted."""
        return limit.by

    def snapshot(self) -> "GivenCounts":
        """Return the same counts, which never change."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return GivenCounts, (dict(self.given),)
