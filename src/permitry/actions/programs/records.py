"""Records of programs that rule files have: which of them counts, and the catalogue that has them.

A record of a more trusted file goes first: a less trusted one takes nothing away.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from permitry.actions.programs.catalogue import Catalogue, shipped
from permitry.core.action import Actions, Run

__all__ = ["Record", "Records"]


@attrs.frozen
class Record:
    """What a rule file says of a program of one name, in the fields of `programs.toml`.

    `source` is where, as `file:line`; `rank` is whose file it is: 3 the admin's, 2 the user's, 1 that
    of a trusted project, and 0 that of a project that is not trusted.
    """

    name: str
    fields: Mapping[str, Any] = attrs.field(hash=False)
    source: str
    rank: int

    def __str__(self) -> str:
        does = "" if self.rank else ", which is not trusted: it only restricts"
        return f"what `{self.name}` does is said in {self.source}{does}"


def _most_trusted_first(records: Iterable[Record]) -> tuple[Record, ...]:
    return tuple(sorted(records, key=lambda each: -each.rank))


@attrs.frozen
class Records:
    """The records of a policy. Of several trusted ones, that of the most trusted file counts."""

    every: tuple[Record, ...] = attrs.field(default=(), converter=_most_trusted_first)

    @property
    def trusted(self) -> "Records":
        """Those that permissions rely on."""
        return Records(each for each in self.every if each.rank)

    @property
    def below(self) -> "tuple[Records, ...]":
        """The trusted records without those of less trusted files: first of all none."""
        ranks = sorted({each.rank for each in self.trusted.every}, reverse=True)
        return tuple(Records(each for each in self.every if each.rank > rank) for rank in ranks)

    @property
    def digest(self) -> str:
        """A digest of what they say; empty where there are none."""
        said = [(each.name, each.fields, each.rank) for each in self.every]
        if said:
            return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
        return ""

    def records_used_in(self, actions: Actions) -> "tuple[Record, ...]":
        """Return the records of the programs that a call runs or may run, wrappers included."""
        every = (*actions.certain, *actions.possible, *actions.guessed)
        runs = [each for each in every if isinstance(each, Run)]
        names = {name for run in runs for name in (run.words[0].text, *run.within)}
        return tuple(each for each in self.every if each.name in names)

    def counting(self) -> Mapping[str, Record]:
        """Return the record that counts, by the names of programs."""
        found: dict[str, Record] = {}
        for each in self.every:
            found.setdefault(each.name, each)
        # One that is not trusted counts only where a reading without it counts as well.
        return found | {each.name: each for each in self.every if not each.rank}

    def catalogue(self) -> Catalogue:
        """Return what is known about programs with these records."""
        if not self.every:
            return shipped()
        return shipped().with_records({name: each.fields for name, each in self.counting().items()})
