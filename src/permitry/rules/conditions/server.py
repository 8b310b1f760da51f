"""The condition `server`."""

from typing import ClassVar

import attrs

from permitry.core.pattern import Pattern
from permitry.core.rule import Question

__all__ = ["ServerCondition"]


@attrs.frozen
class ServerCondition:
    """Holds when the tool belongs to an MCP server whose name fits one of the patterns."""

    is_about_call: ClassVar[bool] = False

    servers: tuple[Pattern, ...]

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- the server is always known
        """Return whether the call goes to one of the servers; a tool of the agent itself goes to none."""
        server = question.call.server
        return server is not None and any(pattern.matches(server) for pattern in self.servers)

    def compiled(self, question: Question, *, is_generous: bool) -> bool:
        """Return `holds`: calls of one tool go to one server."""
        return self.holds(question, is_generous=is_generous)

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        server = question.call.server
        return "no server" if server is None else f"server = {server}"
