"""What a human reads at the end of a run."""

import io
import sys

import pytest

from permitry.cli.render import SummaryRow
from permitry.cli.story import last_lines, say, tell_counts


def test_calls_are_counted_by_what_became_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that are most first; nothing of a call can draw on the terminal."""
    rows = [SummaryRow(None, "x", verdict, None, became) for verdict, became in (("allow", "ran"),) * 2]
    tell_counts([SummaryRow(None, "x", "block", None, "\x1b[2J"), *rows])
    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert lines[2:] == [
        ["calls", "verdict", "what", "became", "of", "them"],
        ["2", "allow", "ran"],
        ["1", "block", "\\u001b[2J"],
    ]


def test_of_no_calls_nothing_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """There is no table without rows."""
    tell_counts([])
    assert capsys.readouterr().err == ""


def test_rules_are_named_shortly() -> None:
    """Of shipped sets the first."""
    named = ("mine.toml", "permitry:base", "permitry:guard", "permitry:money")
    assert list(last_lines("r.db", named, "queued for later", prints=False)) == [
        "questions: queued for later",
        "rules: mine.toml, permitry:base and 2 more shipped sets",
        "recorded in r.db",
        "results for the model: none is printed on a terminal; see them with --json, or in a file with > FILE",
    ]


def test_a_line_is_broken_by_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between words; for a program it is one line."""
    shown = {}
    for is_terminal in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("COLUMNS", "20")
        say("a line that has more words than fit")
        shown[is_terminal] = [line.strip() for line in stream.getvalue().splitlines()]
    assert shown == {True: ["a line that has more", "words than fit"], False: ["a line that has more words than fit"]}
