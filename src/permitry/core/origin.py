"""What a session has heard: how much of it there is, and where a value was seen in it.

What was said is known to conditions: see `permitry.conditions.provenance.provenance`.
"""

import attrs

__all__ = ["HeardCounts", "Origin"]


@attrs.frozen
class Origin:
    """Where one value of an argument was seen; `value` is its JSON, shortened.

    `places` are phrases such as "look #2, field `iban`". `is_said`: the user wrote it; None where no message is known.
    `words` are how many of its words the user wrote, and how many it has, for a rule that asks for that.
    """

    argument: str
    value: str
    places: tuple[str, ...] = ()
    is_said: bool | None = None
    words: tuple[int, int] | None = None

    def __str__(self) -> str:
        places = list(self.places)
        if self.is_said:
            places.insert(0, "the user's messages")
        parts = [f"occurs in {' and in '.join(places)}" if places else "occurs in no result or call that is known"]
        if self.is_said is None:
            parts.append("no message of the user is known")
        elif not self.is_said:
            parts.append("not in the user's messages")
        if self.words is not None:
            parts.append("{} of its {} words are in the user's messages".format(*self.words))
        return f"`{self.argument}` = {self.value} {'; '.join(parts)}"


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
        return (self.messages, self.results, self.content) == (other.messages, other.results, other.content)

    def __hash__(self) -> int:
        return hash((self.messages, self.results))
