"""Bars, drawn as SVG on the server, and the table of the same numbers."""

from collections.abc import Sequence

import attrs

from permitry.core.texts import shorten
from permitry_ops.inbox.html import Html, element

__all__ = ["Bar", "bars"]

_WIDTH, _LABEL, _ROW, _THICK, _ENDS = 640, 200, 26, 18, 70
_LONGEST = 28


@attrs.frozen
class Bar:
    """One bar: its name, and its parts, each a kind and a number; `text` is what is written behind it."""

    name: str
    parts: Sequence[tuple[str, float]]
    text: str = ""

    @property
    def total(self) -> float:
        """The sum of its parts."""
        return sum(number for _, number in self.parts)


def bars(title: str, columns: Sequence[str], found: Sequence[Bar]) -> Html:
    """Return a picture of bars; who cannot see it has the table, which says the same."""
    if not found:
        return element("section", element("h2", title), element("p", "none"))
    longest = max(bar.total for bar in found) or 1.0
    height = str(_ROW * len(found))
    rows = [each for at, bar in enumerate(found) for each in _drawn(bar, at * _ROW, longest)]
    picture = element("svg", *rows, viewBox=f"0 0 {_WIDTH} {height}", aria_hidden="true", focusable="false")
    summary = element("summary", f"{title}, as a table")
    return element("section", element("h2", title), picture, element("details", summary, _table(title, columns, found)))


def _drawn(bar: Bar, top: int, longest: float) -> list[Html]:
    baseline = str(top + _THICK - 5)
    drawn = [element("text", shorten(bar.name, _LONGEST), x="0", y=baseline)]
    at, room = float(_LABEL), _WIDTH - _LABEL - _ENDS
    for kind, number in bar.parts:
        width = room * number / longest
        drawn.append(
            element("rect", x=f"{at:.1f}", y=str(top), width=f"{width:.1f}", height=str(_THICK), class_=f"fill-{kind}")
        )
        at += width
    return [*drawn, element("text", bar.text or f"{bar.total:,.0f}", x=f"{at + 6:.1f}", y=baseline)]


def _table(title: str, columns: Sequence[str], found: Sequence[Bar]) -> Html:
    head = element("tr", *(element("th", name, scope="col") for name in columns))
    rows = (
        element("tr", element("th", bar.name, scope="row"), *(element("td", cell) for cell in _cells(bar)))
        for bar in found
    )
    return element("table", element("caption", title), element("thead", head), element("tbody", *rows))


def _cells(bar: Bar) -> Sequence[str]:
    return [bar.text] if bar.text else [f"{number:,.0f}" for _, number in bar.parts]
