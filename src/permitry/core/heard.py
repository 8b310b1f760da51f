"""How much a session has heard; the core needs only the counts.

What was said, and so where values come from, is asked by conditions: see `permitry.conditions.provenance.provenance`.
"""

import attrs

__all__ = ["HeardCounts"]


@attrs.frozen(eq=False)
class HeardCounts:
    """How many messages of the user and results of tools there were at one moment; a subclass knows their content.

    Equality is that of the counts and the content, so that one which knows nothing equals plain counts.
    """

    messages: int = 0
    results: int = 0

    @property
    def content(self) -> tuple[object, ...]:
        """What was said: here nothing."""
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeardCounts):
            return NotImplemented
        if (self.messages, self.results) != (other.messages, other.results):
            return False
        return self.content == other.content

    def __hash__(self) -> int:
        return hash((self.messages, self.results))
