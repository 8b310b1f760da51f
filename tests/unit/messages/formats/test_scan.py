"""Looking at a text whose end may not have come: no answer is given that more text could change."""

import re
from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.core.json_values import MAX_DEPTH
from permitry.messages.formats.scan import LOOK_BACK, BrokenError, MoreError, Scan, depth_end, unique
from permitry.messages.formats.tools import Tools

_LETTERS = re.compile(r"[a-z]*+")


def _scan(text: str, *, is_open: bool = False, base: int = 0) -> Scan:
    return Scan(text, Tools(["known"]), is_open=is_open, base=base)


@for_each(
    "look",
    [
        lambda scan: scan.find("<end>", 0),
        lambda scan: scan.find_before("<end>", ("<next>",), 0),
        lambda scan: scan.search(re.compile("z"), 0),
        lambda scan: scan.at("abcd", 0),
        lambda scan: scan.skip(3),
        lambda scan: scan.run(_LETTERS, 0),
        lambda scan: scan.is_end(3),
    ],
)
def test_an_open_text_is_not_judged_by_what_has_come(look: Callable[[Scan], object]) -> None:
    """More of it could change each of these answers."""
    with pytest.raises(MoreError):
        look(_scan("abc", is_open=True))


def test_a_whole_text_is_judged_by_what_it_is() -> None:
    """The same looks have an answer once nothing more comes."""
    scan = _scan("abc")
    assert (scan.find("<end>", 0), scan.find_before("<end>", ("<next>",), 0)) == (-1, (-1, -1))
    assert (scan.at("abcd", 0), scan.skip(3), scan.run(_LETTERS, 0), scan.is_end(3)) == (
        False,
        3,
        3,
        True,
    )


def test_a_found_mark_is_found_again_from_another_place() -> None:
    """What is remembered of a search answers only for places it was about."""
    scan = _scan("x-x-x")
    assert [scan.find("x", start) for start in (0, 1, 3, 0, 5)] == [0, 2, 4, 0, -1]


def test_a_mark_counts_with_its_follower() -> None:
    """A value may hold its own closing mark."""
    assert _scan("a</v>b</v> <next>").find_before("</v>", ("<next>",), 0) == (6, 11)


def test_the_look_back_goes_on_before_the_text() -> None:
    """A stream forgets what it has parsed, but for so many characters."""
    scan = _scan("abc")
    scan.prior = "x" * 100
    assert scan.before(3) == "x" * (LOOK_BACK - 3) + "abc"
    assert _scan("y" * 100).before(100) == "y" * LOOK_BACK


def test_json_is_read_where_it_begins() -> None:
    """To its end, also when it is longer than one window."""
    long = '{"a": "' + "x" * 5_000 + '"}'
    assert _scan(f"?{long} more").try_json(1) == ({"a": "x" * 5_000}, len(long) + 1)


@for_each(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "9" * 1_201 + "}",
        "{",
        "{'a': 1}",
        '{"a" 1}',
    ],
)
def test_json_that_could_be_read_in_two_ways_is_refused(text: str) -> None:
    """Or that is cut, or is not JSON."""
    with pytest.raises(BrokenError):
        _scan(text).try_json(0)


def test_json_is_read_to_a_depth() -> None:
    """Deeper is refused at the bracket that goes too far, without recursion."""
    deep = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert _scan(deep).try_json(0)[1] == len(deep)
    for more in (1, 100_000):
        with pytest.raises(BrokenError, match="deeper") as raised:
            _scan("[" * (MAX_DEPTH + more) + "]" * (MAX_DEPTH + more)).try_json(0)
        assert raised.value.end == MAX_DEPTH + 1


def test_json_that_breaks_inside_a_string_ends_behind_its_closer() -> None:
    """What follows may be a part of the string; without a closer all of it may."""
    text = '{"a": "b"c</end>"}</end> rest'
    with pytest.raises(BrokenError) as closed:
        _scan(text).read_json(0, "</end>")
    with pytest.raises(BrokenError) as unclosed:
        _scan(text).read_json(0)
    assert closed.value.is_in_string
    assert (closed.value.end, unclosed.value.end) == (text.index(" rest"), len(text))


def test_an_argument_that_comes_twice_is_refused() -> None:
    """Either could be meant."""
    assert unique([("a", 1), ("b", 2)], 0) == {"a": 1, "b": 2}
    with pytest.raises(BrokenError, match="`a` occurs twice"):
        unique([("a", 1), ("a", 1)], 0)


@for_each(
    ("text", "end"),
    [
        ("[[[]]]", 3),
        ("[[]]", -1),
        ('["[[[", {"a": [1]}]', 15),
        (r'["\"[[[", []]', -1),
        ('["[[[', -1),
        ('["[[[\\', -1),
    ],
)
def test_depth_is_counted_outside_of_strings(text: str, end: int) -> None:
    """One that is not closed goes on to the end."""
    assert depth_end(text, len(text), most=2) == end
