"""The condition `agent`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.pattern import Pattern
from permitry.core.rule import Question, Test

__all__ = ["AgentCondition"]


@attrs.frozen
class AgentCondition:
    """Holds when the agent that calls fits one of the patterns."""

    is_about_call: ClassVar[bool] = False

    agents: tuple[Pattern, ...]

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- the name is always known
        """Return whether the calling agent is meant."""
        return any(agent.matches(question.context.agent) for agent in self.agents)

    def compiled(self, question: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- it asks the context alone
        """Return `holds` as a test of the context."""
        agents = self.agents
        if len(agents) == 1 and agents[0].is_exact:
            name = agents[0].text
            return lambda _, context: bool(context.agent == name)

        def holds(_: ToolCall, context: AuthContext) -> bool:
            return any(agent.matches(context.agent) for agent in agents)

        return holds

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"agent = {question.context.agent}"
