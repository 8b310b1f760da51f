"""`permitry run --store`: grants count, and calls are asked about in the store."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.guard.grants import Grant
from permitry.guard.ledgers import grants_at, questions_at
from permitry.store.records import record_name

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
LINE = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}}) + "\n"


def approve(address: str, response: ToolConfirmationResponse | None = None) -> None:
    """Answer the first question that comes in a store."""
    store, end = questions_at(address), time.monotonic() + 30
    while not (rows := store.open(Moment.now())) and time.monotonic() < end:
        time.sleep(0.05)
    answer_to(store, StoredQuestion.of(rows[0]), response or ToolConfirmationResponse(True), by="ann")


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_waits_for_its_answer_in_the_store(
    cli: Cli, guarding: list[str], workspace: Path, address: str, *, approved: bool
) -> None:
    """As `permitry approve` gives it."""
    human = threading.Thread(target=approve, args=(address, ToolConfirmationResponse(approved, instructions="No.")))
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


def test_a_store_lies_elsewhere(cli: Cli, guarding: list[str], workspace: Path) -> None:
    """Tools could replace one in the workspace."""
    code, _, err = cli(*guarding, "--store", str(workspace / "a.db"), stdin=LINE)
    assert (code, "the store" in err, "lies in the workspace" in err) == (4, True, True)
    assert list(workspace.iterdir()) == []


@pytest.mark.parametrize("option", ["--store", "--record"])
def test_one_name_is_enough(cli: Cli, guarding: list[str], workspace: Path, home: Path, option: str) -> None:
    """The store has the record, and the record that is a store has the grants."""
    store = workspace.with_name("other.db")
    grants_at(store).store.add(Grant('tools = ["write_file"]').row())
    code, _, err = cli(*guarding[:-2], option, store, "--unattended", "block", stdin=LINE)
    assert (code, [each.name for each in workspace.iterdir()]) == (0, ["a"])
    assert f"recorded in {store}" in err
    assert [each["event"] for each in records_at(store, RecordFilter())] == [
        "policy",
        "session",
        # Another one, as a grant has a say.
        "policy",
        "decided",
        "started",
        "finished",
    ]
    assert not (home / "permitry/permitry.db").exists()


def test_without_a_name_everything_is_in_the_default_store(
    cli: Cli, guarding: list[str], workspace: Path, home: Path
) -> None:
    """A newcomer names nothing, and every command finds it."""
    human = threading.Thread(target=approve, args=(str(home / "permitry/permitry.db"),))
    human.start()
    code, _, err = cli(*guarding[:-2], "--unattended", "wait", stdin=LINE)
    human.join()
    assert (code, [each.name for each in workspace.iterdir()]) == (0, ["a"])
    assert err.startswith("permitry: calls that need an answer wait for `permitry approve`\n")
    assert "questions: answered with `permitry approve`\n" in err
    grants_at(home / "permitry/permitry.db").store.add(Grant('tools = ["write_file"]').row())
    cli(*guarding[:-2], "--unattended", "block", stdin=LINE.replace('"a"', '"b"'))
    assert {each.name for each in workspace.iterdir()} == {"a", "b"}
    assert "write_file" in cli("grants", "list")[1]
    assert cli("audit", "tail")[1].count("finished") == 2
    assert "2 decisions in 2 sessions" in cli("audit", "stats")[1]
    assert cli("audit", "verify")[0] == 0
    assert "1 of 1 approved question would" in cli("suggest", "--rules", "permitry:coding-agent")[2]
    assert cli("replay", "--rules", "permitry:coding-agent")[1].startswith("2 calls of 2 sessions")


def test_a_plain_file_and_the_default_store_go_together(
    cli: Cli, guarding: list[str], workspace: Path, home: Path, record: Path
) -> None:
    """The grants of the store count, and the record is in the file alone."""
    grants_at(home / "permitry/permitry.db").store.add(Grant('tools = ["write_file"]').row())
    cli(*guarding, "--unattended", "block", stdin=LINE)
    assert [each.name for each in workspace.iterdir()] == ["a"]
    assert len(record.read_text().splitlines()) == 4
    assert list(records_at(home / "permitry/permitry.db", RecordFilter())) == []


def test_a_default_store_that_is_away_keeps_no_plain_record_from_being_made(
    cli: Cli, guarding: list[str], workspace: Path, home: Path
) -> None:
    """No grant counts then, and that is said. What needs the store does not begin."""
    (home / "permitry/permitry.db").mkdir(parents=True)
    code, _, err = cli(*guarding, "--unattended", "block", stdin=LINE)
    assert (code, "no grant counts: cannot open the store" in err) == (0, True)
    for words in (
        guarding[:-2],
        [*guarding, "--unattended", "wait"],
        [*guarding, "--store", home / "permitry/permitry.db"],
    ):
        code, out, err = cli(*words, stdin=LINE)
        assert (code, out, "cannot open the store" in err) == (4, "", True)
    assert list(workspace.iterdir()) == []


def test_what_does_not_name_a_store_is_an_error(cli: Cli, guarding: list[str], tmp_path: Path) -> None:
    """It would be a file of lines as a record."""
    code, _, err = cli(*guarding, "--store", tmp_path / "store", stdin=LINE)
    assert (code, "is not a store; name a file `.db`" in err) == (4, True)
    assert not (tmp_path / "store").exists()


def test_a_shared_budget_counts_in_the_store(
    cli: Cli, guarding: list[str], workspace: Path, tmp_path: Path, address: str
) -> None:
    """For the principal and the organisation that are named, over several sessions."""
    rules = tmp_path / "limit.toml"
    text = 'schema = 1\n[[rule]]\nid = "{0}"\neffect = "{1}"\ntools = ["write_file"]\n{2}\n'
    budget = 'budget = { calls = 2, per = "1h", by = "principal" }'
    rules.write_text(text.format("few", "allow", budget))
    for number, name in enumerate(["ann", "ann", "ann", "bob"]):
        line = LINE.replace('"a"', f'"{name}{number}"')
        options = ("--store", address, "--unattended", "block", "--principal", name, "--organisation", "o")
        cli(*guarding, "--rules", str(rules), *options, stdin=line)
    assert sorted(each.name for each in workspace.iterdir()) == ["ann0", "ann1", "bob3"]
