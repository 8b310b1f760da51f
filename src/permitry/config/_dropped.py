"""Notices on what is dropped from the files of a project that is not trusted."""

from collections.abc import Iterable, Iterator
from typing import Any

from permitry.config.drafts import Draft
from permitry.errors import count

__all__ = ["notices_on"]

_MOST_NAMED = 3
"""So many of a kind in one file are named; of more, only the number is given."""


def notices_on(dropped: Iterable[Draft[Any]]) -> Iterator[str]:
    """Yield a notice for each definition, or one for all of a kind where a file has many, in the order given."""
    groups: dict[tuple[str, str, str], list[Draft[Any]]] = {}
    for each in dropped:
        kind = "permission" if each.kind == "rule" else each.kind
        groups.setdefault((each.source.name, kind, each.origin.distrust), []).append(each)
    for (file, kind, why), found in groups.items():
        if len(found) > _MOST_NAMED:
            yield f"{file}: {count(len(found), kind)} dropped: {why}"
            continue
        for each in found:
            name = each.table.id if each.kind == "rule" else each.name
            yield f"{each.place}: {kind} `{name}` dropped: {why}"
