"""`permitry explain`: why a call is decided as it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

Outcome = tuple[int, str, str]
Objects = Callable[[str], list[dict[str, Any]]]

RULES = ("--rules", "permitry:coding-agent")
EXPLAIN = ("explain", *RULES)
DECIDED = ["id", "verdict", "rule", "phase", "reason", "message", "source", "errors", "origins"]
TRACED = [
    "rule",
    "phase",
    "priority",
    "effect",
    "outcome",
    "deciding",
    "source",
    "near_miss",
    "unless",
    "error",
    "lists",
    "origins",
]
LAST = ["programs", "digest"]
BUILT_IN = {"present-plan", "plan-mode", "read-only", "template", "yolo", "ignore-list"}


def test_the_deciding_rule_is_reported_with_its_line(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """A human reads the verdict, the rule, its file and line, the reason, and what the model is shown."""
    code, out, err = cli(*EXPLAIN, "--call", asked("git_push"))
    lines = out.splitlines()
    assert (code, err) == (2, "")
    assert lines[0] == "block  git_push"
    assert lines[1] == "  decided by  block-publish  (restriction, permitry:releasing:8)"
    assert lines[2] == "  reason      publishes what cannot be taken back"
    assert lines[3].startswith("  message     Publishing is left to the user.")


def test_the_line_is_that_of_the_rule(
    cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects, tmp_path: Path
) -> None:
    """The source points at the head of the rule's table in the file the user named."""
    path = tmp_path / "rules.toml"
    rules = [
        '[[rule]]\nid = "other"\neffect = "block"\ntools = ["b"]\n',
        '[[rule]]\nid = "mine"\neffect = "block"\ntools = ["a"]\n',
    ]
    path.write_text("\n".join(["# a rule file\nschema = 1\n", *rules]))
    (shown,) = objects(cli("explain", "--rules", path, "--json", "--call", asked("a"))[1])
    assert shown["source"] == f"{path}:9"


def test_all_matches_and_near_misses_are_reported(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """Besides the deciding rule a human reads the other matches, and what kept a rule from matching."""
    call = asked("delete_publish_run", context={"yolo_mode": True})
    _, out, _ = cli(*EXPLAIN, "--call", call)
    _, matches = out.split("  matches\n")
    assert matches.splitlines() == [
        "    160 confirm ask-deletion  (permitry:destructive:20)  decided",
        "    300 allow   yolo  (built-in)",
    ]


def test_what_nearly_permitted_a_call_is_reported(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """A human reads what to change so that the call runs."""
    _, out, _ = cli("explain", "--call", asked("write_note"))
    (near,) = out.split("  near misses\n")[1].splitlines()
    assert near == "    300 allow   yolo  (built-in)  would have matched, but yolo_mode = false"


def test_an_allowed_call_tells_the_model_nothing(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """When the call is allowed there is no line about what the model is shown."""
    code, out, _ = cli(*EXPLAIN, "--call", asked("read_file"))
    assert code == 0
    assert "decided by  read-only  (permission, built-in)" in out
    assert "  message " not in out


def test_the_default_is_reported_as_such(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """When no rule matches, the default decided, and there are no matches to list."""
    code, out, _ = cli(*EXPLAIN, "--call", asked("write_file"))
    assert code == 3
    assert "  decided by  no rule  (default)" in out
    assert "  matches" not in out


def test_a_failing_restriction_is_reported(
    cli: Callable[..., Outcome], asked: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restriction that fails decides like a match, and its error is in the list and below it."""

    def failing(*_: object) -> bool:
        raise LookupError("no such thing")

    monkeypatch.setattr("permitry.rules.plan_mode.PlanModeBlockingRule.matches", failing)
    code, out, _ = cli(*EXPLAIN, "--call", asked("read_file"))
    assert code == 2
    assert "plan-mode  (built-in)  failed, so it counts as matched: LookupError: no such thing" in out
    assert out.splitlines()[-1] == "  error       plan-mode: LookupError: no such thing"


def test_json_holds_every_rule_in_order(
    cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects
) -> None:
    """With `--json` the decision is followed by every rule looked at, in the order of evaluation."""
    code, out, _ = cli(*EXPLAIN, "--json", "--call", asked("mcp:docs/search", id=5))
    (shown,) = objects(out)
    assert (code, shown["id"], list(shown)) == (3, 5, [*DECIDED, "agent", "rules", "actions", "declaration", *LAST])
    assert all(list(rule) == TRACED for rule in shown["rules"])
    assert {rule["rule"] for rule in shown["rules"]} > BUILT_IN | {"ask-payment", "ask-servers-in-plan", "allow-notes"}
    priorities = [rule["priority"] for rule in shown["rules"]]
    assert priorities == sorted(priorities)


def test_json_tells_near_misses(cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects) -> None:
    """A rule that matched but for the mode says so."""
    _, out, _ = cli(*EXPLAIN, "--json", "--call", asked("mcp:docs/search"))
    near = {rule["rule"]: rule["near_miss"] for rule in objects(out)[0]["rules"] if rule["near_miss"]}
    assert near["ask-servers-in-plan"] == "mode = default (expected: plan)"


def test_one_rule_decides(cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects) -> None:
    """Exactly the rule the decision names is marked as deciding."""
    _, out, _ = cli(*EXPLAIN, "--json", "--call", asked("delete_repo", context={"mode": "plan"}))
    shown = objects(out)[0]
    assert [rule["rule"] for rule in shown["rules"] if rule["deciding"]] == [shown["rule"]] == ["plan-mode"]


def test_an_invalid_line_is_explained(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """A line that is not a valid call is a block with its error, and the next line is explained."""
    code, out, _ = cli(*EXPLAIN, "--calls", "-", stdin=f"[]\n{asked('read_file')}\n")
    assert code == 4
    assert out.startswith("block  ?\n  decided by  no rule  (input)\n")
    assert "  error       line 1: a line is a JSON object" in out
    assert "allow  read_file" in out


@for_each("name", ["read_file", "write_file", "run_shell", "git_push", "mcp:docs/search", "send_money"])
@for_each("context", [{}, {"mode": "plan"}, {"yolo_mode": True}, {"template": "edit"}])
def test_check_and_explain_agree(
    cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects, name: str, context: dict[str, object]
) -> None:
    """For one call `check` and `explain` give the same decision and the same exit code."""
    call = asked(name, context=context)
    checked, answer, _ = cli("check", *RULES, "--json", "--call", call)
    explained, shown, _ = cli(*EXPLAIN, "--json", "--call", call)
    assert explained == checked
    assert {key: objects(shown)[0][key] for key in objects(answer)[0]} == objects(answer)[0]


@for_each("order", [(0, 1), (1, 0)])
def test_check_and_explain_agree_on_a_batch(
    cli: Callable[..., Outcome], asked: Callable[..., str], order: tuple[int, int]
) -> None:
    """Of a block and a confirmation both commands report the block."""
    calls = [asked("permitry_trust"), asked("send_money")]
    words = ("--rules", "permitry:base", "--calls", "-")
    batch = "\n".join(calls[i] for i in order)
    assert cli("check", *words, stdin=batch)[0] == cli("explain", *words, stdin=batch)[0] == 2


def test_a_long_line_is_not_folded(
    cli: Callable[..., Outcome], asked: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is reported can be searched line by line, however narrow the terminal."""
    monkeypatch.setenv("COLUMNS", "20")
    _, out, _ = cli(*EXPLAIN, "--call", asked("git_push"))
    assert "  reason      publishes what cannot be taken back\n" in out


def test_json_is_one_object_a_line(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """Two calls give two lines."""
    _, out, _ = cli(*EXPLAIN, "--json", "--calls", "-", stdin=f"{asked('a')}\n{asked('b')}\n")
    assert [list(json.loads(line))[-1] for line in out.splitlines()] == ["digest", "digest"]


PAGES = """schema = 1
[[rule]]
id = "pages"
effect = "allow"
tools = ["save_page", "send"]
when.path = "pages/**"
"""


def test_a_tool_that_is_not_declared_is_shown_with_its_declaration(
    cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects, workspace: Path
) -> None:
    """To paste into a rule file; then the permission counts."""
    rules = workspace / "pages.toml"
    rules.write_text(PAGES, encoding="utf-8")
    call = asked("save_page", {"file": "pages/a.md", "text": "hello"})
    _, out, _ = cli("explain", "--rules", rules, "--call", call)
    assert "would have matched, but it is not declared what the arguments of `save_page` are\n" in out
    *_, head, name, role = out.splitlines()
    assert head == "  declare the tool, in a rule file"
    _, out, _ = cli("explain", "--rules", rules, "--call", call, "--json")
    assert objects(out)[0]["declaration"] == f"{name.strip()}\n{role.strip()}"
    rules.write_text(f"{PAGES}{name}\n{role}\n", encoding="utf-8")
    code, out, _ = cli("explain", "--rules", rules, "--call", call)
    assert (code, "declare" in out) == (0, False)


@for_each(
    ("tool", "arguments"),
    [("send", {"text": "hello"}), ("other", {"file": "pages/a.md"}), ("send", {"url": "a.example"})],
)
def test_a_declaration_is_shown_only_where_a_permission_needs_it(
    cli: Callable[..., Outcome], asked: Callable[..., str], workspace: Path, tool: str, arguments: dict[str, str]
) -> None:
    """Neither for other tools, nor where no argument looks like what the permission is about."""
    rules = workspace / "pages.toml"
    rules.write_text(PAGES, encoding="utf-8")
    assert "declare" not in cli("explain", "--rules", rules, "--call", asked(tool, arguments))[1]


def test_it_says_where_values_come_from(
    cli: Callable[..., Outcome], asked: Callable[..., str], objects: Objects, tmp_path: Path
) -> None:
    """Of a rule that matched as well; also what is no source of the rule, and that the user did not write it."""
    path = tmp_path / "rules.toml"
    rule = '[[rule]]\nid = "pays"\neffect = "allow"\ntools = ["pay"]\nwhen.args.to.from = ["look#iban"]\n'
    path.write_text(f"schema = 1\n{rule}")
    results = [
        {"tool": "look", "arguments": {}, "result": {"iban": "AT11"}},
        {"tool": "page", "arguments": {}, "result": "Pay AT11!"},
    ]
    call = asked("pay", {"to": "AT11"}, context={"heard": ["Pay them."], "results": results})
    assert cli("explain", "--rules", path, "--call", call)[1].splitlines()[-2:] == [
        "  values",
        '    `to` = "AT11" occurs in look #1, field `iban` and in page #2; not in the user\'s messages',
    ]
    (shown,) = objects(cli("explain", "--rules", path, "--json", "--call", call)[1])
    (rule,) = [each for each in shown["rules"] if each["origins"]]
    assert rule["origins"] == [
        {
            "argument": "to",
            "value": '"AT11"',
            "places": ["look #1, field `iban`", "page #2"],
            "is_said": False,
            "words": None,
        }
    ]


def test_it_says_by_which_record_of_a_program_a_call_was_read(
    cli: Callable[..., Outcome], objects: Objects, tmp_path: Path
) -> None:
    """Besides the results for a human, and in the JSON; nothing of programs that permitry itself knows."""
    path = tmp_path / "rules.toml"
    path.write_text('schema = 1\n[program.ours]\noperands = "read*"\n', encoding="utf-8")
    explain = ("explain", "--rules", str(path), "--tool", "run_shell")
    _, _, err = cli(*explain, "--arg", "command=timeout 5 ours a | wc")
    assert err == f"permitry: what `ours` does is said in {path}:2\n"
    _, out, _ = cli(*explain, "--json", "--arg", "command=ours a")
    assert objects(out)[0]["programs"] == [{"name": "ours", "source": f"{path}:2", "is_trusted": True}]
    _, out, err = cli(*explain, "--json", "--arg", "command=wc a")
    assert (objects(out)[0]["programs"], err) == ([], "")
