"""Named lists: the values of `[list.NAME]`, and which of them a rule may use where."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from permitry.core.decision import Verdict

__all__ = ["ListUses", "NamedList", "collect_trusted", "lists_of"]


@attrs.frozen
class NamedList:
    """The values of a list, and of the most trusted layer that has it; `source` is where, `file:line`."""

    values: tuple[str | float, ...] = ()
    most_trusted: tuple[str | float, ...] = ()
    source: str = ""


@attrs.frozen
class ListUses:
    """The lists, and trusted fields of tools, of one rule, which allows, or has a label or budget."""

    lists: Mapping[str, NamedList] = attrs.field(factory=dict)
    trusted: Mapping[str, Sequence[str]] = attrs.field(factory=dict, kw_only=True)
    permits: bool = False
    leaves: bool = False
    added: Mapping[str, tuple[str | float, ...]] = attrs.field(factory=dict)

    def values(self, name: str, *, is_positive: bool) -> tuple[str | float, ...]:
        """Return the values of a list where more of them let a rule apply to more calls, or to fewer."""
        named = self.lists[name]
        # INVARIANT: a less trusted layer never makes a call more allowed: its values count only where they restrict. A
        # label or budget of a permission is a restriction on other calls, so there both directions may allow more.
        may_allow = (self.permits and is_positive) or ((not self.permits or self.leaves) and not is_positive)
        return (*(named.most_trusted if may_allow else named.values), *self.added.get(name, ()))

    def of(self, rule: Mapping[str, Any]) -> "ListUses":
        """Return what a rule, as plain data, may name of these."""
        leaves = rule["adds_label"] is not None or rule["budget"] is not None
        return ListUses(self.lists, rule["effect"] == Verdict.ALLOW.value, leaves, trusted=self.trusted)


def collect_trusted(tools: Iterable[Mapping[str, Any]]) -> dict[str, Sequence[str]]:
    """Return the trusted fields of the tools that plain data describes."""
    return {each["name"]: each["trusted_fields"] for each in tools if each["trusted_fields"]}


def lists_of(tables: Iterable[Mapping[str, Any]]) -> dict[str, NamedList]:
    """Return the lists that plain data describes: of each, one table or several."""
    found: dict[str, NamedList] = {}
    for each in tables:
        known, values = found.get(each["name"], NamedList(source=each["source"])), tuple(each["values"])
        own = () if each["restricts_only"] else values
        found[each["name"]] = NamedList((*known.values, *values), (*known.most_trusted, *own), known.source)
    return found
