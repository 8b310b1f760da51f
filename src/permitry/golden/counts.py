"""Counts of shared budgets that are given, as a golden case or a line of `permitry check` gives them."""

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from permitry.core.shared import Limit
from permitry.errors import UnevaluableError

__all__ = ["GivenCounts"]


def _read_only(value: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(value))


@attrs.frozen
class GivenCounts:
    """Counts that are given: by the id of its rule, how much of a budget is used. Of all others it is not known."""

    given: Mapping[str, int] = attrs.field(factory=dict, converter=_read_only, hash=False)

    def uses(self, limit: Limit) -> int:
        """Return what is given. Raises: `UnevaluableError` where nothing is."""
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
