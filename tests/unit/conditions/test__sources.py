"""The operators `from`, `not_from` and `words` of `when.args`."""

from typing import Any

import pytest
from tests.matching import matches
from tests.tables import for_each

from permitry.conditions._sources import (
    Source,
    SourceCondition,
    find_trusted,
    origin_of,
    source_condition,
    source_of,
)
from permitry.conditions.args import LinkReader, argument_conditions
from permitry.conditions.listed import ListedValues
from permitry.conditions.match import Match
from permitry.conditions.provenance.normal_form import normal
from permitry.conditions.provenance.provenance import Provenance
from permitry.config.conditions import host_pattern
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.errors import RuleError, UnevaluableError

_KNOWN = Provenance.of(
    ["Send 50 to AT11, for the Summer Rent."],
    [
        (
            "look",
            {"who": "Summer", "page": 50},
            {"iban": "DE22", "items": [{"to": "FR33", "for": "rent"}, {"to": "FR44", "for": "x"}]},
        ),
        ("look", {}, {"iban": "DE33"}),
        ("look", {"who": "Summer", "id": 666}, {"iban": "DE44"}),
        ("mcp:evil/look", {}, {"iban": "XX99"}),
        ("make", {"id": "n1", "tags": ["n2"]}, "made it n3"),
    ],
)

_NO_LINKS = LinkReader(lambda _: (), host_pattern)


def _request(value: object, known: Provenance = _KNOWN, more: dict[str, object] | None = None) -> Request:
    return Request(ToolCall("pay", {"to": value, **(more or {})}), AuthContext(provenance=known))


def _condition(*sources: object, name: str = "from", optional: object = None) -> SourceCondition:
    return source_condition(("to",), name, list(sources), optional=optional)


@for_each(
    ("source", "value", "holds"),
    [
        ("user", "AT11", True),
        ("user", "at11", False),
        ("user", "AT1", False),
        ("user", 50, True),
        ("user", "DE22", False),
        ("user", ["AT11", 50], True),
        ("user", ["AT11", "FR44"], False),
        (ListedValues.of("ours", ("AT77", 5)), "AT77", True),
        (ListedValues.of("ours", ("AT77", 5)), "AT78", False),
        ("look#iban", "DE22", True),
        ("look#iban", "FR33", False),
        ("look#iban", "XX99", False),
        ("mcp:evil/look#iban", "XX99", True),
        ("look#items.to", "FR44", True),
        ("look#items.to@for", "FR33", True),
        ("look#items.to@for", "FR44", False),
        ("look#items.to@who", "FR33", False),
        ("named:look#iban", "DE22", True),
        ("named:look#iban", "DE33", False),
        ("named:look#iban", "DE44", False),
        ("named:look", "DE22", True),
        ("named:look", "DE33", False),
        ("named:make", "n3", False),
        ("call:make#id", "n1", True),
        ("call:make#tags", "n2", True),
        ("call:make#id", "n2", False),
        ("make#id", "n1", False),
        (find_trusted("look", ["iban"])[0], "DE22", True),
        (find_trusted("look", ["iban"])[0], "FR33", False),
        (find_trusted("look", ["*"])[0], "FR33", True),
        (find_trusted("make", ["*"])[0], "n3", True),
        (find_trusted("make", ["*"])[0], "n1", False),
    ],
)
def test_a_value_comes_from_a_source(source: object, value: object, *, holds: bool) -> None:
    """Each element of a list has to."""
    assert matches(_condition(source), _request(value)) is holds
    assert matches(_condition(source, name="not_from"), _request(value), Match.ALIKE) is not holds


def test_one_source_is_enough() -> None:
    """For each element another one may be."""
    condition = _condition("user", "look#iban")
    assert matches(condition, _request(["AT11", "DE22"]))


def test_where_a_value_may_come_from_is_not_known() -> None:
    """A restriction cannot count on `from`, nor a permission on `not_from`."""
    assert matches(_condition("user"), _request("FR44"), Match.ALIKE)
    assert not matches(_condition("user", name="not_from"), _request("FR44"))


@for_each("value", [None, "", [], [""], True, {"a": "AT11"}, ["AT11", None], [["AT11"]]])
def test_some_values_come_from_nowhere(value: object) -> None:
    """There is no answer, which law 2 makes a question."""
    with pytest.raises(UnevaluableError):
        matches(_condition("user"), _request(value))


def test_the_argument_may_be_in_an_object() -> None:
    """Or the object may be missing."""
    condition = source_condition(("a", "b"), "from", ["user"])
    assert matches(condition, _request("x", more={"a": {"b": "AT11"}}))
    lacking: list[dict[str, object]] = [{"a": "AT11"}, {"a": {}}, {}]
    for more in lacking:
        with pytest.raises(UnevaluableError):
            matches(condition, _request("x", more=more))


@for_each("value", [None, "", []])
def test_an_optional_argument_may_be_left_out(value: object) -> None:
    """Then it comes from wherever the rule wants."""
    assert matches(_condition("user", optional=True), _request(value))
    assert not matches(_condition("user", name="not_from", optional=True), _request(value), Match.ALIKE)


@for_each("source", ["user", "look#items.to@for", "named:look#iban", "named:look"])
def test_a_user_who_is_not_heard_is_no_answer(source: str) -> None:
    """The host may have no way to pass on what the user wrote."""
    silent = Provenance.of([], [("look", {"who": "x"}, {"iban": "DE22", "items": [{"to": "FR33", "for": "x"}]})])
    with pytest.raises(UnevaluableError, match="no message of the user is known"):
        matches(_condition(source), _request("DE22", silent))
    assert matches(_condition(source, "look#iban"), _request("DE22", silent))
    assert not matches(_condition("look#iban"), _request("DE23", silent))


@for_each(("value", "share", "holds"))
def test_words_of_the_user(value: str, share: float, *, holds: bool) -> None:
    """So many of the words have to be in the messages."""
    assert matches(source_condition(("to",), "words", share), _request(value)) is holds


def test_words_are_those_of_texts() -> None:
    """A number has none; without messages there is no answer."""
    condition = source_condition(("to",), "words", 0.5)
    assert not matches(condition, _request(50))
    assert not matches(condition, _request([50, "50"]))
    with pytest.raises(UnevaluableError):
        matches(condition, _request("x", Provenance()))


def test_near_misses_say_where_values_come_from() -> None:
    """And what the rule asks for."""
    condition = _condition(
        "user", "look#items.to", "call:make#id", ListedValues.of("ours", ("AT11",)), *find_trusted("make", "*")
    )
    assert condition.expected == "from user or look#items.to or call:make#id or list:ours or make"
    assert condition.fact(_request(["AT11", "FR33", "n1", "n3", "no"])) == (
        'args.to: "AT11" is in the user\'s messages and the list `ours`, "FR33" is in look #1, field `items.to`, '
        '"n1" is in make #5, argument `id`, "n3" is in make #5, "no" is in none of its sources'
    )
    assert _condition("user", name="not_from").expected == "not from user"
    words = source_condition(("to",), "words", 0.5)
    assert words.expected == "50% of its words in the user's messages"
    assert words.fact(_request("rent")) == 'args.to: "rent" is in the words of the user'
    assert words.fact(_request("x" * 100)).endswith('xx" (102 characters) is in none of its sources')
    assert "missing" in words.fact(_request(None))
    assert "missing" in _condition("user").fact(_request(None))


def test_it_says_where_values_were_seen() -> None:
    """Also outside of its sources, and of a value that comes from one of them."""
    condition = _condition("look#iban", ListedValues.of("ours", ("AT11",)))
    origins = list(condition.origins(_request(["AT11", "n3", None])))
    assert [(each.argument, each.value, each.is_said) for each in origins] == [
        ("to", '"AT11"', True),
        ("to", '"n3"', False),
        ("to", "null", False),
    ]
    assert [each.places for each in origins] == [("the list `ours`",), ("make #5",), ()]
    assert len(list(condition.origins(_request(["AT11"] * 100)))) == 10
    assert list(condition.origins(_request(None))) == []
    assert list(source_condition(("to", "id"), "from", ["user"]).origins(_request("AT11"))) == []


def test_it_says_how_many_words_the_user_wrote() -> None:
    """Of texts: a number has none."""
    condition = source_condition(("to",), "words", 0.5)
    text, number = condition.origins(_request(["Summer rent 2026", 50]))
    assert (text.words, number.words) == ((2, 3), None)


@for_each(("name", "operand", "message"))
def test_what_is_not_a_source_is_an_error(name: str, operand: object, message: str) -> None:
    """With the way out."""
    with pytest.raises(RuleError, match=message):
        source_condition(("to",), name, operand)
    with pytest.raises(RuleError, match="`optional` is true"):
        source_condition(("to",), "from", ["user"], optional=False)


def test_sources_stay_what_they_are() -> None:
    """The loader puts them where a tool is named without a field."""
    (source,) = find_trusted("look", ["a.b"])
    assert source_of(source) == [source]
    assert source.path == ("a", "b")


@for_each(
    ("raw", "kinds"),
    [
        ({"from": ["user"]}, ["SourceCondition"]),
        ({"from": ["user"], "optional": True}, ["SourceCondition"]),
        ({"from": ["user"], "le": 5}, ["SourceCondition", "ArgumentCondition"]),
        (
            {"from": ["user"], "words": 0.5, "prefix": "x", "optional": True},
            ["SourceCondition"] * 2 + ["ArgumentCondition"],
        ),
        ({"links": {"host": ["x.com"]}, "from": ["user"]}, ["SourceCondition", "LinkCondition"]),
        ({"links": {"from": ["user"]}, "length": {"le": 5}}, ["LinkCondition", "ArgumentCondition"]),
        ({"le": 5}, ["ArgumentCondition"]),
        (5, ["ArgumentCondition"]),
    ],
)
def test_they_stand_next_to_other_operators(raw: Any, kinds: list[str]) -> None:  # noqa: ANN401 -- as in a file
    """Each becomes a condition of its own."""
    assert [type(each).__name__ for each in argument_conditions(("to",), raw, _NO_LINKS)] == kinds


_SEEN = Provenance.of(
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
    origin = origin_of("to", value, _SEEN)
    assert (list(origin.places), origin.is_said) == (places, is_said)


def test_many_places_are_cut() -> None:
    """Those of one field are one place; and a long value is cut."""
    known = Provenance.of([], [("look", {}, {"iban": "x" * 100, f"f{number}": "x" * 100}) for number in range(12)])
    origin = origin_of(
        "to", "x" * 100, known, [Source("list:ours", "list", values=frozenset({str(normal("x" * 100))}))]
    )
    assert origin.places[:3] == ("the list `ours`", "look #1, #2, #3 and 9 more, field `iban`", "look #1, field `f0`")
    assert origin.places[-2:] == ("look #6, field `f5`", "6 more places")
    assert len(origin.value) < 90
