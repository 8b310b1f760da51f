"""The condition `server`."""

import attrs

from permitry.conditions._words import check_sign
from permitry.conditions.match import Match
from permitry.conditions.written import Place, PlainCondition, Words
from permitry.core.names import NamePattern, servers
from permitry.core.rule import Request

__all__ = ["ServerCondition"]


@attrs.frozen
class ServerCondition(PlainCondition):
    """Holds when the MCP server of the tool fits; for a restriction any that its name may mean."""

    key = "server"
    table = Words
    description = "The MCP server of the tool; `*` and `?` are wildcards."
    any_of = "servers"
    has_wildcards = True
    is_answered = True
    is_pure = True

    servers: tuple[NamePattern, ...]

    @classmethod
    def read(cls, _place: Place, part: Words, /) -> "ServerCondition":
        """Return the condition of a list of patterns."""
        return cls(tuple(NamePattern(check_sign(word, cls.key)) for word in part))

    def match(self, request: Request, needed: Match = Match.YES, /) -> Match:
        """Return how far the call goes to one of the servers; a tool of the agent goes to none."""
        call = request.call
        if call.server is not None and any(pattern.matches(call.server) for pattern in self.servers):
            return Match.YES
        if needed is Match.YES:
            return Match.NO
        found = servers(call.tool, call.server)
        return Match.ALIKE if any(pattern.may_mean(found) for pattern in self.servers) else Match.NO

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        server = request.call.server
        return "no server" if server is None else f"server = {server}"
