"""The parts of a format: for which formats a mark counts, and marks that are dropped around others."""

import pytest
from tests.tables import for_each

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, wrapper
from permitry.messages.formats.scan import MoreError, Scan
from permitry.messages.formats.tools import Tools


def _nothing(*_: object) -> None:
    return None


@for_each(
    ("mark", "formats"),
    [
        (Mark("<a>", _nothing), {"auto", "one", "alias", "other"}),
        (Mark("<a>", _nothing, "one"), {"auto", "one"}),
        (Mark("<a>", _nothing, "one", ("alias",)), {"auto", "one", "alias"}),
    ],
)
def test_a_mark_serves_its_format(mark: Mark, formats: set[str]) -> None:
    """And its aliases; one without a format serves all, and each is looked for when none is given."""
    assert {each for each in ("auto", "one", "alias", "other") if mark.serves(each)} == formats


def test_a_wrapper_is_dropped_before_what_it_wraps() -> None:
    """With its closer, when that comes; around anything else it is text."""
    mark = wrapper("<all>", "</all>", ("<one>",), ("f", "g"))
    assert (mark.serves("f"), mark.serves("g"), mark.serves("h")) == (True, True, False)
    assert mark.read(Cursor(Scan("<all>\n <one>", Tools(None)), 0, 5)) == Block(5, closer="</all>")
    assert mark.read(Cursor(Scan("<all> two", Tools(None)), 0, 5)) is None


def test_a_wrapper_waits_for_what_follows() -> None:
    """While a stream goes on, the next mark may be half of one."""
    mark = wrapper("<all>", "</all>", ("<one>",), ("f",))
    with pytest.raises(MoreError):
        mark.read(Cursor(Scan("<all><on", Tools(None), is_open=True), 0, 5))
