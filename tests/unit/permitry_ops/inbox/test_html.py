"""Elements: whatever goes in as text comes out as text."""

from pathlib import Path

from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.probes import PROBES

from permitry_ops.inbox import pages
from permitry_ops.inbox.pages import Html, element


def test_there_are_fifty_probes() -> None:
    """All of them different."""
    assert len(set(PROBES)) == 50


@for_each("probe", PROBES)
def test_a_text_makes_no_element(probe: str) -> None:
    """Neither as content nor as the value of an attribute."""
    document = read(str(element("p", probe, title=probe)))
    assert document.tags == [("p", ("title",))]
    assert document.text[0] == document.text[1]


def test_elements_within_elements_are_not_escaped_twice() -> None:
    """Only texts are escaped."""
    assert str(element("p", element("b", "a & b"), "<")) == "<p><b>a &amp; b</b>&lt;</p>"


def test_attributes_are_there_or_not() -> None:
    """True has no value; False and None are not there; hyphens are written as underscores."""
    made = element("input", type="text", required=True, disabled=False, value=None, aria_label="x", class_="y")
    assert str(made) == '<input type="text" required aria-label="x" class="y">'


def test_what_is_invisible_is_spelled_out() -> None:
    """Text that runs backwards, or has no width, would show another call."""
    assert str(element("p", "a\u202eb\u200bc\x00")) == "<p>a\\u202eb\\u200bc\\u0000</p>"


def test_html_is_made_by_elements_alone() -> None:
    """No file of the inbox makes it of a text."""
    folder = Path(pages.__file__).parent
    makers = [path.name for path in folder.glob("*.py") if f"{Html.__name__}(" in path.read_text(encoding="utf-8")]
    assert makers == ["pages.py"]
