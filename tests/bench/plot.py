"""The picture: what a decision costs against the number of rules."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.peers.engine import module
from tests.bench.report import tell

__all__ = ["plot"]


def plot(series: Mapping[str, Sequence[tuple[int, float]]], path: Path) -> bool:
    """Draw the medians of every engine into an SVG file; return whether there is one now."""
    try:
        matplotlib, pyplot = module("matplotlib"), module("matplotlib.pyplot")
    except ModuleNotFoundError:
        tell("matplotlib is not installed: no new plot")
        return path.exists()
    matplotlib.use("svg")
    # The same figures give the same file.
    matplotlib.rcParams.update({"svg.hashsalt": "permitry", "svg.fonttype": "none"})
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for name, points in series.items():
        counts, times = [count for count, _ in points], [time for _, time in points]
        axes.plot(counts, times, marker="o", markersize=4, linewidth=3 if name == "permitry" else 1.5, label=name)
    axes.set(xscale="log", yscale="log", xlabel="rules", ylabel="µs for a decision (median, mixed calls)")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True
