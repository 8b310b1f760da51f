"""A place in a text that moves over what is read, and the call that has been read."""

import re
from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.scan import BrokenError, MoreError, Scan
from permitry.messages.formats.tools import Tools

_LETTERS = re.compile(r"[a-z]*+")


def _cursor(text: str, *, is_open: bool = False) -> Cursor:
    return Cursor(Scan(text, Tools(["known"]), is_open=is_open, base=10), 0, 0)


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
    assert (read(cur), cur.pos, cur.text) == (answer, pos, text[:pos])


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
    cur = Cursor(_cursor("").scan, 1, 3)
    call = cur.call("known", {}, call_id="")
    assert (call.span, call.is_known, call.call_id, call.repaired) == ((11, 13), True, None, False)
    assert cur.call("other", {}).is_known is False
    assert cur.block("known", {}).calls == (call,)


def test_a_name_of_its_own_is_given_to_one_format() -> None:
    """Another one was asked for by its name."""
    cur = _cursor("")
    cur.scan.format = "one"
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
    """Nothing else is taken for one."""
    with pytest.raises(BrokenError, match="JSON object"):
        _cursor("").call("a", arguments)


def test_a_block_ends_behind_its_closer() -> None:
    """Which may be missing where the text ends, or anywhere if it is not needed."""
    assert _cursor(" <b> c").close((), ("<a>", "<b>")) == Block(4)
    assert _cursor(" ").close((), ("<a>",)) == Block(1, note="`<a>` is missing at the end of the text")
    assert _cursor(" c").close((), ("<a>",), is_needed=False) == Block(0)
    with pytest.raises(BrokenError, match="`<a>` is missing"):
        _cursor(" c").close((), ("<a>",))
