"""What rules may ask for of what was said before a call: words of the user, and results of tools."""

from collections.abc import Iterable, Iterator

import attrs

from permitry.conditions.args import Source, SourceCondition
from permitry.conditions.prompt import PromptCondition
from permitry.conditions.scope import Scope
from permitry.config.ruleset import RuleSet

__all__ = ["Wanted", "wishes_in", "wishes_of"]


@attrs.frozen
class Wanted:
    """What rules may ask for: whether for what the user wrote, and for the results of which tools."""

    user: bool = False
    tools: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.user or bool(self.tools)


def wishes_of(rules: RuleSet) -> Wanted:
    """Return what rules may ask for."""
    return wishes_in(each.scope for each in (*rules.rules, *rules.flows))


def wishes_in(scopes: Iterable[Scope]) -> Wanted:
    """Return what the conditions of rules may ask for."""
    parts = [part for scope in scopes for each in scope.every for part in _parts(each.plain)]
    tools = frozenset[str]().union(*(part.tools for part in parts))
    return Wanted(any(part.user for part in parts), tools)


def _parts(value: object) -> Iterator[Wanted]:
    match value:
        case PromptCondition() | SourceCondition(share=float()):
            yield Wanted(user=True)
        case Source():
            yield Wanted(value.needs_user, frozenset([value.tool] if value.tool else []))
        case tuple():
            for each in value:
                yield from _parts(each)
        case _:
            fields = getattr(type(value), "__attrs_attrs__", ())
            yield from (part for field in fields for part in _parts(getattr(value, field.name)))
