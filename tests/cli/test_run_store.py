"""`permitry run --store`: grants count, and calls are asked about in the store."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.confirm.clock import Moment
from permitry.confirm.grants import Grant
from permitry.confirm.response import ToolConfirmationResponse
from permitry.confirm.stored import StoredQuestion, answer_to
from permitry.ledgers import grants_at, questions_at

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
LINE = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}}) + "\n"


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_waits_for_its_answer_in_the_store(
    cli: Cli, guarding: list[str], workspace: Path, tmp_path: Path, *, approved: bool
) -> None:
    """As `permitry approve` gives it."""
    path = tmp_path / "asked.db"

    def respond() -> None:
        store, end = questions_at(path), time.monotonic() + 30
        while not (rows := store.open(Moment.now())) and time.monotonic() < end:
            time.sleep(0.05)
        answer_to(store, StoredQuestion.of(rows[0]), ToolConfirmationResponse(approved, instructions="No."), by="ann")

    human = threading.Thread(target=respond)
    human.start()
    code, out, err = cli(*guarding, "--store", str(path), "--unattended", "wait", stdin=LINE)
    human.join()
    assert code == 0
    assert [each.name for each in workspace.iterdir()] == (["a"] if approved else [])
    assert ("The user says: No." in out) is not approved
    assert f"permitry approve --store {path}" in err


def test_a_grant_in_the_store_counts(cli: Cli, guarding: list[str], workspace: Path, tmp_path: Path) -> None:
    """No one is asked."""
    path = tmp_path / "granted.db"
    grants_at(path).store.add(Grant('tools = ["write_file"]', uses_left=1).row())
    for _ in range(2):
        cli(*guarding, "--store", str(path), "--unattended", "block", stdin=LINE + LINE.replace('"w"', '"v"'))
    assert [each.name for each in workspace.iterdir()] == ["a"]
    assert grants_at(path).store.all()[0]["uses_left"] == 0


def test_a_store_is_needed_to_wait_and_lies_elsewhere(cli: Cli, guarding: list[str], workspace: Path) -> None:
    """Tools could replace one in the workspace."""
    code, _, err = cli(*guarding, "--unattended", "wait", stdin=LINE)
    assert (code, "needs a store" in err) == (4, True)
    code, _, err = cli(*guarding, "--store", str(workspace / "a.db"), stdin=LINE)
    assert (code, "lies in the workspace" in err) == (4, True)
    assert list(workspace.iterdir()) == []
