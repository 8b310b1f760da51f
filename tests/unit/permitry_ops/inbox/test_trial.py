"""Rules that are tried: what is decided, what a change permits, and what is never read, written or started."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.decision import Verdict
from permitry.errors import ConfigError, PermitryError
from permitry_ops.diff.openings import TIME
from permitry_ops.inbox.trial import Asked, Start, Trial

HEAD = "schema = 1\n"
BLOCK = '[[rule]]\nid = "no-push"\neffect = "block"\nreason = "publishes"\nwhen.command = ["git push *"]\n'
ALLOW = '[[rule]]\nid = "tests"\neffect = "allow"\nwhen.command = ["pytest *"]\n'
START = Start(HEAD + BLOCK)


def asked(rules: str, command: str = "git push origin", **more: Any) -> Asked:  # noqa: ANN401 -- fields of each kind
    """Return what asks about a command."""
    return Asked(rules, command=command, **{"workspace": "/srv/p", **more})


def test_a_command_is_decided_and_explained() -> None:
    """As `permitry check` and `permitry explain` do it, with the place in the text."""
    outcome = Trial(START, asked(START.text)).decide()
    assert (outcome.problems, outcome.invalid) == ((), "")
    assert outcome.decision == outcome.before
    assert outcome.decision is not None
    assert (outcome.decision.verdict, outcome.decision.source) == (Verdict.BLOCK, "<rules>:2")
    assert "  decided by  no-push  (restriction, <rules>:2)" in map(str, outcome.lines)


def test_a_tool_is_decided_in_a_mode() -> None:
    """With its arguments in JSON, and none where nothing is written."""
    write = asked(HEAD, is_tool=True, tool="write_file", arguments='{"path": "a"}', mode="plan")
    decision = Trial(START, write).decide().decision
    assert decision is not None
    assert (decision.verdict, decision.rule_id) == (Verdict.BLOCK, "plan-mode")
    assert Trial(START, asked(HEAD, is_tool=True, tool="look")).decide().invalid == ""


def test_what_was_decided_before_is_known() -> None:
    """A change is about this call, too."""
    outcome = Trial(START, asked(HEAD)).decide()
    assert outcome.before is not None
    assert outcome.decision is not None
    assert (outcome.before.verdict, outcome.decision.verdict) == (Verdict.BLOCK, Verdict.CONFIRM)


def test_problems_are_at_their_places_and_nothing_is_decided() -> None:
    """Nor compared."""
    trial = Trial(START, asked(HEAD + BLOCK.replace("block", "blok")))
    [problem] = trial.decide().problems
    assert (problem.path, problem.line, problem.column) == ("<rules>", 4, 10)
    assert trial.decide().decision is None
    assert trial.compare() is None


@for_each(
    "more",
    [
        {"workspace": "p"}, {"workspace": ""}, {"mode": "Plann"}, {"is_tool": True, "tool": ""},
        {"is_tool": True, "tool": "a", "arguments": "[1]"}, {"is_tool": True, "tool": "a", "arguments": "{"},
        {"is_tool": True, "tool": "a", "arguments": "[" * 5_000},
    ],
)  # fmt: skip
def test_what_is_not_a_call_is_not_decided(more: dict[str, Any]) -> None:
    """It is said why."""
    outcome = Trial(START, asked(HEAD, **more)).decide()
    assert outcome.invalid
    assert outcome.decision is None


def test_a_change_shows_what_it_permits() -> None:
    """More, and less, each with a call."""
    report = Trial(START, asked(HEAD + ALLOW)).compare()
    assert report is not None
    assert {each.rule_id for each in report.wider} == {"no-push", "tests"}
    back = Trial(Start(HEAD + ALLOW), asked(HEAD)).compare()
    assert back is not None
    assert [each.rule_id for each in back.narrower] == ["tests"]


def test_what_takes_too_long_is_not_proven() -> None:
    """It is said, and nothing is called safe."""
    report = Trial(START, asked(HEAD + ALLOW)).compare(0.0)
    assert report is not None
    assert not report.assumptions
    assert {why for each in report.unproven for why in each.why} == {TIME}


def test_a_start_with_problems_is_compared_with_nothing() -> None:
    """The page is there all the same: it shows them."""
    trial = Trial(Start("x = 1\n"), asked(HEAD))
    assert trial.decide().before is None
    assert trial.decide().decision is not None
    assert trial.compare() is None


def test_a_file_is_changed_and_others_count_as_they_are(tmp_path: Path) -> None:
    """The first is the one on the page, with what it extends of its folder and, as it was, of elsewhere."""
    (tmp_path / "in").mkdir()
    (tmp_path / "up.toml").write_text(HEAD)
    (tmp_path / "other.toml").write_text(HEAD + BLOCK)
    first = tmp_path / "in" / "first.toml"
    first.write_text(HEAD + 'extends = ["../up.toml"]\n' + ALLOW)
    start = Start.read([str(first), str(tmp_path / "other.toml")], tmp_path)
    assert (start.text, start.name) == (first.read_text(), str(first))
    assert {first.parent, tmp_path / "up.toml"} <= set(start.within)
    assert [each.id for each in start.load(start.text).rules.rules] == ["tests", "no-push"]
    with pytest.raises(ConfigError, match=r"first.toml:2:12: `../other.toml` lies outside the folder of the rules"):
        start.load(HEAD + 'extends = ["../other.toml"]\n')


def test_a_shipped_set_is_extended(tmp_path: Path) -> None:
    """Its own text is not for others to change."""
    start = Start.read(["permitry:read-only"], tmp_path)
    assert start.text == 'schema = 1\nextends = ["permitry:read-only"]\n'
    assert start.load(start.text).rules.files[0] == "<rules>"
    with pytest.raises(ConfigError, match="did you mean"):
        Start.read(["permitry:read-onl"], tmp_path)


def test_without_a_name_it_is_the_file_of_the_project(tmp_path: Path) -> None:
    """Or what `permitry init` would write there."""
    start = Start.read([], tmp_path)
    assert "permitry:coding-agent" in start.text
    assert start.load(start.text).rules.rules
    (tmp_path / ".permitry").mkdir()
    (tmp_path / ".permitry" / "rules.toml").write_text(HEAD + BLOCK)
    assert Start.read([], tmp_path).text == HEAD + BLOCK


def test_what_cannot_be_read_is_no_start(tmp_path: Path) -> None:
    """The command ends with that."""
    (tmp_path / "binary").write_bytes(b"\xff")
    for name in ("nothing.toml", ".", "binary"):
        with pytest.raises(PermitryError, match="cannot be read"):
            Start.read([str(tmp_path / name)], tmp_path)


def test_too_many_rules_are_a_problem() -> None:
    """They would take longer than anyone waits."""
    with pytest.raises(ConfigError, match="is larger than 262144 bytes"):
        START.load("#" * 256 * 1024 + "\n")


@for_each(
    "extends",
    ["/etc/passwd", "../../../../../../etc/passwd", "~/.netrc", "secret.toml", "link.toml", "../secret.toml", "."],
)
def test_no_file_elsewhere_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extends: str) -> None:
    """Whatever is typed, and whether there is a file; what is in one is not shown."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.toml").write_text("password = hunter2\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.toml").symlink_to(tmp_path / "secret.toml")
    (tmp_path / "in" / "mine.toml").write_text(HEAD)
    starts = (
        [START] if extends == "secret.toml" else [START, Start.read([str(tmp_path / "in" / "mine.toml")], tmp_path)]
    )
    for start in starts:
        [problem] = Trial(start, asked(HEAD + f'extends = ["{extends}"]\n')).decide().problems
        assert problem.line == 2
        assert "hunter2" not in str(problem)


def test_no_link_on_the_disk_is_followed(tmp_path: Path) -> None:
    """What is typed cannot ask where links lead."""
    (tmp_path / "link").symlink_to("/etc")
    rules = HEAD + '[[rule]]\nid = "etc"\neffect = "block"\nwhen.path = ["/etc/**"]\n'
    for typed in (rules, rules + "enforce = false\n"):
        outcome = Trial(START, asked(typed, "cat link/hosts", workspace=str(tmp_path))).decide()
        assert outcome.decision is not None
        assert outcome.decision.verdict is Verdict.ALLOW
        assert "would" not in " ".join(map(str, outcome.lines))


_WATCHED = """
import json, sys
from permitry_ops.inbox.trial import Asked, Start, Trial
sys.dont_write_bytecode = True
events = []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        events.append(["write" if arguments[2] & 0o103 else "read", str(arguments[0])])
    elif event.startswith(("subprocess", "os.", "socket", "shutil", "sqlite3", "ctypes.dlopen")):
        if event not in ("os.listdir", "os.scandir", "os.walk"):
            events.append([event, str(arguments)])
given = json.load(sys.stdin)
start = Start.read([given["file"]], None)
sys.addaudithook(hook)
for command in given["commands"]:
    trial = Trial(start, Asked(given["rules"], command=command, workspace=given["workspace"]))
    trial.decide()
    trial.compare()
print(json.dumps(events))
"""


def test_nothing_is_run_written_or_read_elsewhere(tmp_path: Path) -> None:
    """As the interpreter itself reports what it opens and starts: its own modules, our rules, and the folder."""
    (tmp_path / "mine.toml").write_text(HEAD + 'extends = ["more.toml"]\n' + BLOCK)
    (tmp_path / "more.toml").write_text(HEAD + ALLOW)
    (tmp_path / "run.sh").write_text("touch made\n")
    commands = [
        "git push",
        "sh run.sh",
        "cat run.sh | sh",
        "tar xf a.tar",
        "git commit -am x",
        "python run.py",
        "./run.sh",
    ]
    rules = HEAD + 'extends = ["more.toml", "permitry:coding-agent"]\n' + ALLOW.replace("tests", "again")
    given = {"file": "mine.toml", "rules": rules, "commands": commands, "workspace": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-c", _WATCHED], input=json.dumps(given), capture_output=True, text=True, check=True,
        cwd=tmp_path, timeout=120, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    events = json.loads(result.stdout)
    assert ["read", str(tmp_path / "more.toml")] in [[kind, str(tmp_path / name)] for kind, name in events]
    assert [each for each in events if each[0] != "read"] == []
    ours = (str(tmp_path), *map(os.path.realpath, (sys.prefix, sys.base_prefix)), str(Path(__file__).parents[4]))
    read = {os.path.realpath(tmp_path / name) for _, name in events}
    assert [name for name in read if not name.startswith(ours) and not name.endswith(".pyc")] == []
    assert str(tmp_path / "run.sh") not in read
