"""The pictures: what a decision costs against the number of rules, and what a long session weighs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
from tests.bench.peers.engine import module
from tests.bench.report import tell

__all__ = ["DRAWINGS", "Drawing", "plot"]


@attrs.frozen
class Drawing:
    """A picture of a series: its file, what it shows, and its axes."""

    file: str
    caption: str
    x: str
    y: str
    is_logarithmic: bool = True


DRAWINGS = {
    "decisions": Drawing(
        "benchmarks.svg",
        "What a decision costs against the number of rules",
        "rules",
        "µs for a decision (median, mixed calls)",
    ),
    "growth": Drawing(
        "benchmarks-growth.svg",
        "What a process weighs against the number of calls it has handled",
        "calls handled",
        "MiB (resident)",
        is_logarithmic=False,
    ),
}


def plot(drawing: Drawing, series: Mapping[str, Sequence[tuple[int, float]]], folder: Path) -> bool:
    """Draw every series into an SVG file; return whether there is one now."""
    path = folder / drawing.file
    try:
        matplotlib, pyplot = module("matplotlib"), module("matplotlib.pyplot")
    except ModuleNotFoundError:
        tell("matplotlib is not installed: no new plot")
        return path.exists()
    matplotlib.use("svg")
    # The same figures give the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "permitry", "svg.fonttype": "none"})
    figure, axes = pyplot.subplots(figsize=(8, 5 if drawing.is_logarithmic else 3), layout="constrained")
    for name, points in series.items():
        counts, values = [count for count, _ in points], [value for _, value in points]
        size, width = (4, 3 if name == "permitry" else 1.5) if drawing.is_logarithmic else (0, 2)
        axes.plot(counts, values, marker="o", markersize=size, linewidth=width, label=name)
    if drawing.is_logarithmic:
        axes.set(xscale="log", yscale="log")
    else:
        axes.set_ylim(bottom=0)
    axes.set(xlabel=drawing.x, ylabel=drawing.y)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True
