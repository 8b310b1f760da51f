"""How often an MCP server that has ended is started again."""

import attrs

__all__ = ["Restarts"]

_MOST = 5
_WITHIN = 600.0
"""Seconds."""


@attrs.define
class Restarts:
    """The times, in seconds, of the last starts; a program that always ends is not started for ever."""

    _at: list[float] = attrs.field(factory=list)

    def take(self, now: float) -> bool:
        """Return whether it may be started again, and count that."""
        self._at = [at for at in self._at if now - at < _WITHIN]
        if len(self._at) >= _MOST:
            return False
        self._at.append(now)
        return True
