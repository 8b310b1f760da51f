"""Drawings of what was counted. Needs the extra `replay`."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from permitry.cli.stats import Stats
from permitry.errors import PermitryError
from permitry.extras import missing
from permitry_ops.replay.tally import Tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot", "plot_stats"]

_MOST = 20
_MOST_HOURS = 168
_COLOURS = {"allow": "#2e7d32", "confirm": "#f9a825", "block": "#c62828"}
_GREY = "#455a64"


def plot(tally: Tally, path: Path) -> None:
    """Draw the verdicts of the most frequent tools. Raises: `PermitryError` if it cannot be."""
    figure = _figure(8, 1 + 0.35 * min(_MOST, len(_totals(tally.tools))))
    _draw_bars(figure.add_subplot(), tally.tools)
    _save(figure, path)


def plot_stats(stats: Stats, unused: Iterable[str], path: Path) -> None:
    """Draw what was counted, and the `unused` rules, which decided nothing. Raises: as `plot`."""
    figure = _figure(14, 10)
    tools, rules, hours, times = figure.subplots(2, 2).flat
    _draw_bars(tools, stats.tools, "verdicts by tool")
    # As many names as can be read.
    none = [*unused]
    shown = none[: max(1, _MOST - len(_totals(stats.rules)))]
    more = [f"... and {len(none) - len(shown)} more"] if shown != none else []
    _draw_bars(rules, stats.rules, "verdicts by rule; none by those at the end", [*shown, *more])
    recent = sorted(stats.questions.items())[-_MOST_HOURS:]
    hours.bar(range(len(recent)), [count for _, count in recent], color=_GREY)
    step = 1 + len(recent) // _MOST
    hours.set_xticks(range(0, len(recent), step), [f"{hour.replace('T', ' ')}h" for hour, _ in recent[::step]])
    hours.tick_params("x", rotation=90)
    hours.set_title("questions by hour (UTC)")
    slow = sorted(stats.times.items(), key=lambda item: (-item[1].longest, item[0]))[:_MOST]
    times.barh([_plain(tool) for tool, _ in slow], [each.longest for _, each in slow], color=_GREY)
    times.set_title("slowest tools: the longest run, in seconds")
    times.invert_yaxis()
    _save(figure, path)


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise PermitryError(missing("matplotlib", "replay")) from error
    return Figure(figsize=(width, height), layout="constrained")


def _totals(counts: Counter[tuple[str, str]]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for (name, _), count in counts.items():
        totals[name] += count
    return totals


def _draw_bars(axes: "Axes", counts: Counter[tuple[str, str]], title: str = "", none: Iterable[str] = ()) -> None:
    """Draw a bar for each of the most frequent names, by verdict, and an empty one for those that have `none`."""
    totals = _totals(counts)
    names = [*sorted(totals, key=lambda name: (-totals[name], name))[:_MOST], *none]
    left = [0] * len(names)
    for verdict, colour in _COLOURS.items():
        part = [counts[name, verdict] for name in names]
        axes.barh([_plain(name) for name in names], part, left=left, color=colour, label=verdict)
        left = [sum(pair) for pair in zip(left, part, strict=True)]
    axes.invert_yaxis()
    axes.set_title(title)
    axes.set_xlabel("calls")
    axes.legend()


def _plain(name: str) -> str:
    """Return a name in which nothing is a formula."""
    return name.replace("$", r"\$")


def _save(figure: "Figure", path: Path) -> None:
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise PermitryError(f"cannot write the plot `{path}`: {error}") from error
