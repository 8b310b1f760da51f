"""A drawing of what was counted. Needs the extra `replay`."""

from pathlib import Path

from permitry.errors import PermitryError
from permitry.replay.tally import Tally

__all__ = ["plot"]

_MOST = 20
_COLOURS = {"allow": "#2e7d32", "confirm": "#f9a825", "block": "#c62828"}


def plot(tally: Tally, path: Path) -> None:
    """Draw how many calls of each tool have which verdict, the most frequent tools first, into a file.

    Raises: `PermitryError` where matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra
    except ImportError as error:
        raise PermitryError("a plot needs matplotlib; install `permitry[replay]`") from error
    totals: dict[str, int] = {}
    for (tool, _), count in tally.tools.items():
        totals[tool] = totals.get(tool, 0) + count
    names = sorted(totals, key=lambda name: (-totals[name], name))[:_MOST]
    figure = Figure(figsize=(8, 1 + 0.35 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    left = [0] * len(names)
    for verdict, colour in _COLOURS.items():
        counts = [tally.tools[name, verdict] for name in names]
        axes.barh(names, counts, left=left, color=colour, label=verdict)
        left = [sum(pair) for pair in zip(left, counts, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("calls")
    axes.legend()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise PermitryError(f"cannot write the plot `{path}`: {error}") from error
