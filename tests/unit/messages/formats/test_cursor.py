"""A place in a text that moves over what is read, and the call that has been read."""

import re
from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.messages.formats.cursor import LOOK_BACK, Block, BrokenError, Cursor, MoreError, Tools, unique

_LETTERS = re.compile(r"[a-z]*+")


def _cursor(text: str, *, is_open: bool = False) -> Cursor:
    return Cursor(text, Tools(["known"]), is_open=is_open, base=10)


@for_each(
    ("text", "read", "answer", "pos"),
    [
        ("  a", lambda cur: cur.skip() is cur, True, 2),
        ("<a>", lambda cur: cur.at("<a>"), True, 0),
        ("<a>", lambda cur: cur.has("<a>"), True, 3),
        ("<b>", lambda cur: cur.has("<a>"), False, 0),
        ("<a>", lambda cur: cur.need("<a>"), None, 3),
        ("ab-", lambda cur: cur.take(_LETTERS), "ab", 2),
        ("ab-", lambda cur: cur.until("-"), "ab", 3),
        ("a-b- x", lambda cur: cur.until_before("-", ("x",)), "a-b", 5),
    ],
)
def test_the_place_moves_over_what_is_read(
    text: str, read: Callable[[Cursor], object], answer: object, pos: int
) -> None:
    """And over nothing else; the text before it is the block so far."""
    cur = _cursor(text)
    assert (read(cur), cur.pos, cur.piece) == (answer, pos, text[:pos])


@for_each(
    ("text", "read", "message"),
    [
        ("b", lambda cur: cur.need("a"), "`a` is missing"),
        ("b", lambda cur: cur.need("a", "no a"), "no a"),
        ("b", lambda cur: cur.until("a"), "`a` is missing"),
        ("b", lambda cur: cur.until("a", "no a"), "no a"),
        ("a y", lambda cur: cur.until_before("a", ("x",)), "`a` is missing"),
    ],
)
def test_what_is_missing_is_named(text: str, read: Callable[[Cursor], object], message: str) -> None:
    """In words of the format, or by the mark."""
    with pytest.raises(BrokenError, match=message):
        read(_cursor(text))


@for_each(
    "read",
    [
        lambda cur: cur.has("abcd"),
        lambda cur: cur.need("abcd"),
        lambda cur: cur.take(_LETTERS),
        lambda cur: cur.until("-"),
        lambda cur: cur.until_before("-", ("x",)),
    ],
)
def test_an_open_text_is_waited_for(read: Callable[[Cursor], object]) -> None:
    """More of it could change each of these answers."""
    with pytest.raises(MoreError):
        read(_cursor("abc", is_open=True))


def test_a_call_has_its_place_in_the_whole_text() -> None:
    """And says whether its tool is known."""
    cur = _cursor("").begin(1, 3)
    call = cur.call("known", {}, call_id="")
    assert (call.span, call.is_known, call.call_id, call.repaired) == ((11, 13), True, None, False)
    assert cur.call("other", {}).is_known is False
    assert cur.block("known", {}).calls == (call,)


def test_a_name_of_its_own_is_given_to_one_format() -> None:
    """Another one was asked for by its name."""
    cur = _cursor("")
    cur.format = "one"
    cur.rename("two", "three")
    assert cur.call("known", {}).format == "one"
    cur.rename("one", "three")
    assert cur.call("known", {}).format == "three"


@for_each("name", ["", " a", "a\n", "a\u200b", "a" * 257])
def test_an_odd_name_makes_no_call(name: str) -> None:
    """None that is empty, padded, invisible in part or endless."""
    with pytest.raises(BrokenError, match="name"):
        _cursor("").call(name, {})


@for_each("arguments", [None, [], "{}", 1])
def test_arguments_are_an_object(arguments: object) -> None:
    """Nothing else is piece for one."""
    with pytest.raises(BrokenError, match="JSON object"):
        _cursor("").call("a", arguments)


def test_a_block_ends_behind_its_closer() -> None:
    """Which may be missing where the text ends, or anywhere if it is not needed."""
    assert _cursor(" <b> c").close((), ("<a>", "<b>")) == Block(4)
    assert _cursor(" ").close((), ("<a>",)) == Block(1, note="`<a>` is missing at the end of the text")
    assert _cursor(" c").close((), ("<a>",), is_needed=False) == Block(0)
    with pytest.raises(BrokenError, match="`<a>` is missing"):
        _cursor(" c").close((), ("<a>",))


@for_each(
    "look",
    [
        lambda cur: cur.find("<end>", 0),
        lambda cur: cur.at("abcd", 0),
        lambda cur: cur.blank_end(3),
        lambda cur: cur.run(_LETTERS, 0),
        lambda cur: cur.is_end(3),
    ],
)
def test_an_open_text_is_not_judged_by_what_has_come(look: Callable[[Cursor], object]) -> None:
    """More of it could change each of these answers."""
    with pytest.raises(MoreError):
        look(_cursor("abc", is_open=True))


def test_a_whole_text_is_judged_by_what_it_is() -> None:
    """The same looks have an answer once nothing more comes."""
    cur = _cursor("abc")
    assert cur.find("<end>", 0) == -1
    assert (cur.at("abcd", 0), cur.blank_end(3), cur.run(_LETTERS, 0), cur.is_end(3)) == (
        False,
        3,
        3,
        True,
    )


def test_a_found_mark_is_found_again_from_another_place() -> None:
    """What is remembered of a search answers only for places it was about."""
    cur = _cursor("x-x-x")
    assert [cur.find("x", start) for start in (0, 1, 3, 0, 5)] == [0, 2, 4, 0, -1]


def test_a_mark_counts_with_its_follower() -> None:
    """A value may hold its own closing mark."""
    cur = _cursor("a</v>b</v> <next>")
    assert (cur.until_before("</v>", ("<next>",)), cur.pos) == ("a</v>b", 11)


def test_the_look_back_goes_on_before_the_text() -> None:
    """A stream forgets what it has parsed, but for so many characters."""
    cur = _cursor("abc")
    cur.prior = "x" * 100
    assert cur.before(3) == "x" * (LOOK_BACK - 3) + "abc"
    assert _cursor("y" * 100).before(100) == "y" * LOOK_BACK


def test_an_argument_that_comes_twice_is_refused() -> None:
    """Either could be meant."""
    assert unique([("a", 1), ("b", 2)], 0) == {"a": 1, "b": 2}
    with pytest.raises(BrokenError, match="`a` occurs twice"):
        unique([("a", 1), ("a", 1)], 0)
