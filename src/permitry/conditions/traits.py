"""The condition `traits`."""

import enum
from collections.abc import Iterable
from typing import Annotated

import attrs

from permitry.conditions.match import Match
from permitry.conditions.written import PlainCondition, Words, sorted_repr
from permitry.core.rule import Request
from permitry.core.spec import ToolTraits

__all__ = ["Trait", "TraitsCondition"]


class Trait(enum.Enum):
    """What may be true of a tool, in the words of its declaration."""

    READ_ONLY = "read_only"
    DESTRUCTIVE = "destructive"
    IDEMPOTENT = "idempotent"
    OPEN_WORLD = "open_world"
    SPAWNS_AGENT = "spawns_agent"


def _traits(value: Iterable[str]) -> frozenset[Trait]:
    return frozenset(map(Trait, value))


@attrs.frozen
class TraitsCondition(PlainCondition):
    """Holds when a trait is true of the tool; for a restriction, also when it is not known."""

    key = "traits"
    table = Annotated[Words, Trait]
    description = "What is true of the tool: read_only, destructive, idempotent, open_world, ..."
    is_pure = True

    traits: frozenset[Trait] = attrs.field(converter=_traits, repr=sorted_repr)

    def match(self, request: Request, _needed: Match = Match.YES, /) -> Match:
        """Return how far one of the traits is known to be true of the tool."""
        found = _traits_of(request)
        return max((Match.of(getattr(found, trait.value)) for trait in self.traits), default=Match.NO)

    @property
    def expected(self) -> str:
        """What it asks for, as shown in near misses."""
        return " or ".join(sorted(each.value for each in self.traits))

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        found = attrs.asdict(_traits_of(request))
        return f"traits = {', '.join(name for name, value in found.items() if value) or 'none that is known'}"

    def implies(self, other: object) -> bool:
        """Return whether the other has all of these traits."""
        return isinstance(other, TraitsCondition) and self.traits <= other.traits


def _traits_of(request: Request) -> ToolTraits:
    """Return what is declared of the very tool of the call; that of another says nothing."""
    tool = request.tool
    is_its_own = tool is not None and (request.spec is None or request.spec.name == request.call.tool)
    if tool is None or not is_its_own:
        return ToolTraits()
    # A tool that claims to read only and to destroy is not believed the former.
    is_in_doubt = tool.traits.read_only is True and tool.traits.destructive is True
    return attrs.evolve(tool.traits, read_only=None) if is_in_doubt else tool.traits
