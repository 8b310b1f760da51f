"""`permitry test --coverage` and `--mutate`: what cases try of rules, and which mistakes they notice."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

Outcome = tuple[int, str, str]

RULES = """schema = 1

[[rule]]
id = "payments"
effect = "allow"
tools = ["send_money"]
when.args.amount = { le = 100 }

[[rule]]
id = "no-push"
effect = "block"
tools = ["@shell"]
when.command = ["git push *", "npm publish *"]
"""
CASE = {
    "id": "pays",
    "why": "small sums are paid",
    "call": {"name": "send_money", "arguments": {"amount": 100}},
    "want": {"verdict": "allow", "rule": "payments", "phase": "permission"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with rules and one case of them."""
    here = tmp_path / "here"
    (here / "cases").mkdir(parents=True)
    (here / "rules.toml").write_text(RULES)
    (here / "cases/pays.json").write_text(json.dumps(CASE))
    (here / "cases/index.txt").write_text("pays\n")
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def test(cli: Callable[..., Outcome], folder: Path) -> Callable[..., Outcome]:
    """Return a function that runs `permitry test` on the rules."""
    return lambda *words: cli("test", "--rules", folder / "rules.toml", *words)


Test = Callable[..., Outcome]


def test_what_was_never_tried_is_named(test: Test, folder: Path) -> None:
    """By rule, file and line, and part; the figures come last."""
    code, out, err = test("--coverage", "cases")
    assert (code, err) == (0, "")
    assert out.replace(f"{folder}/", "") == (
        "rules.toml:3: payments\n"
        "  matched each time\n"
        "  when.args.amount le 100: held each time\n"
        "rules.toml:9: no-push\n"
        "  never matched\n"
        "  tools `@shell`: never held\n"
        "  when.command `git push *`: never tried\n"
        "  when.command `npm publish *`: never tried\n"
        "1 of 2 rules matched, 3 of 12 sides tried (25.0 %)\n"
    )


def test_a_session_tries_rules_as_well(test: Test, folder: Path) -> None:
    """Messages, in the form that `permitry replay` reads."""
    calls = [{"name": "run_shell", "arguments": {"command": text}} for text in ("git push", "npm publish", "ls")]
    (folder / "session.jsonl").write_text("".join(f"{json.dumps(call)}\n" for call in calls))
    assert "2 of 2 rules matched, 10 of 12 sides" in test("--coverage", "--session", "session.jsonl", "cases")[1]
    code, out, _ = test("--mutate", "--session", "session.jsonl", "cases")
    assert (code, out.splitlines()[-1]) == (0, "6 of 8 mutants noticed (75.0 %)")


def test_a_record_is_a_session(test: Test, cli: Callable[..., Outcome], folder: Path, tmp_path: Path) -> None:
    """As `permitry run` writes it."""
    (folder / "session.jsonl").write_text('{"name": "run_shell", "arguments": {"command": "git push"}}\n')
    record = tmp_path / "record.jsonl"
    assert cli("run", "session.jsonl", "--rules", "rules.toml", "--record", record)[0] == 0
    assert "2 of 2 rules matched" in test("--coverage", "--session", record, "cases")[1]


def test_what_no_case_notices_is_shown_with_a_call(test: Test, folder: Path) -> None:
    """And with what the rules decide of it."""
    code, out, _ = test("--mutate", "cases")
    assert code == 0
    lines = out.replace(f"{folder}/", "").splitlines()
    assert lines[:2] == [
        "rules.toml:3: payments: without when.args.amount le 100",
        """  permitry check --call '{"name": "send_money", "arguments": {"amount": 101}}'  -> confirm (no rule)""",
    ]
    assert lines[-3:] == [
        "rules.toml:9: no-push: without when.command `npm publish *`",
        "  permitry check --command 'npm publish'  -> block (no-push)",
        "1 of 8 mutants noticed (12.5 %)",
    ]


def test_drafts_notice_all_when_their_reasons_are_filled_in(test: Test, folder: Path) -> None:
    """Until then they do not load."""
    assert (
        test("--mutate", "--write", "drafts", "cases")[2]
        == "permitry: 3 drafts in `drafts`: say in each why it matters\n"
    )
    drafts = sorted((folder / "drafts").glob("*.json"))
    assert test(*drafts)[0] == 1
    for path in drafts:
        path.write_text(path.read_text().replace('"why": ""', '"why": "it matters"'))
    assert test(*drafts)[0] == 0
    assert test("--mutate", "cases", *drafts)[1] == "8 of 8 mutants noticed (100.0 %)\n"


@for_each(
    ("option", "least", "code"),
    [("--coverage", 25, 0), ("--coverage", 26, 1), ("--mutate", 12, 0), ("--mutate", 13, 1)],
)
def test_too_little_fails(test: Test, option: str, least: int, code: int) -> None:
    """Of a hundred sides, or mutants."""
    assert test(option, "--fail-under", str(least), "cases")[0] == code


def test_json_has_all_of_it(test: Test) -> None:
    """One object; that of mutants has the drafts as well."""
    found: dict[str, Any] = json.loads(test("--coverage", "--json", "cases")[1])
    assert (found["matched"], found["sides"], found["tried"], len(found["rules"])) == (1, 12, 3, 2)
    found = json.loads(test("--mutate", "--json", "cases")[1])
    assert (found["noticed"], found["missed"], len(found["mutants"]), len(found["cases"])) == (1, 7, 8, 3)
    assert found["mutants"][0]["by"] == "cases/pays.json"


def test_what_does_not_hold_comes_first(test: Test, folder: Path) -> None:
    """Of cases that fail it says nothing what they try."""
    (folder / "cases/pays.json").write_text(json.dumps(CASE).replace('"allow"', '"block"'))
    code, out, _ = test("--coverage", "cases")
    assert code == 1
    assert out.splitlines()[-1] == "1 passed, 1 failed"
    assert "sides" not in out


def test_rules_of_shipped_sets_count_where_one_is_named(cli: Callable[..., Outcome], folder: Path) -> None:
    """Who extends a set tests their own rules."""
    (folder / "rules.toml").write_text(RULES.replace("schema = 1", 'schema = 1\nextends = ["permitry:plan"]'))
    assert "of 2 rules matched" in cli("test", "--rules", "rules.toml", "--coverage")[1]
    assert "of 2 rules matched" not in cli("test", "--rules", "rules.toml", "--rules", "permitry:plan", "--coverage")[1]


@for_each(
    ("words", "message"),
    [
        (["--coverage"], "name the rules"),
        (["--session", "a"], "go with"),
        (["--fail-under", "9"], "go with"),
        (["--rules", "rules.toml", "--coverage", "--write", "a"], "--write goes with --mutate"),
        (["--rules", "rules.toml", "--coverage", "--mutate"], "not allowed with"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    cli: Callable[..., Outcome], folder: Path, words: list[str], message: str
) -> None:
    """Nothing is tested."""
    code, out, err = cli("test", *words)
    assert (code, out) == (4, "")
    assert message in err
    assert folder.is_dir()
