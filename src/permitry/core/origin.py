"""Where a value of an argument was seen in a session, as explanations say it."""

import attrs

__all__ = ["Origin"]


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
