"""Notices on what is dropped from the files of a project that is not trusted."""

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from permitry.config.drafts import Draft
from permitry.errors import count

__all__ = ["Dropped", "notices_on"]

_MOST_NAMED = 3
"""So many of a kind in one file are named; of more, only the number is given."""


@attrs.frozen
class Dropped:
    """A definition that is dropped: its kind (`permission`, `template` or `tool`), its name, and where it was."""

    kind: str
    name: str
    draft: Draft[Any]


def notices_on(dropped: Iterable[Dropped]) -> Iterator[str]:
    """Yield a notice for each definition, or one for all of a kind where a file has many, in the order given."""
    groups: dict[tuple[str, str, str], list[Dropped]] = {}
    for each in dropped:
        groups.setdefault((each.draft.source.name, each.kind, each.draft.origin.distrust), []).append(each)
    for (file, kind, why), found in groups.items():
        if len(found) > _MOST_NAMED:
            yield f"{file}: {count(len(found), kind)} dropped: {why}"
            continue
        for each in found:
            yield f"{each.draft.place}: {kind} `{each.name}` dropped: {why}"
