"""The page of what is counted in the record, as tables with a bar in each row, drawn as SVG on the server."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import attrs

from permitry.cli.stats import Stats
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.pages import Html, element, frame

__all__ = ["Bar", "bars", "stats_page"]

_MOST = 15
_WIDTH = 100
_VERDICTS = ("allow", "confirm", "block")


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
    cells = [bar.text] if bar.text else [f"{number:,.0f}" for _, number in bar.parts]
    return element("tr", name, *(element("td", cell) for cell in cells))


def _picture(bar: Bar, longest: float) -> Html:
    drawn, at = list[Html](), 0.0
    for kind, number in bar.parts:
        width = _WIDTH * number / longest
        drawn.append(element("rect", x=f"{at:.1f}", y="0", width=f"{width:.1f}", height="1", class_=f"fill-{kind}"))
        at += width
    size = f"0 0 {_WIDTH} 1"
    return element("svg", *drawn, viewBox=size, preserveAspectRatio="none", aria_hidden="true", focusable="false")


def stats_page(stats: Stats, login: Login) -> str:
    """Return the charts of what was counted."""
    shares = ", ".join(f"{stats.verdicts[verdict]:,} {verdict}" for verdict in _VERDICTS)
    said = element("p", f"{stats.calls:,} decisions in {len(stats.sessions):,} sessions: {shares}.")
    hours = sorted(stats.questions.items())[-_MOST:]
    by_hour = _counts((f"{hour[:10]} {hour[11:]}h", number) for hour, number in hours)
    slow = sorted(stats.times.items(), key=lambda item: -item[1].longest)[:_MOST]
    return frame(
        "Statistics", said, element("p", *(element("span", f"■ {verdict} ", class_=verdict) for verdict in _VERDICTS)),
        bars("Verdicts by tool", ("Tool", *_VERDICTS), _by_verdict(stats.tools)),
        bars("Verdicts by rule", ("Rule", *_VERDICTS), _by_verdict(stats.rules)),
        bars("Questions by hour (UTC)", ("Hour", "Questions"), by_hour),
        bars("Answers", ("Answer", "Calls"), _counts(stats.answers.most_common())),
        bars("How runs ended", ("Outcome", "Calls"), _counts(stats.outcomes.most_common(_MOST))),
        bars("Slowest tools, longest run", ("Tool", "Longest"),
             [Bar(tool, [("confirm", times.longest)], f"{times.longest:.3f} s") for tool, times in slow]),
        login=login, here="/stats",
    )  # fmt: skip


def _by_verdict(counts: Mapping[tuple[str, str], int]) -> list[Bar]:
    totals: Counter[str] = Counter()
    for (name, _), number in counts.items():
        totals[name] += number
    return [
        Bar(name, [(verdict, counts.get((name, verdict), 0)) for verdict in _VERDICTS])
        for name, _ in totals.most_common(_MOST)
    ]


def _counts(counts: Iterable[tuple[str, int]]) -> list[Bar]:
    return [Bar(name, [("confirm", number)]) for name, number in counts]
