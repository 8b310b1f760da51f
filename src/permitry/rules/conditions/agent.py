"""The condition `agent`."""

import attrs

from permitry.core.pattern import Pattern
from permitry.core.rule import Question

__all__ = ["AgentCondition"]


@attrs.frozen
class AgentCondition:
    """Holds when the agent that calls fits one of the patterns."""

    agents: tuple[Pattern, ...]

    @property
    def is_pure(self) -> bool:
        """Whether it answers by the question alone: a pattern of another class may not."""
        return all(type(each) is Pattern for each in self.agents)

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- the name is always known
        """Return whether the calling agent is meant."""
        return any(agent.matches(question.context.agent) for agent in self.agents)

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"agent = {question.context.agent}"
