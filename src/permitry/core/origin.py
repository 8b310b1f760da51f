"""Where a value of an argument was seen in a session, as explanations say it."""

from collections.abc import Iterable, Sequence

import attrs

from permitry.core.json_values import JsonValue, canonical_json
from permitry.core.provenance import Provenance, normal
from permitry.core.texts import shorten

__all__ = ["Origin", "origin_of", "shown"]

_LONGEST = 60
_MOST_PLACES = 8
_MOST_NUMBERS = 3


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
        places = [*(["the user's messages"] if self.is_said else []), *self.places]
        parts = [f"occurs in {' and in '.join(places)}" if places else "occurs in no result or call that is known"]
        if self.is_said is None:
            parts.append("no message of the user is known")
        elif not self.is_said:
            parts.append("not in the user's messages")
        if self.words is not None:
            parts.append("{} of its {} words are in the user's messages".format(*self.words))
        return f"`{self.argument}` = {self.value} {'; '.join(parts)}"


def origin_of(argument: str, value: JsonValue, known: Provenance, lists: Iterable[str] = ()) -> Origin:
    """Return where a value was seen; `lists` are the names of the lists that it is in."""
    form = normal(value)
    places = {} if form is None else known.places(form)
    found = [f"the list `{name}`" for name in lists]
    found += [f"{tool} {_list_numbers(numbers)}{what}" for (tool, what), numbers in places.items()]
    left = len(found) - _MOST_PLACES
    more = [f"{left} more places"] if left > 0 else []
    is_said = known.is_said(form) if known.texts else None
    return Origin(argument, shown(value), (*found[:_MOST_PLACES], *more), is_said)


def _list_numbers(numbers: Sequence[int]) -> str:
    """Return the numbers of results, of many the first ones and how many more there are."""
    few = ", ".join(f"#{number}" for number in numbers[:_MOST_NUMBERS])
    return f"{few} and {len(numbers) - _MOST_NUMBERS} more" if len(numbers) > _MOST_NUMBERS else few


def shown(value: JsonValue) -> str:
    """Return a value as JSON on one line, shortened."""
    return shorten(canonical_json(value), _LONGEST)
