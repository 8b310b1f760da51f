"""How far a long command is."""

import io
import sys

import pytest

from permitry_ops.cli.progress import track


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A log has no use for a bar."""
    assert list(track([1, 2], "mutants")) == [1, 2]
    assert capsys.readouterr() == ("", "")


def test_a_closed_standard_error_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a process without one."""
    monkeypatch.setattr(sys, "stderr", None)
    assert list(track([1, 2], "mutants")) == [1, 2]


def test_a_terminal_shows_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error; what is printed meanwhile stays on standard output."""
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(track([1, 2], "mutants")) == [1, 2]
    assert "mutants" in terminal.getvalue()
