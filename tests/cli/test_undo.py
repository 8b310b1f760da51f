"""`permitry undo`: what a session has changed comes back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from permitry.cli.records import RecordFilter, records_at
from permitry.undo.vault import Vault

Cli = Callable[..., tuple[int, str, str]]
RULES = """
schema = 1
[[rule]]
id = "undoable"
effect = "allow"
keep = true
tools = ["@shell"]
"""


@pytest.fixture
def work(tmp_path: Path, cli: Cli) -> Path:
    """Return a workspace in which a session has run two commands."""
    folder = tmp_path / "work"
    (folder / "build").mkdir(parents=True)
    (folder / "build" / "out").write_text("out\n")
    (folder / "a.txt").write_text("one\n")
    (tmp_path / "rules.toml").write_text(RULES)
    commands = ["rm -r build", "echo two > a.txt"]
    calls = [{"id": f"c{n}", "name": "run_shell", "arguments": {"command": each}} for n, each in enumerate(commands)]
    (tmp_path / "s.jsonl").write_text("".join(f"{json.dumps(call)}\n" for call in calls))
    words = ("run", tmp_path / "s.jsonl", "--rules", tmp_path / "rules.toml", "--workspace", folder, "--json")
    code, _, err = cli(*words, "--unattended", "block")
    assert code == 0, err
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
    return folder


@pytest.fixture
def vault(home: Path) -> Vault:
    """Return the vault of the user."""
    return Vault(home / "permitry" / "undo")


def test_without_a_word_all_is_listed(cli: Cli, work: Path) -> None:
    """The oldest first, with what became of each."""
    for words in ((), ("--list",)):
        code, out, _ = cli("undo", *words)
        assert code == 0
        first, second = out.splitlines()
        assert "run_shell  [kept]  2 paths" in first
        assert "rm -r build" in first
        assert "[kept]  1 path  " in second
    assert work.exists()


def test_an_empty_vault_has_nothing(cli: Cli) -> None:
    """Listing is fine; undoing is not."""
    assert cli("undo") == (0, "nothing is kept that could be undone\n", "")
    code, _, err = cli("undo", "--last")
    assert code == 4
    assert "nothing is kept" in err
    assert cli("undo", "7")[0] == 4


def test_the_last_call_is_undone_and_then_the_one_before(cli: Cli, work: Path) -> None:
    """Each with its diff, and how to take that back."""
    code, out, _ = cli("undo", "--last")
    assert code == 0
    assert "-two\n+one\n" in out
    assert out.endswith("undone; `permitry undo 3` takes that back\n")
    assert (work / "a.txt").read_text() == "one\n"
    assert "folder build comes back" in cli("undo", "--last")[1]
    assert (work / "build" / "out").read_text() == "out\n"
    assert "[undone by 4]" in cli("undo")[1]
    assert "[undid 1]" in cli("undo")[1]
    assert cli("undo", "3")[0] == 0
    assert (work / "a.txt").read_text() == "two\n"


def test_a_session_is_undone_as_a_whole(cli: Cli, work: Path, vault: Vault) -> None:
    """That of another name is not."""
    assert cli("undo", "--session", "other")[0] == 4
    assert cli("undo", "--session", vault.entries()[0].session)[0] == 0
    assert (work / "a.txt").read_text() == "one\n"
    assert (work / "build" / "out").exists()


def test_a_dry_run_changes_nothing(cli: Cli, work: Path, vault: Vault) -> None:
    """It shows the same diff."""
    _, shown, _ = cli("undo", "1", "--dry-run")
    assert "folder build comes back" in shown
    assert [path.name for path in work.iterdir()] == ["a.txt"]
    assert len(vault.entries()) == 2


def test_what_has_changed_since_needs_force(cli: Cli, work: Path) -> None:
    """Nothing is lost without it."""
    (work / "a.txt").write_text("mine\n")
    code, _, err = cli("undo", "2")
    assert code == 1
    assert "changed since" in err
    assert (work / "a.txt").read_text() == "mine\n"
    assert cli("undo", "2", "--force")[0] == 0
    assert (work / "a.txt").read_text() == "one\n"


def test_it_is_recorded_for_the_call_that_was_undone(cli: Cli, work: Path, home: Path, tmp_path: Path) -> None:
    """In the record of its session, or another one."""
    assert work.exists()
    cli("undo", "2")
    cli("undo", "1", "--record", tmp_path / "other.jsonl")
    records = list(records_at(home / "permitry/permitry.db", RecordFilter()))
    kept = next(record for record in records if record["event"] == "kept" and record["entry"] == "2")
    undone = records[-1]
    same = ("call_id", "digest", "session", "tool")
    assert {name: undone[name] for name in same} == {name: kept[name] for name in same}
    assert (undone["event"], undone["entry"], undone["undone_by"]) == ("undone", "2", "3")
    assert "undone" in (tmp_path / "other.jsonl").read_text()


def test_what_is_kept_can_be_forgotten(cli: Cli, work: Path) -> None:
    """By age, and by size."""
    assert work.exists()
    assert cli("undo", "--prune") == (0, "0 entries are forgotten\n", "")
    assert cli("undo", "--prune", "--older-than", "2d")[1] == "0 entries are forgotten\n"
    assert cli("undo", "--prune", "--size", "0")[1] == "2 entries are forgotten\n"
    code, _, err = cli("undo", "--prune", "--older-than", "soon")
    assert code == 4
    assert "is not an age" in err
