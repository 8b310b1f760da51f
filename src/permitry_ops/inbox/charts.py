"""A table of numbers with a bar in each row, drawn as SVG on the server."""

from collections.abc import Sequence

import attrs

from permitry_ops.inbox.html import Html, element

__all__ = ["Bar", "bars"]

_WIDTH = 100


@attrs.frozen
class Bar:
    """One row: its name, and its parts, each a kind and a number; `text` is shown in place of the numbers."""

    name: str
    parts: Sequence[tuple[str, float]]
    text: str = ""

    @property
    def total(self) -> float:
        """The sum of its parts."""
        return sum(number for _, number in self.parts)


def bars(title: str, columns: Sequence[str], found: Sequence[Bar]) -> Html:
    """Return a table with a bar below each name, which says the same as the numbers."""
    if not found:
        return element("section", element("h2", title), element("p", "none"))
    longest = max(bar.total for bar in found) or 1.0
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    rows = (_row(bar, longest) for bar in found)
    table = element("table", element("thead", head), element("tbody", *rows), class_="bars")
    return element("section", element("h2", title), table)


def _row(bar: Bar, longest: float) -> Html:
    name = element("th", bar.name, _picture(bar, longest), scope="row")
    return element("tr", name, *(element("td", cell) for cell in _cells(bar)))


def _picture(bar: Bar, longest: float) -> Html:
    drawn, at = list[Html](), 0.0
    for kind, number in bar.parts:
        width = _WIDTH * number / longest
        drawn.append(element("rect", x=f"{at:.1f}", y="0", width=f"{width:.1f}", height="1", class_=f"fill-{kind}"))
        at += width
    size = f"0 0 {_WIDTH} 1"
    return element("svg", *drawn, viewBox=size, preserveAspectRatio="none", aria_hidden="true", focusable="false")


def _cells(bar: Bar) -> Sequence[str]:
    return [bar.text] if bar.text else [f"{number:,.0f}" for _, number in bar.parts]
