"""In which places a value was seen."""

from typing import Any

from tests.tables import for_each

from permitry.conditions.provenance.places import origin_of
from permitry.conditions.provenance.provenance import Provenance

_KNOWN = Provenance.of(
    ["Pay 50 to AT11."],
    [
        ("look", {"who": "AT33", "deep": {"id": "n1"}}, {"iban": "AT11", "to": "AT33", "all": [{"by": "DE22"}]}),
        ("page", {}, "Send it to DE22, or to ann lee."),
        ("page", {}, {"body": "Dear Ann Lee,\nuse `DE22`.", "title": "for Ann-Lee", "odd`, and": "DE44"}),
    ],
)


@for_each(
    ("value", "is_said", "places"),
    [
        ("AT11", True, ["look #1, field `iban`"]),
        ("DE22", False, ["look #1, field `all.by`", "page #2", "page #3, field `body`"]),
        ("Ann Lee", False, ["page #2", "page #3, field `body`"]),
        ("AT33", False, ["look #1, field `to`, which it was given", "look #1, argument `who`"]),
        ("n1", False, ["look #1, argument `deep.id`"]),
        ("DE44", False, ['page #3, field "odd`, and"']),
        (50, True, []),
        (51, False, []),
        (None, False, []),
        (["AT11"], False, []),
    ],
)
def test_every_place_is_found(value: Any, places: list[str], *, is_said: bool) -> None:  # noqa: ANN401 -- JSON
    """In fields, within texts, in arguments; the name of a field cannot read like a phrase of ours."""
    origin = origin_of("to", value, _KNOWN)
    assert (list(origin.places), origin.is_said) == (places, is_said)


def test_many_places_are_cut() -> None:
    """Those of one field are one place; and a long value is cut."""
    known = Provenance.of([], [("look", {}, {"iban": "x" * 100, f"f{number}": "x" * 100}) for number in range(12)])
    origin = origin_of("to", "x" * 100, known, ["ours"])
    assert origin.places[:3] == ("the list `ours`", "look #1, #2, #3 and 9 more, field `iban`", "look #1, field `f0`")
    assert origin.places[-2:] == ("look #6, field `f5`", "6 more places")
    assert len(origin.value) < 90
