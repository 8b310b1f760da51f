"""`permitry rules`: the table of what is in force."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.tables import for_each

from permitry.cli._row import COLUMNS, Row
from permitry.cli.tables import rule_table
from permitry.config.catalogue import find_shipped
from permitry.config.layers import find_layers

Outcome = tuple[int, str, str]
Objects = Callable[[str], list[dict[str, Any]]]

RULES = """schema = 1
extends = ["permitry:base"]

[[rule]]
id = "late"
effect = "allow"
priority = 320
tools = ["send_mail"]

[[rule]]
id = "logs"
effect = "allow"
tools = ["@shell"]
when.command = ["git log *", "git show *"]
unless = [{ agent = "guest", mode = "x" }, { attended = false }]
budget = { calls = 3, per = "1h" }
match = ["git log -3", { command = "git show" }]

[[rule]]
id = "marks"
tools = ["web_fetch"]
adds_label = "web"

[[rule]]
id = "args"
effect = "confirm"
tools = ["search"]
when.args.limit = { gt = 100 }
match = [{ args = { limit = 101 } }]
"""
_NEW_RULE = """[[rule]]
id = "new-and-with-a-much-longer-name-than-any-other"
effect = "block"
tools = ["new"]

"""
KEYS = ["rule", "phase", "priority", "effect", "about", "layer", "source", "examples"]
BUILT_IN = ["present-plan", "plan-mode", "read-only", "template", "yolo", "ignore-list"]


@pytest.fixture
def listed(
    cli: Callable[..., Outcome], objects: Objects, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], list[dict[str, Any]]]:
    """Return a function that lists `RULES` as JSON."""
    monkeypatch.chdir(workspace)
    Path("rules.toml").write_text(RULES, encoding="utf-8")

    def run() -> list[dict[str, Any]]:
        code, out, err = cli("rules", "--rules", "rules.toml", "--json")
        assert (code, err) == (0, "")
        return objects(out)

    return run


def test_rules_stand_in_the_order_of_evaluation(listed: Callable[[], list[dict[str, Any]]]) -> None:
    """All rules of the policy are there, built-in ones included, by phase and priority."""
    rows = [row for row in listed() if row["priority"] is not None]
    assert [row["priority"] for row in rows] == sorted(row["priority"] for row in rows)
    assert [row["rule"] for row in rows if row["source"] == "built-in"] == BUILT_IN
    assert {row["phase"] for row in rows} == {"override", "restriction", "permission"}
    assert [row["rule"] for row in rows][-4:] == ["logs", "yolo", "ignore-list", "late"]


def test_a_rule_is_reported_in_full(listed: Callable[[], list[dict[str, Any]]]) -> None:
    """A machine gets what the rule is about, where it is and its examples."""
    (row,) = (row for row in listed() if row["rule"] == "logs")
    unless = "unless mode x and agent guest; unless attended false"
    about = f"@shell; command git log *, git show *; {unless}; budget calls 3, per 1h, by session"
    assert list(row) == KEYS
    assert row == {
        "rule": "logs", "phase": "permission", "priority": 250, "effect": "allow", "about": about,
        "layer": "rules.toml", "source": "rules.toml:10", "examples": ["git log -3", "git show"],
    }  # fmt: skip


def test_conditions_on_arguments_are_reported(listed: Callable[[], list[dict[str, Any]]]) -> None:
    """A table of operators is shown as it is."""
    (row,) = (row for row in listed() if row["rule"] == "args")
    assert row["about"] == 'search; args {"limit": {"gt": 100}}'
    assert row["examples"] == ["{...}"]


def test_a_rule_that_only_labels_is_there(listed: Callable[[], list[dict[str, Any]]]) -> None:
    """It decides nothing, so it is behind the others, without a priority."""
    row = listed()[-1]
    assert (row["rule"], row["phase"], row["priority"], row["effect"]) == ("marks", "after", None, "label web")
    assert row["source"] == "rules.toml:19"


def test_the_rules_of_shipped_sets_say_so(listed: Callable[[], list[dict[str, Any]]]) -> None:
    """What a file extends is in its own layer when it is shipped."""
    rows = {row["rule"]: row["layer"] for row in listed()}
    assert (rows["ask-payment"], rows["late"], rows["yolo"]) == ("shipped", "rules.toml", "built-in")


def test_every_rule_of_the_layers_has_its_layer(
    cli: Callable[..., Outcome], objects: Objects, workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without names the layers are listed, each rule with its own; a file counts for who extends it."""
    monkeypatch.chdir(workspace)
    text = 'schema = 1\n[[rule]]\nid = "{0}"\neffect = "block"\ntools = ["{0}"]\n'
    for name, path in (
        ("mine", home / "permitry/rules.toml"),
        ("more", home / "permitry/more.toml"),
        ("theirs", workspace / ".permitry/rules.toml"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(("" if name != "mine" else 'extends = ["more.toml"]\n') + text.format(name), encoding="utf-8")
    (workspace / "admin.toml").write_text(text.format("admins"), encoding="utf-8")
    monkeypatch.setattr("permitry.config.named.writable_by_others", lambda _: None)
    monkeypatch.setattr(
        "permitry.cli.inputs.find_layers", lambda folder: find_layers(folder, admin_file=workspace / "admin.toml")
    )
    rows = {row["rule"]: row["layer"] for row in objects(cli("rules", "--json")[1])}
    assert [rows[name] for name in ("mine", "more", "theirs", "admins", "ask-payment")] == [
        "user", "user", "project", "admin", "shipped",
    ]  # fmt: skip


def test_what_was_dropped_is_reported_below(
    cli: Callable[..., Outcome], objects: Objects, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A permission of a project that is not trusted is not in force, and the notice says so."""
    monkeypatch.chdir(workspace)
    Path(".permitry").mkdir()
    text = 'schema = 1\n[[rule]]\nid = "wish"\neffect = "allow"\ntools = ["x"]\n'
    Path(".permitry/rules.toml").write_text(text, encoding="utf-8")
    *rows, last = objects(cli("rules", "--json")[1])
    assert "wish" not in [row["rule"] for row in rows]
    assert list(last) == ["notice"]
    assert "permission `wish` dropped" in last["notice"]
    assert "permission `wish` dropped" in cli("rules")[1].splitlines()[-1]
    code, _, err = cli("rules", "--rule", "wish")
    assert code == 4
    assert "there is no rule `wish` in force; " in err
    assert "permission `wish` dropped" in err


def test_the_table_has_a_line_a_rule(cli: Callable[..., Outcome]) -> None:
    """What goes to another program is not folded."""
    code, out, _ = cli("rules", "--rules", "permitry:coding-agent")
    head, *lines = out.splitlines()
    assert code == 0
    assert head.split() == ["phase", "priority", "id", "effect", "about", "layer", "source", "examples"]
    assert [line.split("\t")[2] for line in lines] == [
        json.loads(line)["rule"] for line in cli("rules", "--rules", "permitry:coding-agent", "--json")[1].splitlines()
    ]


def test_a_rule_that_comes_changes_no_other_line(
    cli: Callable[..., Outcome], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `diff` shows what changed; without places, which move."""
    monkeypatch.chdir(workspace)
    old, new = RULES, RULES.replace("[[rule]]", _NEW_RULE + "[[rule]]", 1)
    for words in ([], ["--json"]):
        listed = []
        for text in (old, new):
            Path("rules.toml").write_text(text, encoding="utf-8")
            listed.append(cli("rules", "--rules", "rules.toml", "--no-source", *words)[1].splitlines())
        assert len(set(listed[1]) - set(listed[0])) == 1
        assert set(listed[0]) < set(listed[1])


@for_each(
    ("words", "ids"),
    [
        (["--rule", "late"], ["late"]),
        (["--rule", "late", "--rule", "marks"], ["late", "marks"]),
        (["--layer", "built-in"], ["ignore-list", "plan-mode", "present-plan", "read-only", "template", "yolo"]),
        (["--layer", "rules.toml"], ["args", "late", "logs", "marks"]),
        (["--layer", "rules.toml", "--rule", "late", "--rule", "yolo"], ["late"]),
        (["--layer", "admin"], []),
    ],
)
@pytest.mark.usefixtures("listed")
def test_some_rules_are_asked_for(
    cli: Callable[..., Outcome], objects: Objects, words: list[str], ids: list[str]
) -> None:
    """By id, by layer, or both."""
    code, out, _ = cli("rules", "--rules", "rules.toml", "--json", *words)
    assert (code, sorted(row["rule"] for row in objects(out))) == (0, ids)


@for_each(
    ("words", "said"),
    [
        (["--rule", "lat"], "there is no rule `lat` in force; did you mean `late`?"),
        (["--rule", "qqqqqq"], "there is no rule `qqqqqq` in force; `permitry rules` lists all"),
        (["--layer", "usr"], "there is no layer `usr` in force; did you mean `user`?"),
    ],
)
@pytest.mark.usefixtures("listed")
def test_what_is_not_there_is_an_error(cli: Callable[..., Outcome], words: list[str], said: str) -> None:
    """An empty answer would read as that of a rule that does nothing."""
    code, out, err = cli("rules", "--rules", "rules.toml", *words)
    assert (code, out) == (4, "")
    assert said in err


def test_rules_that_do_not_load_are_refused(cli: Callable[..., Outcome]) -> None:
    """There is no policy to show."""
    assert cli("rules", "--rules", "nowhere.toml")[0] == 4


@pytest.mark.parametrize("name", ["permitry:publishing", "publishing"])
def test_the_text_of_a_shipped_set_is_printed(cli: Callable[..., Outcome], name: str) -> None:
    """To read it, or to copy a rule of it into a file of one's own."""
    assert cli("rules", "--show", name) == (0, find_shipped("permitry:publishing").read_text(encoding="utf-8"), "")


def test_the_text_of_no_shipped_set_is_refused(cli: Callable[..., Outcome]) -> None:
    """A file of the reader's own they can look at themselves."""
    code, out, err = cli("rules", "--show", "publishng")
    assert (code, out) == (4, "")
    assert "there is no shipped rule set `permitry:publishng`; did you mean `permitry:publishing`?" in err


def _drawn(row: Row, width: int) -> str:
    stream = io.StringIO()
    rule_table(Console(file=stream, width=width, force_terminal=True, color_system=None), [row], COLUMNS)
    return stream.getvalue()


@for_each(("width", "expected"), [(150, "2: first, second"), (100, "2"), (80, "2")])
def test_a_wide_terminal_shows_examples(width: int, expected: str) -> None:
    """A narrow one shows how many there are, and folds names instead of cutting them."""
    row = Row("a-rule", "permission", 250, "allow", "x" * 200, "user", "rules.toml:1", ("first", "second"))
    drawn = _drawn(row, width)
    lines = drawn.splitlines()
    assert lines[1].rstrip().endswith(expected)
    assert ("first" in drawn) is (width == 150)
    assert max(map(len, lines)) <= width


def test_invisible_characters_in_the_table_are_shown() -> None:
    """A rule file must not steer the terminal."""
    row = Row("a-rule", "permission", 250, "allow", "a\x1bb", "a\x1bc", "a\x1bd:1", ("a\x1be",))
    assert "\x1b" not in _drawn(row, 200)


def test_what_happens_to_unmatched_calls_is_the_last_line(
    cli: Callable[..., Outcome], objects: Objects, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its place, as `explain` shows it; a file that does not say it has no such line."""
    monkeypatch.chdir(workspace)
    Path("rules.toml").write_text('schema = 1\n[policy]\nunmatched = "block"\n', encoding="utf-8")
    row = objects(cli("rules", "--rules", "rules.toml", "--json")[1])[-1]
    assert [row[key] for key in KEYS] == [
        "unmatched", "default", None, "block", "every call that no rule matches", "rules.toml", "rules.toml:3", [],
    ]  # fmt: skip
    explained = cli("explain", "--rules", "rules.toml", "--tool", "t")[1]
    assert "decided by  no rule  (default, rules.toml:3)" in explained
    assert "No rule permits this call" in explained
    assert cli("lint", "--rules", "rules.toml")[0] == 0
