"""Choices in braces."""

import re

from tests.tables import for_each

from permitry.actions.braces import expand

_MOST = 64


@for_each(("text", "expected"))
def test_a_choice_is_each_of_its_texts(text: str, expected: list[str]) -> None:
    """What is not closed stays as it is."""
    assert expand(text, _MOST) == (expected, True)


@for_each("count", [_MOST, _MOST + 1, 10 * _MOST])
def test_too_many_are_not_all(count: int) -> None:
    """What is known of them is returned."""
    found, is_all = expand("{" + ",".join(map(str, range(count))) + "}", _MOST)
    assert is_all is (count == _MOST)
    assert found[:_MOST] == [str(number) for number in range(_MOST)]


@for_each("text", ["{a,b}" * 1000, "{a}" * 20_000, "{" * 50_000, "{" + "," * 100_000 + "}", "{a,{" * 9000])
def test_no_text_takes_long(text: str) -> None:
    """However many braces and commas there are."""
    found, _ = expand(text, _MOST)
    assert len(found) <= 2 * _MOST


def test_a_choice_may_be_written_otherwise() -> None:
    """As curl's ranges are."""
    find = re.compile(r"\[(\d)-(\d)\]")
    digits = [str(each) for each in range(1, 4)]
    assert expand("a[1-3]", _MOST, find, lambda _, most: digits[:most]) == (["a1", "a2", "a3"], True)
