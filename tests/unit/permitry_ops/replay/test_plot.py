"""A drawing of what was counted."""

import sys
from pathlib import Path

import pytest

from permitry.cli.stats import Stats
from permitry.core.decision import Decision, Phase, Verdict
from permitry.errors import PermitryError
from permitry_ops.replay.plot import plot, plot_stats
from permitry_ops.replay.tally import Tally


@pytest.fixture
def tally() -> Tally:
    """Return the counts of two tools."""
    tally = Tally()
    for number, verdict in enumerate((Verdict.ALLOW, Verdict.BLOCK, Verdict.ALLOW)):
        tally.count("look" if number else "write", "s:1", Decision(verdict, "r", Phase.PERMISSION, "", None), None)
    return tally


def test_it_is_a_picture(tally: Tally, tmp_path: Path) -> None:
    """Of the kind that the name of the file says, also of nothing."""
    for name, counts in (("a.svg", tally), ("b.svg", Tally())):
        plot(counts, tmp_path / name)
        assert "<svg" in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["a.xyz", "nowhere/a.svg"])
def test_what_cannot_be_written_is_an_error(tally: Tally, tmp_path: Path, name: str) -> None:
    """That names the file."""
    with pytest.raises(PermitryError, match="cannot write the plot"):
        plot(tally, tmp_path / name)


def test_without_the_extra_there_is_a_way_out(tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the extra."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PermitryError, match=r"permitry\[replay\]"):
        plot(tally, tmp_path / "a.svg")


def test_a_record_is_a_picture(tmp_path: Path) -> None:
    """With tools, rules, those that decided nothing, hours and times; also of nothing, and of odd names."""
    stats, path = Stats(), tmp_path / "a.svg"
    for record in (
        {"event": "decided", "tool": "look", "verdict": "allow", "rule": "reads"},
        {"event": "decided", "tool": r"$\frac{$", "verdict": "block", "rule": "reads"},
        {"event": "asked", "at": "2026-11-23T10:59:59.000+00:00"},
        {"event": "finished", "tool": "look", "outcome": "ok", "seconds": 0.5},
    ):
        stats.add(record)
    plot_stats(stats, ["never-fired"], path)
    drawn = path.read_text(encoding="utf-8")
    shown = ("verdicts by tool", "look", "reads", "never-fired", "2026-11-23 10h", "slowest tools")
    assert [text for text in shown if f"<!-- {text}" not in drawn] == []
    plot_stats(Stats(), [], tmp_path / "b.svg")
    assert "<svg" in (tmp_path / "b.svg").read_text(encoding="utf-8")


def test_of_many_rules_that_decided_nothing_as_many_are_shown_as_can_be_read(tmp_path: Path) -> None:
    """And how many more there are."""
    stats, path = Stats(), tmp_path / "a.svg"
    stats.add({"event": "decided", "tool": "look", "verdict": "allow", "rule": "reads"})
    plot_stats(stats, [f"unused-{number}" for number in range(50)], path)
    text = path.read_text(encoding="utf-8")
    assert "unused-18" in text
    assert "unused-19" not in text
    assert "... and 31 more" in text
