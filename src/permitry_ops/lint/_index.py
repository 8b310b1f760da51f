"""An index of rules, so that each is compared only with the few that can be related to it.

A *need* is a set of keys, of which everything related to the rule has one among its *facts*; see `_facts`.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeAlias

from permitry.conditions.scope import Scope
from permitry.rules.configured import ConfiguredRule

__all__ = ["Index", "Key", "Need"]

Key: TypeAlias = tuple[object, ...]


class Need(NamedTuple):
    """Keys of which one must be among the facts; `wide` are for facts that are less exact."""

    keys: tuple[Key, ...]
    wide: tuple[Key, ...] = ()


class Index:
    """Rules in their order, each stored under the need that it shares with the fewest others."""

    __slots__ = ("_filed", "rules")

    def __init__(self, rules: Iterable[ConfiguredRule], needs: Callable[[Scope], Iterable[Need]]) -> None:
        self.rules = tuple(rules)
        self._filed: dict[Key, list[int]] = {}
        for number, rule in enumerate(self.rules):
            need = min(needs(rule.scope), key=lambda each: max(len(self._filed.get(key, ())) for key in each.keys))
            for key in {*need.keys, *need.wide}:
                self._filed.setdefault(key, []).append(number)

    def near(self, facts: AbstractSet[Key]) -> Iterator[ConfiguredRule]:
        """Yield all rules that can be related to such facts, and perhaps more, in their order."""
        found = [self._filed[key] for key in self._filed.keys() & facts]
        for number, _ in itertools.groupby(heapq.merge(*found)):
            yield self.rules[number]
