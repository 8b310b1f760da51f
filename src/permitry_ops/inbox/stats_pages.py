"""The page of what is counted in the record."""

from collections import Counter
from collections.abc import Iterable, Mapping

from permitry.audit.stats import Stats
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.charts import Bar, bars
from permitry_ops.inbox.html import Html, element
from permitry_ops.inbox.pages import frame

__all__ = ["stats_page"]

_MOST = 15
_VERDICTS = ("allow", "confirm", "block")


def stats_page(stats: Stats, login: Login) -> str:
    """Return the charts of what was counted."""
    shares = ", ".join(f"{stats.verdicts[verdict]:,} {verdict}" for verdict in _VERDICTS)
    said = element("p", f"{stats.calls:,} decisions in {len(stats.sessions):,} sessions: {shares}.")
    hours = sorted(stats.questions.items())[-_MOST:]
    by_hour = _counts((f"{hour[:10]} {hour[11:]}h", number) for hour, number in hours)
    slow = sorted(stats.times.items(), key=lambda item: -item[1].longest)[:_MOST]
    return frame(
        "Statistics", said, _legend(),
        bars("Verdicts by tool", ("Tool", *_VERDICTS), _by_verdict(stats.tools)),
        bars("Verdicts by rule", ("Rule", *_VERDICTS), _by_verdict(stats.rules)),
        bars("Questions by hour (UTC)", ("Hour", "Questions"), by_hour),
        bars("Answers", ("Answer", "Calls"), _counts(stats.answers.most_common())),
        bars("How runs ended", ("Outcome", "Calls"), _counts(stats.outcomes.most_common(_MOST))),
        bars("Slowest tools, longest run", ("Tool", "Longest"),
             [Bar(tool, [("confirm", times.longest)], f"{times.longest:.3f} s") for tool, times in slow]),
        login=login, here="/stats",
    )  # fmt: skip


def _legend() -> Html:
    """Return what the colours of bars mean."""
    return element("p", *(element("span", f"■ {verdict} ", class_=verdict) for verdict in _VERDICTS))


def _by_verdict(counts: Mapping[tuple[str, str], int]) -> list[Bar]:
    """Return a bar for each of the most frequent names, with a part for each verdict."""
    totals: Counter[str] = Counter()
    for (name, _), number in counts.items():
        totals[name] += number
    return [
        Bar(name, [(verdict, counts.get((name, verdict), 0)) for verdict in _VERDICTS])
        for name, _ in totals.most_common(_MOST)
    ]


def _counts(counts: Iterable[tuple[str, int]]) -> list[Bar]:
    return [Bar(name, [("confirm", number)]) for name, number in counts]
