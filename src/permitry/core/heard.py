"""How much a session has heard, of which the core looks at no more.

What was said, and so where values come from, is asked by conditions: see `permitry.conditions.provenance`.
"""

import attrs

__all__ = ["HeardCounts"]


@attrs.frozen(eq=False)
class HeardCounts:
    """How many messages of the user and how many results of tools there were at one moment; of none, what they were."""

    messages: int = 0
    results: int = 0

    @property
    def content(self) -> tuple[object, ...]:
        """What is known of them."""
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HeardCounts):
            return NotImplemented
        if (self.messages, self.results) != (other.messages, other.results):
            return False
        return self.content == other.content

    def __hash__(self) -> int:
        return hash((self.messages, self.results))
