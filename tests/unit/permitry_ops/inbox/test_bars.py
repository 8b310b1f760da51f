"""Bars."""

import re

from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.probes import PROBES

from permitry_ops.inbox.stats_pages import Bar, bars


def test_bars_are_as_long_as_their_numbers() -> None:
    """The longest takes the whole room; parts follow each other."""
    drawn = str(
        bars("t", ("n", "a", "b"), [Bar("x", [("allow", 3), ("block", 1)]), Bar("y", [("allow", 2), ("block", 0)])])
    )
    widths = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn)]
    assert widths == [75.0, 25.0, 50.0, 0.0]
    assert [float(x) for x in re.findall(r'<rect x="([\d.]+)"', drawn)] == [0.0, 75.0, 0.0, 50.0]


def test_the_table_has_the_same_numbers() -> None:
    """A screen reader reads it, and not the picture."""
    drawn = str(bars("Calls", ("Tool", "Calls"), [Bar("x", [("allow", 1234)])]))
    assert '<tr><th scope="row">x<svg ' in drawn
    assert "</svg></th><td>1,234</td></tr>" in drawn
    assert 'aria-hidden="true"' in drawn


def test_nothing_is_said_in_words() -> None:
    """Zeros are not divided by."""
    assert "<p>none</p>" in str(bars("t", ("n",), []))
    assert 'width="0.0"' in str(bars("t", ("n",), [Bar("x", [("allow", 0)])]))


@for_each("probe", PROBES)
def test_a_name_is_text(probe: str) -> None:
    """In the picture and in the table."""
    made, plain = (read(str(bars(text, (text,), [Bar(text, [("allow", 1)], text)]))).tags for text in (probe, "word"))
    assert made == plain
