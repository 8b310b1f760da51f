"""Strict JSON: what is refused, what is frozen, and the one text of a value."""

import collections
import datetime as dt
import decimal
import enum
import json
import math
from types import MappingProxyType
from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.json_values import (
    MAX_BYTES,
    MAX_DEPTH,
    canonical_json,
    canonical_text,
    freeze_bounded,
    freeze_object,
    mutable,
    parse_json,
)
from permitry.errors import CallError


class _Liar(str):
    """A string that is equal to everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class _Number(enum.IntEnum):
    ONE = 1


def _nested(depth: int, kind: type) -> object:
    """Return `depth` containers of one kind, one within the other."""
    value: object = kind()
    for _ in range(depth - 1):
        value = {"a": value} if kind is dict else [value]
    return value


# parse_json -------------------------------------------------------------------------------------------------------


def test_text_becomes_plain_values() -> None:
    """Sound JSON text gives what `json` gives."""
    assert parse_json('{"a": [1, 1.5, true, null, "é"]}') == {"a": [1, 1.5, True, None, "é"]}


def test_one_key_may_occur_in_two_objects() -> None:
    """A key is counted within one object only."""
    assert parse_json('{"a": {"a": 1}, "b": {"a": 2}}') == {"a": {"a": 1}, "b": {"a": 2}}


@for_each("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 0, "a": 2}}]', r'{"a": 1, "\u0061": 2}'])
def test_a_duplicate_key_is_refused_by_name(text: str) -> None:
    """A key that occurs twice in one object is refused at any depth, also when escaped."""
    with pytest.raises(CallError, match="the key `a` occurs twice in one object"):
        parse_json(text)


@for_each("word", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_refused(word: str) -> None:
    """The three words Python reads and JSON does not know are refused."""
    with pytest.raises(CallError, match=f"^{word} is not JSON$"):
        parse_json(f'{{"a": {word}}}')


@for_each("text", ["", "{", '{"a": 1,}', "{'a': 1}", '{"a": "\n"}', "[01]", "// no\n{}", "\ufeff{}"])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    """A syntax error is refused, and no dialect of JSON is read."""
    with pytest.raises(CallError, match=r"^not valid JSON: .* at column \d+$"):
        parse_json(text)


def test_a_syntax_error_says_where() -> None:
    """The column is counted from 1."""
    with pytest.raises(CallError, match=r"^not valid JSON: Extra data at column 4$"):
        parse_json("{} {}")


def test_text_nested_too_deep_for_python_is_refused() -> None:
    """A hundred thousand brackets are an error like any other, not a crash."""
    with pytest.raises(CallError, match="nested deeper than 64 levels"):
        parse_json("[" * 100_000 + "]" * 100_000)


def test_a_number_too_long_for_python_is_refused() -> None:
    """An integer of 5,000 digits is refused as a bad call."""
    with pytest.raises(CallError, match=r"^not valid JSON: "):
        parse_json(f"[{'9' * 5_000}]")


# freeze_object: what is refused -----------------------------------------------------------------------------------


@for_each(
    ("value", "kind"),
    [
        ([], "a list"),
        ("{}", "a string"),
        (1, "a number"),
        (1.5, "a number"),
        (None, "a `NoneType`"),
        (True, "a `bool`"),
        ({"a"}, "a `set`"),
        ((), "a `tuple`"),
    ],
)
def test_only_an_object_can_be_arguments(value: object, kind: str) -> None:
    """Anything but a mapping is refused, and the error says what came instead."""
    with pytest.raises(CallError, match=f"^arguments must be a JSON object, not {kind}$"):
        freeze_object(value)


@for_each(
    "value",
    [
        {1},
        frozenset(),
        b"bytes",
        bytearray(),
        object(),
        object,
        len,
        range(3),
        iter([1]),
        1j,
        decimal.Decimal(1),
        dt.date(2026, 1, 1),
        _Number.ONE,
        _Liar("x"),
        collections.deque([1]),
        {}.keys(),
        ...,
    ],
)
def test_a_value_json_cannot_hold_is_refused(value: object) -> None:
    """Everything but the plain types of JSON is refused, subclasses of them included, and the error names its place."""
    with pytest.raises(CallError, match=r"^`arguments\.a\[1\]\.b` is a `\w+`, which JSON cannot hold$"):
        freeze_object({"a": [0, {"b": value}]})


@for_each("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    """NaN and both infinities are refused wherever they stand."""
    with pytest.raises(CallError, match=r"^`arguments\.a\[0\]` is (nan|-?inf), which JSON cannot hold$"):
        freeze_object({"a": [number]})


@for_each("key", [1, None, True, 1.5, ("a",), b"a", _Liar("a"), _Number.ONE])
def test_a_key_that_is_no_plain_string_is_refused(key: object) -> None:
    """Keys are strings and nothing like strings."""
    with pytest.raises(CallError, match=r"^`arguments\.a` has a key that is .*; keys must be strings$"):
        freeze_object({"a": {key: 1}})


@for_each("value", [{"a": "\ud800"}, {"a": ["x\udfffx"]}, {"\udc00": 1}, {"a": {"é\ud83d": 1}}])
def test_half_a_surrogate_pair_is_refused(value: dict[str, object]) -> None:
    """Text that no encoding can carry is refused, in values and in keys."""
    with pytest.raises(CallError, match="holds half of a surrogate pair, which is not text"):
        freeze_object(value)


def test_text_beyond_the_first_plane_is_text() -> None:
    """A whole emoji is kept."""
    assert freeze_object({"😀": "😀 é \x00"}) == {"😀": "😀 é \x00"}


# freeze_object: depth and size ------------------------------------------------------------------------------------


@for_each("kind", [dict, list])
def test_the_deepest_level_is_kept(kind: type) -> None:
    """The arguments are the first of 64 levels; a scalar within is not a level."""
    frozen = freeze_object({"a": _nested(MAX_DEPTH - 1, kind)})
    assert mutable(frozen) == {"a": _nested(MAX_DEPTH - 1, kind)}


@for_each("kind", [dict, list])
def test_one_level_more_is_refused(kind: type) -> None:
    """The sixty-fifth level is refused."""
    with pytest.raises(CallError, match=r"is nested deeper than 64 levels$"):
        freeze_object({"a": _nested(MAX_DEPTH, kind)})


def test_a_value_within_itself_is_refused() -> None:
    """A cycle is nothing but great depth."""
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(CallError, match=r"is nested deeper than 64 levels$"):
        freeze_object({"a": cycle})


@for_each("leaf", ["x" * 9_999, ["x" * 9_999], {"x" * 9_999: None}])
def test_shared_references_cannot_explode(leaf: object) -> None:
    """A value that would unfold to more than a mebibyte is refused after a mebibyte."""
    bomb = leaf
    for _ in range(60):
        bomb = [bomb, bomb]
    with pytest.raises(CallError, match=f"the arguments are larger than {MAX_BYTES} bytes"):
        freeze_object({"a": bomb})


@for_each(("item", "size"), [([], 2), ({}, 2), (0, 1), (None, 1)])
def test_small_things_count_too(monkeypatch: pytest.MonkeyPatch, item: object, size: int) -> None:
    """Nothing is so small that any number of it is read."""
    monkeypatch.setattr("permitry.core.json_values.MAX_BYTES", 1_000)
    with pytest.raises(CallError, match="the arguments are larger than 1000 bytes"):
        freeze_object({"a": [item] * (1_000 // size)})


def test_a_shared_value_is_kept_in_both_places() -> None:
    """Sharing as such is not a fault."""
    shared = ["x"]
    assert mutable(freeze_object({"a": shared, "b": shared})) == {"a": ["x"], "b": ["x"]}


@for_each("value", [{"a": "x" * MAX_BYTES}, {"x" * MAX_BYTES: 1}])
def test_text_over_a_mebibyte_is_refused(value: dict[str, object]) -> None:
    """A string as long as the limit leaves no room for its quotes, as value and as key."""
    with pytest.raises(CallError, match=f"larger than {MAX_BYTES} bytes"):
        freeze_object(value)


@for_each("text", ["é" * 200_000, "\x00" * 200_000, "😀" * 100_000])
def test_text_that_is_too_large_once_escaped_is_refused(text: str) -> None:
    """What counts is the canonical text, as it is recorded."""
    with pytest.raises(CallError, match=f"larger than {MAX_BYTES} bytes"):
        ToolCall("tool", {"a": text})
    assert len(ToolCall("tool", {"a": text[:1_000]}).canonical) > 5_000


def test_a_mapping_of_another_kind_has_text_for_keys_too() -> None:
    """It is not copied as a whole, and may have no end."""
    with pytest.raises(CallError, match="keys must be strings"):
        freeze_object(collections.UserDict({1: 1}))


@for_each(
    "value",
    [
        {},
        {"": ""},
        {"a": [], "b": {}, "c": [[], {}, None]},
        {"é" * 9: "\x00" * 9, "😀": ["😀" * 9, 'é"\n']},
        {"n": [0, -7, 10**15, -(10**15), 10**40, -1.7976931348623157e308, 5e-324, True, False]},
        {"n": 9, "m": -(2**4_095), "o": -2.2250738585072014e-308},
    ],
)
def test_the_canonical_text_is_as_long_as_foreseen(value: dict[str, object]) -> None:
    """It takes at most the length that freezing returns, and at least what freezing counted."""
    frozen, longest = freeze_bounded(value)
    assert longest / 24 <= len(canonical_json(frozen)) <= longest


# freeze_object: what comes out ------------------------------------------------------------------------------------


def test_objects_become_read_only_and_lists_become_tuples() -> None:
    """Nothing that can be changed is left."""
    frozen: Any = freeze_object({"a": {"b": [1, [2]]}, "t": (1,)})
    assert isinstance(frozen, MappingProxyType)
    assert isinstance(frozen["a"], MappingProxyType)
    assert frozen["a"]["b"] == (1, (2,))
    assert frozen["t"] == (1,)


def test_any_mapping_is_read_once() -> None:
    """Other mappings count as objects, and are copied."""
    source = collections.UserDict({"a": collections.OrderedDict(b=1)})
    frozen = freeze_object(source)
    source["a"]["b"] = 2
    assert canonical_json(frozen) == '{"a":{"b":1}}'


def test_a_subclass_of_list_is_copied_to_a_tuple() -> None:
    """A list with ideas of its own leaves only its items behind."""

    class Odd(list[int]):
        def __len__(self) -> int:
            return 99

    assert freeze_object({"a": Odd([1])})["a"] == (1,)


# canonical_json and thaw ------------------------------------------------------------------------------------------


def test_the_canonical_text_has_sorted_keys_no_blanks_and_only_ascii() -> None:
    """One value, one text."""
    frozen = freeze_object({"b": [1, 1.0, True, None], "a": {"é": "\n/", "A": {}}, "": []})
    assert canonical_json(frozen) == r'{"":[],"a":{"A":{},"\u00e9":"\n/"},"b":[1,1.0,true,null]}'


def test_keys_sort_by_code_point() -> None:
    """The order of keys depends on no locale and on no insertion."""
    assert (
        canonical_json(freeze_object({"b": 1, "a": 1, "B": 1, "10": 1, "9": 1})) == '{"10":1,"9":1,"B":1,"a":1,"b":1}'
    )


def test_a_thawed_value_is_plain_and_fresh() -> None:
    """Thawing twice gives two copies of dicts and lists."""
    frozen = freeze_object({"a": [{"b": 1}]})
    first, second = mutable(frozen), mutable(frozen)
    first["a"][0]["b"] = 2
    assert type(first) is dict
    assert second == {"a": [{"b": 1}]}


@for_each(
    ("text", "place"), [('{"a": }', "column 7"), ('{\n"a": }', "line 2, column 6"), ("\n\n]", "line 3, column 1")]
)
def test_the_place_of_a_mistake_names_its_line(text: str, place: str) -> None:
    """In text of several lines a column alone would not be found."""
    with pytest.raises(CallError, match=rf"^not valid JSON: [A-Za-z' ]+ at {place}$"):
        parse_json(text)


# The encoder in C --------------------------------------------------------------------------------------------------

_VALUES = [
    {},
    {"b": 1, "a": [1.0, -0.0, 1e300, 5e-324, 10**40, True, None, {"z": {}, "y": ()}]},
    {"é": '"\\\n\x7f', "😀": "\x00", "": ""},
]


@for_each("value", _VALUES)
def test_the_text_is_that_of_the_json_module(value: dict[str, object]) -> None:
    """With the encoder in C, made once."""
    assert canonical_json(freeze_object(value)) == json.dumps(value, sort_keys=True, separators=(",", ":"))


@for_each("value", ["", "docs", 'é"\n'])
def test_a_text_alone_has_the_same_form(value: str) -> None:
    """As the digest of a call needs it."""
    assert canonical_text(value) == canonical_json(value)
