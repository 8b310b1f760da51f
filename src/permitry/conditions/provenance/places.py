"""In which places a value was seen, for explanations."""

from collections.abc import Iterable, Sequence

from permitry.conditions.provenance.normal_form import normal
from permitry.conditions.provenance.provenance import Provenance
from permitry.core.json_values import JsonValue, canonical_json
from permitry.core.origin import Origin
from permitry.core.texts import shorten

__all__ = ["origin_of", "show_value"]

_LONGEST = 60
_MOST_PLACES = 8
_MOST_NUMBERS = 3


def origin_of(argument: str, value: JsonValue, known: Provenance, lists: Iterable[str] = ()) -> Origin:
    """Return where a value was seen; `lists` are the names of the lists that it is in."""
    form = normal(value)
    places = {} if form is None else known.places(form)
    found = [f"the list `{name}`" for name in lists]
    found += [f"{tool} {_list_numbers(numbers)}{what}" for (tool, what), numbers in places.items()]
    left = len(found) - _MOST_PLACES
    more = [f"{left} more places"] if left > 0 else []
    is_said = known.is_said(form) if known.texts else None
    return Origin(argument, show_value(value), (*found[:_MOST_PLACES], *more), is_said)


def _list_numbers(numbers: Sequence[int]) -> str:
    """Return the numbers of results, of many the first ones and how many more there are."""
    few = ", ".join(f"#{number}" for number in numbers[:_MOST_NUMBERS])
    return f"{few} and {len(numbers) - _MOST_NUMBERS} more" if len(numbers) > _MOST_NUMBERS else few


def show_value(value: JsonValue) -> str:
    """Return a value as JSON on one line, shortened."""
    return shorten(canonical_json(value), _LONGEST)
