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
from permitry.records import record_name

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
LINE = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}}) + "\n"


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_waits_for_its_answer_in_the_store(
    cli: Cli, guarding: list[str], workspace: Path, address: str, *, approved: bool
) -> None:
    """As `permitry approve` gives it."""

    def respond() -> None:
        store, end = questions_at(address), time.monotonic() + 30
        while not (rows := store.open(Moment.now())) and time.monotonic() < end:
            time.sleep(0.05)
        answer_to(store, StoredQuestion.of(rows[0]), ToolConfirmationResponse(approved, instructions="No."), by="ann")

    human = threading.Thread(target=respond)
    human.start()
    code, out, err = cli(*guarding, "--store", address, "--unattended", "wait", stdin=LINE)
    human.join()
    assert code == 0
    assert [each.name for each in workspace.iterdir()] == (["a"] if approved else [])
    assert ("The user says: No." in out) is not approved
    assert f"permitry approve --store {record_name(address)}" in err


def test_a_grant_in_the_store_counts(cli: Cli, guarding: list[str], workspace: Path, address: str) -> None:
    """No one is asked."""
    grants_at(address).store.add(Grant('tools = ["write_file"]', uses_left=1).row())
    for _ in range(2):
        cli(*guarding, "--store", address, "--unattended", "block", stdin=LINE + LINE.replace('"w"', '"v"'))
    assert [each.name for each in workspace.iterdir()] == ["a"]
    assert grants_at(address).store.all()[0]["uses_left"] == 0


def test_a_store_is_needed_to_wait_and_lies_elsewhere(cli: Cli, guarding: list[str], workspace: Path) -> None:
    """Tools could replace one in the workspace."""
    code, _, err = cli(*guarding, "--unattended", "wait", stdin=LINE)
    assert (code, "needs a store" in err) == (4, True)
    code, _, err = cli(*guarding, "--store", str(workspace / "a.db"), stdin=LINE)
    assert (code, "lies in the workspace" in err) == (4, True)
    assert list(workspace.iterdir()) == []
