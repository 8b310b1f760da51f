"""Observed rules from the command line: seen in lists and explanations, counted in a record, and enforced."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

Cli = Callable[..., tuple[int, str, str]]

RULES = """schema = 1

[[rule]]
id = "may"
effect = "allow"
tools = ["send"]

[[rule]]
id = "no"
effect = "block"
tools = ["send"]
reason = "it sends"
enforce = false # since Monday
"""
WHOLE = '[policy]\nenforce = false\n\n[[rule]]\nid = "all"\neffect = "block"\ntools = ["*"]\n'


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Return a file with a rule that is observed."""
    path = tmp_path / "rules.toml"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return a record of two calls; one of them would be another."""
    path = tmp_path / "audit.jsonl"
    decided = {"at": "2026-11-30T00:00:00.000+00:00", "session": "s", "event": "decided", "tool": "send"}
    lines = [
        {**decided, "verdict": "allow", "arguments": {"to": "ann"}, "would": {"verdict": "block", "rule": "no"}},
        {**decided, "verdict": "allow", "arguments": {}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_an_observed_rule_is_marked_in_the_list(cli: Cli, rules: Path) -> None:
    """In the table, and in JSON."""
    code, out, _ = cli("rules", "--rules", rules)
    assert code == 0
    cells = [line.split("\t") for line in out.splitlines()]
    assert [each[3] for each in cells if each[2] == "no"] == ["block (observed)"]
    _, out, _ = cli("rules", "--rules", rules, "--json")
    rows = {row["rule"]: row for row in map(json.loads, out.splitlines())}
    assert rows["no"]["enforce"] is False
    assert "enforce" not in rows["may"]
    _, out, _ = cli("rules", "--rules", "permitry:read-only", "--observe", rules)
    assert out.count("(observed)") == 2


def test_an_explanation_says_what_would_be(cli: Cli, rules: Path) -> None:
    """The verdict and the exit code are those of the rules that are obeyed."""
    code, out, _ = cli("explain", "--rules", rules, "--tool", "send")
    assert code == 0
    assert f"observed    would block, by no ({rules}:8): it sends" in out
    _, out, _ = cli("explain", "--rules", rules, "--tool", "send", "--json")
    assert json.loads(out)["would"] == {"verdict": "block", "rule": "no"}
    code, out, _ = cli("explain", "--rules", "permitry:publishing", "--observe", rules, "--tool", "send")
    assert code == 3
    assert "would block, by no" in out


def test_a_run_records_what_would_be_and_obeys_nothing(cli: Cli, rules: Path, tmp_path: Path) -> None:
    """With the figures in its store."""
    (tmp_path / "work").mkdir()
    session, store = tmp_path / "session.jsonl", tmp_path / "audit.db"
    session.write_text('{"id": "c1", "name": "read_file", "arguments": {"path": "a"}}\n', encoding="utf-8")
    rules.write_text('schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["read_file"]\n', encoding="utf-8")
    words = ("--rules", "permitry:plan", "--workspace", tmp_path / "work", "--store", store, "--unattended", "block")
    cli("run", session, *words, "--observe", rules)
    cli("run", session, *words)
    decided = cli("audit", "query", "--record", store, "--event", "decided", "--json")[1]
    observed, plain = map(json.loads, decided.splitlines())
    assert (observed["verdict"], observed["would"]) == (plain["verdict"], {"verdict": "block", "rule": "no"})
    assert "would" not in plain
    assert observed["policy_version"] != plain["policy_version"]


def test_records_are_asked_for_by_what_would_be(cli: Cli, record: Path) -> None:
    """By the verdict that the observed rules come to."""
    code, out, _ = cli("audit", "query", "--record", record, "--would", "block", "--json")
    assert code == 0
    assert [json.loads(line)["number"] for line in out.splitlines()] == [1]
    assert cli("audit", "query", "--record", record, "--would", "confirm")[0] == 1


def test_what_would_have_changed_is_counted(cli: Cli, record: Path) -> None:
    """With the last calls; as JSON with all counts."""
    code, out, _ = cli("audit", "stats", "--observed", "--record", record)
    assert code == 0
    assert out.startswith("observed rules would have changed 1 of 2 decisions, in 1 of 1 sessions")
    assert 'send {"to": "ann"}' in out
    _, out, _ = cli("audit", "stats", "--observed", "--record", record, "--json")
    (only,) = json.loads(out)["observed"]
    assert (only["rule"], only["verdict"], only["would"], only["calls"]) == ("no", "allow", "block", 1)


def test_a_rule_is_enforced_with_its_figures(cli: Cli, rules: Path, record: Path) -> None:
    """Only its line is gone; without a terminal to ask at, nothing happens unless `--yes` says so."""
    rules.chmod(0o640)
    words = ("rules", "enforce", "no", "--rules", rules, "--record", record)
    code, out, _ = cli(*words)
    assert (code, rules.read_text(encoding="utf-8")) == (3, RULES)
    assert out.startswith("`no` would have changed 1 of 2 decisions")
    code, out, _ = cli(*words, "--yes")
    assert (code, rules.read_text(encoding="utf-8")) == (0, RULES.replace("enforce = false # since Monday\n", ""))
    assert rules.stat().st_mode & 0o777 == 0o640
    assert cli("explain", "--rules", rules, "--tool", "send")[0] == 2


def test_a_record_that_is_not_there_yet_shows_no_figures(cli: Cli, rules: Path, tmp_path: Path) -> None:
    """That there are none is said."""
    code, out, err = cli("rules", "enforce", "no", "--rules", rules, "--record", tmp_path / "none.jsonl", "--yes")
    assert code == 0
    assert "0 of 0 decisions" in out
    assert "there is no record" in err


@for_each(
    ("text", "words", "said"),
    [
        (RULES, ("enforce", "may"), "`may` is not an observed rule; those that are: `no`"),
        (RULES, ("enforce",), "name the rule"),
        (f"schema = 1\n{WHOLE}", ("enforce", "all"), "the whole file is observed"),
        (RULES.replace("1\n", "1\n[policy]\nenforce = false\n", 1), ("enforce", "no"), "the whole file is observed"),
        (RULES, ("enforce", "no", "--observe", "permitry:plan"), "when `--rules` names it"),
        (RULES.replace("enforce = false", "enforce = false\n#"), ("enforce", "no"), ""),
        ('schema = 1\nrule = [{ id = "no", effect = "block", tools = ["a"], enforce = false }]', ("enforce", "no"),
         "take `enforce = false` out by hand"),
        (RULES, ("x.toml",), "rules are named with --rules"),
    ],
    ids=["not observed", "no id", "file", "both", "option", "fine", "in line", "another word"],
)  # fmt: skip
def test_what_cannot_be_enforced_is_refused(cli: Cli, rules: Path, text: str, words: list[str], said: str) -> None:
    """And the file stays as it is."""
    rules.write_text(text, encoding="utf-8")
    code, _, err = cli("rules", *words, "--rules", rules, "--yes")
    assert said in err
    assert (code == 0) is (not said)
    assert (rules.read_text(encoding="utf-8") == text) is bool(said)


def test_the_question_is_answered_at_the_terminal(
    cli: Cli, rules: Path, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one word; a file that changed meanwhile is not written."""
    words = ("rules", "enforce", "no", "--rules", rules, "--record", record)
    monkeypatch.setattr("permitry.cli.observed._is_at_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: "no")
    assert cli(*words)[0] == 3

    def change(_: str) -> str:
        rules.write_text(f"{RULES}\n# more", encoding="utf-8")
        return "y"

    monkeypatch.setattr("builtins.input", change)
    code, _, err = cli(*words)
    assert code != 0
    assert "has changed meanwhile" in err
    monkeypatch.setattr("builtins.input", lambda _: " Yes")
    assert cli(*words)[0] == 0
