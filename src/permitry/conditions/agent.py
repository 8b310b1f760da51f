"""The condition `agent`."""

import attrs

from permitry.conditions._words import check_sign
from permitry.conditions.written import Place, PlainCondition, Words
from permitry.core.pattern import Pattern
from permitry.core.rule import Request

__all__ = ["AgentCondition"]


@attrs.frozen
class AgentCondition(PlainCondition):
    """Holds when the agent that calls fits one of the patterns."""

    key = "agent"
    table = Words
    description = "The agent that calls; `*` and `?` are wildcards."
    any_of = "agents"
    has_wildcards = True
    is_answered = True
    example = str
    in_context = "agent"
    is_pure = True

    agents: tuple[Pattern, ...]

    @classmethod
    def read(cls, _place: Place, part: Words, /) -> "AgentCondition":
        """Return the condition of a list of patterns."""
        return cls(tuple(Pattern(check_sign(word, cls.key)) for word in part))

    def holds(self, request: Request) -> bool:
        """Return whether the calling agent fits."""
        return any(agent.matches(request.context.agent) for agent in self.agents)
