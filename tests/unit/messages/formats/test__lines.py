"""Lines that are indented, quoted or in a list: the next one must have the same marks."""

from tests.tables import for_each

from permitry.messages.formats._lines import Lead, is_closed, lead_of, line_of, next_line
from permitry.messages.formats.scan import Scan
from permitry.messages.formats.tools import Tools


def _scan(text: str, base: int = 0) -> Scan:
    return Scan(text, Tools(None), base=base)


@for_each(
    ("line", "lead", "marks"),
    [
        ("x", "", ""),
        ("  x", "  ", ""),
        ("> > x", "> > ", ">>"),
        ("- x", "- ", "-"),
        ("> 12. x", "> 12. ", ">0."),
    ],
)
def test_a_lead_is_what_comes_before_the_first_word(line: str, lead: str, marks: str) -> None:
    """Also when other lines come before it."""
    for text in (line, f"some\n{line}"):
        found = lead_of(_scan(text), text.index("x"))
        assert found == Lead(lead)
        assert found.marks == marks


@for_each("line", ["word x", "-x", "- - x", "1234. x"])
def test_a_word_before_is_more_than_a_lead(line: str) -> None:
    """Then what follows is in the middle of a sentence."""
    assert lead_of(_scan(line), line.rindex("x")) is None


def test_a_line_that_began_too_far_back_has_no_lead() -> None:
    """A stream does not know any more what came before."""
    assert lead_of(_scan("x", base=5), 0) is None


@for_each(
    ("text", "is_found"),
    [("\n> x", True), (" x", False), ("\nx", False), ("\n- x", False), ("\n> - x", False)],
)
def test_a_quotation_goes_on_in_quoted_lines(text: str, *, is_found: bool) -> None:
    """Not in a line without its mark, or with more of them."""
    assert next_line(_scan(text), 0, Lead("> ")) == (text.index("x") if is_found else None)


def test_an_item_goes_on_without_its_mark() -> None:
    """It may be indented only."""
    assert next_line(_scan("\n  x"), 0, Lead("- ")) == 3
    assert next_line(_scan("\n> x"), 0, Lead("- ")) is None


def test_without_marks_any_line_is_the_next_one() -> None:
    """There is nothing to compare."""
    assert next_line(_scan("\n\n  > x"), 0, Lead("  ")) == 4


@for_each(("text", "closed"), [("", True), (" \n", True), ("\n> y", True), ("\ny", False)])
def test_a_quotation_is_closed_by_its_last_line(text: str, *, closed: bool) -> None:
    """Or by the end of the text."""
    assert is_closed(_scan(text), 0, Lead("> ")) is closed


def test_a_word_is_looked_for_at_the_begin_of_a_line() -> None:
    """Behind any lead, and its letters stand for themselves."""
    pattern = line_of("Action:", "End.")
    found = pattern.search("End.\n> 1. End.")
    assert found is not None
    assert (found.start(), found[1]) == (4, "End.")
    assert pattern.search("\nword Action:\nEndX") is None
