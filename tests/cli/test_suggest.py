"""`permitry suggest`."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.store.records import record_name, store_at

Cli = Callable[..., Outcome]

_COMMANDS = {"npm run build": True, "npm run build -- -v": True, "git push origin main": False, "rm -rf /": True}


@pytest.fixture(params=["audit.jsonl", "audit.db", "postgres"])
def record(cli: Cli, workspace: Path, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """Return a record of a session in which calls were approved, rejected and blocked."""
    calls = [ToolCall("run_shell", {"command": command}) for command in _COMMANDS]
    answers = tmp_path / "answers.jsonl"
    lines = [json.dumps({"name": call.name, "arguments": call.to_dict()}) for call in calls]
    answers.write_text(
        "".join(
            json.dumps({"digest": call.digest, "approved": approved}) + "\n"
            for call, approved in zip(calls, _COMMANDS.values(), strict=True)
        )
    )
    path = str(tmp_path / str(request.param))
    places = ["--workspace", workspace, "--record", path, "--answers", answers]
    cli("run", "-", "--rules", "permitry:coding-agent", *places, stdin="\n".join(lines) + "\n")
    if request.param != "postgres":
        return path
    address: str = request.getfixturevalue("postgres").new()
    with contextlib.closing(store_at(address)) as store:
        store.append(*Path(path).read_text().splitlines())
    return address


def test_rules_are_suggested(cli: Cli, record: str, workspace: Path) -> None:
    """As a text that loads, with what each would have removed, and what else it permits."""
    words = ["--from", record, "--rules", "permitry:coding-agent", "--workspace", workspace]
    code, out, err = cli("suggest", *words)
    assert code == 0
    assert "# removes 2 questions: `npm run build`, `npm run build -- -v`\n" in out
    assert "# riskiest other call: `npm run build --any-option anything`" in out
    assert "2 of 2 approved questions would not have been asked" in err
    assert out.count("[[rule]]") == 1
    load_rules("schema = 1\n" + out)
    _, out, _ = cli("suggest", *words, "--json")
    found = json.loads(out)
    assert (found["questions"], found["removed"], found["suggestions"][0]["questions"]) == (2, 2, 2)
    # A store has the record of the rules as well.
    number = 3 if record.endswith(".db") else 2
    assert found["suggestions"][0]["calls"][0]["first"] == f"{record_name(record)}:{number}"


def test_with_the_suggested_rules_nothing_is_asked(cli: Cli, record: str, workspace: Path, tmp_path: Path) -> None:
    """A diff is shown first, and written only when that is asked for."""
    rules = tmp_path / "rules.toml"
    words = ["--from", record, "--workspace", workspace, "--rules"]
    code, out, err = cli("suggest", *words, "permitry:coding-agent", "-o", rules)
    assert (code, rules.exists(), f"`{rules}` is as it was; with --write" in err) == (0, False, True)
    assert '+when.command = ["npm run build *"]' in out
    rules.write_text('schema = 1\nextends = ["permitry:coding-agent"]\n')
    code, out, err = cli("suggest", *words, rules, "-o", rules, "--write")
    assert (code, '\n extends = ["permitry:coding-agent"]\n' in out, "as it was" in err) == (0, True, False)
    code, out, err = cli("suggest", *words, rules)
    assert (code, out) == (1, "")
    assert "2 questions: the rules permit the call by now" in err
    code, _, _ = cli("check", "--command", "npm run build", "--rules", rules, "--workspace", workspace)
    assert code == 0


def test_the_folder_of_a_new_file_is_made(cli: Cli, record: str, workspace: Path, tmp_path: Path) -> None:
    """The user's configuration folder may not be there yet."""
    rules = tmp_path / "config/permitry/rules.toml"
    words = ["--from", record, "--workspace", workspace, "--rules", "permitry:coding-agent", "-o", rules]
    assert cli("suggest", *words, "--write")[0] == 0
    load_rules([rules])


def _approve(cli: Cli, folder: Path, record: Path, command: str) -> None:
    """Record a session in a folder, in which one call was approved."""
    folder.mkdir()
    call = ToolCall("run_shell", {"command": command})
    answers = folder.parent / "answers.jsonl"
    answers.write_text(json.dumps({"digest": call.digest, "approved": True}) + "\n")
    places = ["--workspace", folder, "--record", record, "--answers", answers]
    line = json.dumps({"name": call.name, "arguments": call.to_dict()})
    cli("run", "-", "--rules", "permitry:coding-agent", *places, stdin=f"{line}\n")


def test_projects_are_kept_apart(cli: Cli, tmp_path: Path) -> None:
    """Each has its rules below its name; a rule file is for one of them."""
    record = tmp_path / "audit.db"
    shop, bank = tmp_path / "shop", tmp_path / "bank"
    _approve(cli, shop, record, "make shop")
    _approve(cli, bank, record, "make bank")
    words = ["--from", record, "--rules", "permitry:coding-agent"]
    code, out, err = cli("suggest", *words)
    assert code == 0
    first, second = out.split(f"# In {shop}\n")
    assert first.startswith(f"# In {bank}\n")
    assert ("make bank" in first, "make shop" in first) == (True, False)
    assert ("make bank" in second, "make shop" in second) == (False, True)
    assert f"in `{shop}`:\npermitry: 1 of 1 approved question would not have been asked" in err
    load_rules("schema = 1\n" + out)
    _, out, _ = cli("suggest", *words, "--json")
    assert [each["project"] for each in json.loads(out)["suggestions"]] == [str(bank), str(shop)]
    rules = tmp_path / "rules.toml"
    code, _, err = cli("suggest", *words, "-o", rules, "--write")
    assert code == 4
    assert f"name it with --project: `{bank}`, `{shop}`" in err
    assert cli("suggest", *words, "-o", rules, "--write", "--project", shop)[0] == 0
    assert "make shop" in rules.read_text()
    assert "make bank" not in rules.read_text()
    code, out, err = cli("suggest", *words, "--project", tmp_path)
    assert (code, out) == (1, "")
    assert "0 of 0 approved questions" in err


def test_what_is_no_record_is_refused(cli: Cli, tmp_path: Path) -> None:
    """So is `--write` without a file, and a file in which nothing could be added."""
    session, rules = tmp_path / "session.jsonl", tmp_path / "rules.toml"
    session.write_text('{"name": "ls", "arguments": {}}\n')
    for words, reason in (
        (["--from", session], "is not a record"),
        (["--from", tmp_path / "none.jsonl"], "there is no record"),
        (["--from", session, "--write"], "needs `-o FILE`"),
    ):
        code, _, err = cli("suggest", *words, "--rules", "permitry:base")
        assert (code, reason in err) == (4, True)
    assert not rules.exists()


def test_a_file_with_mistakes_is_not_added_to(cli: Cli, record: str, workspace: Path, tmp_path: Path) -> None:
    """It would not load."""
    rules = tmp_path / "rules.toml"
    rules.write_text("schema = 1\n[[rule]]\n")
    words = ["--from", record, "--rules", "permitry:coding-agent", "--workspace", workspace, "-o", rules, "--write"]
    code, _, err = cli("suggest", *words)
    assert (code, "rules.toml:2" in err) == (4, True)
    assert rules.read_text() == "schema = 1\n[[rule]]\n"
