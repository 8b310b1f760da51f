"""The condition `access`: what happens to the paths of `path` next to it."""

from collections.abc import Iterable
from typing import Annotated

import attrs

from permitry.conditions.written import Words, Written, sorted_repr
from permitry.core.action import Access

__all__ = ["AccessCondition"]


def _accesses(value: Iterable[str]) -> frozenset[Access]:
    return frozenset(map(Access, value))


@attrs.frozen
class AccessCondition(Written):
    """Narrows the patterns of `path` to one or more ways to access what they match."""

    key = "access"
    table = Annotated[Words, Access]
    description = (
        "What happens to a path of `path`: read, write, delete, or list, which shows no content; left out, any of them."
    )

    accesses: frozenset[Access] = attrs.field(converter=_accesses, repr=sorted_repr)
