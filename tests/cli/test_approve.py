"""`permitry approve`: the questions of the default store are found, and asked as they come."""

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import pytest
from tests.cli.test_approve_stored import ASKS, CALL, elsewhere

from permitry.cli.main import main
from permitry.config.load import load_policy
from permitry.guard.guard import Guard
from permitry.guard.ledgers import ledger_at
from permitry.guard.outcome import Permit
from permitry.guard.session import Session

Out = pytest.CaptureFixture[str]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the state folder of the user, which is not there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "permitry"


def asking(state: Path) -> Guard:
    """Return a guard whose questions are in the store of the user."""
    return Guard(load_policy(ASKS), session=Session(id="s1"), ledger=ledger_at(state / "permitry.db"))


def test_where_no_one_has_asked_no_question_is_open(state: Path, capsys: Out) -> None:
    """The store is made, so that nothing has to be there first."""
    assert main(["approve"]) == 0
    assert capsys.readouterr().out == "no question is open\n"
    assert (state / "permitry.db").stat().st_mode & 0o777 == 0o600


def test_watching_asks_each_question_as_it_comes(
    state: Path,
    typing: Callable[[str], tuple[TextIO, Callable[[], str]]],
    capsys: Out,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Until an interrupt, also where the store was not there before; what cannot be answered here is reported once."""
    terminal, _ = typing("y\n")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("permitry.cli.approve.open_terminal", lambda: terminal)
    rounds: list[Guard] = []

    def pause(_: float) -> None:
        rounds.append(asking(state))
        if len(rounds) == 1:
            rounds[-1].check(CALL)
        elif len(rounds) == 3:
            rounds[-1].check(CALL.with_id("c2"))
            elsewhere(state.parent, "c2")
        elif len(rounds) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr("permitry.cli.approve.time.sleep", pause)
    assert main(["approve", "--watch"]) == 130
    out, err = capsys.readouterr()
    assert out.count("approved, once") == 1
    assert err.count("in another terminal") == 1
    assert isinstance(asking(state).check(CALL.with_id("c2")), Permit)


def test_watching_needs_a_terminal_and_takes_no_id(state: Path, capsys: Out) -> None:
    """Nothing is shown to a program."""
    del state
    assert main(["approve", "--watch"]) == 4
    assert main(["approve", "x", "--watch"]) == 4
    err = capsys.readouterr().err
    assert "at a terminal" in err
    assert "takes no id" in err
