"""The parts of a format: for which formats a mark counts, and marks that are dropped around others."""

import pytest
from tests.tables import for_each

from permitry.messages.formats.cursor import Block, BrokenError, Cursor, MoreError, Reader
from permitry.messages.formats.marks import (
    Mark,
    _close_thinking,
    _foreign_bar,
    _html_tag,
    frame,
    wrapper,
)


def _nothing(*_: object) -> None:
    return None


@for_each(
    ("mark", "formats"),
    [
        (Mark("<a>", _nothing), {"auto", "one", "alias", "other"}),
        (Mark("<a>", _nothing, "one"), {"auto", "one"}),
        (Mark("<a>", _nothing, "one alias"), {"auto", "one", "alias"}),
    ],
)
def test_a_mark_serves_its_format(mark: Mark, formats: set[str]) -> None:
    """And its aliases; one without a format serves all, and each is looked for when none is given."""
    assert {each for each in ("auto", "one", "alias", "other") if mark.serves(each)} == formats


def test_a_wrapper_is_dropped_before_what_it_wraps() -> None:
    """With its closer, when that comes; around anything else it is text."""
    mark = wrapper("<all>", "</all>", "f g", "<one>")
    assert (mark.serves("f"), mark.serves("g"), mark.serves("h")) == (True, True, False)
    assert mark.read(Cursor("<all>\n <one>").begin(0, 5)) == Block(5, closer="</all>")
    assert mark.read(Cursor("<all> two").begin(0, 5)) is None


def test_a_wrapper_waits_for_what_follows() -> None:
    """While a stream goes on, the next mark may be half of one."""
    mark = wrapper("<all>", "</all>", "f", "<one>")
    with pytest.raises(MoreError):
        mark.read(Cursor("<all><on", is_open=True).begin(0, 5))


def test_a_mark_counts_only_in_its_place() -> None:
    """Where its pattern fits, or where the text begins, which a stream has forgotten later."""
    fitting = Mark("a", _nothing, pattern="a(?=b)")
    first = Mark("a", _nothing, is_first=True)
    for text, base, found in (("ab", 0, (True, True)), ("ac", 0, (False, True)), ("ab", 5, (True, False))):
        scan = Cursor(text, base=base)
        assert (fitting.is_at(scan, 0), first.is_at(scan, 0)) == found
    assert list(first.patterns()) == [(r"a(?<=\Aa)", "a")]
    assert list(Mark("<", _nothing, closer=">").patterns()) == [("<", "<"), (">", ">")]


def test_the_plainest_readers() -> None:
    """A frame ends with its mark; thinking and tags must be closed, and a bar be one that models have."""

    def read(reader: Reader, rest: str) -> Block | None:
        return reader(Cursor(f"<x{rest}").begin(0, 2))

    assert read(frame(is_shown=True, ends="x"), ">") == Block(2, content="<x", ends="x")
    assert read(frame(), ">") == Block(2)
    assert read(_close_thinking("</x>"), "</x>") == Block(2, until=("</x>",), is_thinking=True)
    assert read(_close_thinking("</x>"), ">") is None
    assert read(_html_tag("</x>"), " a>") == Block(5, content="<x a>", quotes="</x>")
    assert read(_html_tag("</x>"), "y>") is read(_html_tag("</x>"), " a") is None
    assert read(_foreign_bar(r"\w*+", "call"), "other") is None
    with pytest.raises(BrokenError, match="bars"):
        read(_foreign_bar(r"\w*+", "call"), "call")
