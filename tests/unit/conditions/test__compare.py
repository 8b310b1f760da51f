"""Comparing JSON values in three ways: true, false, or why neither can be said."""

import operator

from tests.tables import for_each

from permitry.conditions._compare import (
    Truth,
    all_of,
    among,
    any_of,
    class_of,
    kind_of,
    negate,
    only_of,
    order_by,
    same,
)
from permitry.core.json_values import JsonValue


@for_each(("truths", "every", "some"))
def test_one_that_settles_it_outweighs_a_doubt(truths: list[Truth], every: Truth, some: Truth) -> None:
    """Otherwise the first doubt is the answer."""
    assert (all_of(truths), any_of(truths)) == (every, some)


def test_a_doubt_cannot_be_negated() -> None:
    """It stays one."""
    assert [negate(truth) for truth in (True, False, "why")] == [False, True, "why"]


@for_each(
    ("value", "kind", "compared_as"),
    [
        (True, "boolean", "boolean"),
        (1, "integer", "number"),
        (1.5, "number", "number"),
        ("1", "string", "string"),
        ((1,), "array", "array"),
        (None, "null", "null"),
        ({}, "object", "object"),
    ],
)
def test_a_value_has_a_kind(value: JsonValue, kind: str, compared_as: str) -> None:
    """Whole numbers are compared with others; true is not a number."""
    assert (kind_of(value), class_of(value)) == (kind, compared_as)


@for_each(
    ("value", "operand", "truth"),
    [
        (1, 1.0, True),
        (1, 2, False),
        ((1, "a"), (1, "a"), True),
        ((1,), (1, 2), False),
        ((1, 2), (2, "x"), False),
    ],
)
def test_values_of_one_class_are_compared(value: JsonValue, operand: JsonValue, truth: Truth) -> None:
    """Lists item by item; one that differs settles it."""
    assert same(value, operand) is truth


@for_each(("value", "operand"), [("1", 1), (True, 1), (None, 0), ((1,), 1), ((1,), ("1",))])
def test_values_of_two_classes_are_not_compared(value: JsonValue, operand: JsonValue) -> None:
    """Neither equal nor different: the answer says why, and has no order either."""
    assert "cannot be compared" in str(same(value, operand))
    assert isinstance(among(value, (operand,)), str)


def test_order_is_among_values_of_one_class() -> None:
    """A text is not less than a number."""
    less = order_by(operator.lt)
    assert (less(1, 2), less("a", "b"), less(2, 1.5)) == (True, True, False)
    assert less("1", 2) == "is a string, which has no order with an integer"


@for_each("value", [None, 5, ("a",), True])
def test_what_is_not_a_text_has_no_text_to_compare(value: JsonValue) -> None:
    """It does not count as one that does not fit."""
    assert str(only_of(str, "a string", str.startswith)(value, ("a",))).endswith(", not a string")


def test_a_text_fits_one_of_several() -> None:
    """Or none; no operands fit nothing."""
    begins = only_of(str, "a string", str.startswith)
    assert [begins("ab", texts) for texts in (("x", "a"), ("x",), ())] == [True, False, False]
