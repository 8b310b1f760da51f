"""`permitry replay`."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

from permitry.store.records import record_name, store_at

_RULES = 'schema = 1\n[[rule]]\nid = "says"\neffect = "{effect}"\ntools = ["say"]\n'


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return two rule files, which allow and block, and two sessions."""
    for effect in ("allow", "block"):
        (tmp_path / f"{effect}.toml").write_text(_RULES.format(effect=effect))
    for name in ("one", "two"):
        lines = [{"name": "say", "arguments": {}}, {"name": "look_at", "arguments": {}}]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [str(tmp_path / name) for name in ("allow.toml", "block.toml", "one.jsonl", "two.jsonl")]


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sessions_are_replayed(cli: Callable[..., Outcome], files: list[str], workers: str) -> None:
    """In one process or in several, with the same counts."""
    allow, _, *sessions = files
    code, out, _ = cli("replay", *sessions, "--rules", allow, "--workers", workers, "--json")
    counted = json.loads(out)
    assert code == 0
    assert (counted["calls"], counted["sessions"], counted["verdicts"]) == (4, 2, {"allow": 2, "confirm": 2})
    assert counted["rules"][0] == {"rule": "says", "verdict": "allow", "calls": 2, "first": f"{sessions[0]}:1"}


def test_a_change_of_rules_is_shown(cli: Callable[..., Outcome], files: list[str], tmp_path: Path) -> None:
    """As tables, with the first call of each kind."""
    allow, block, *sessions = files
    picture = tmp_path / "a.svg"
    code, out, _ = cli("replay", *sessions, "--rules", block, "--against", allow, "--plot", str(picture))
    assert code == 0
    assert out.endswith("\ncalls that are decided otherwise: 0 looser, 2 stricter\n")
    assert "4 calls of 2 sessions" in out
    assert f"allow   block  say   says      2  {sessions[0]}:1" in out
    assert "sessions that would lose a call: 2 of 2" in out
    assert picture.exists()


def test_without_a_change_there_is_no_table_of_changes(cli: Callable[..., Outcome], files: list[str]) -> None:
    """Only of rules and tools."""
    allow, _, *sessions = files
    _, out, _ = cli("replay", *sessions, "--rules", allow, "--against", allow)
    assert "what changes" not in out
    assert "by rule" in out


@pytest.mark.parametrize(
    ("rules", "words", "code"),
    [
        ((0, 1), [], 1),
        ((0, 1), ["--fail-on", "looser"], 1),
        ((0, 1), ["--fail-on", "any"], 1),
        ((0, 1), ["--fail-on", "none"], 0),
        ((1, 0), [], 0),
        ((1, 0), ["--fail-on", "looser"], 0),
        ((1, 0), ["--fail-on", "any"], 1),
        ((0, 0), ["--fail-on", "any"], 0),
    ],
)
def test_a_looser_verdict_fails(
    cli: Callable[..., Outcome], files: list[str], rules: tuple[int, int], words: list[str], code: int
) -> None:
    """Unless something else is asked for."""
    now, before = rules
    found, out, _ = cli("replay", files[2], "--rules", files[now], "--against", files[before], *words, "--json")
    counted = json.loads(out)
    assert found == code
    assert (counted["looser"], counted["stricter"]) == (int(now < before), int(now > before))


def test_without_other_rules_nothing_is_looser(cli: Callable[..., Outcome], files: list[str]) -> None:
    """Messages have no decisions, so that what is to fail cannot be found."""
    code, out, err = cli("replay", files[2], "--rules", files[0], "--fail-on", "looser")
    assert (code, out) == (4, "")
    assert "`--fail-on looser` needs `--against`" in err


def test_a_record_is_compared_with_its_own_decisions(
    cli: Callable[..., Outcome], workspace: Path, tmp_path: Path
) -> None:
    """Which makes the command fail where that is asked for."""
    record, rules = tmp_path / "audit.db", tmp_path / "loose.toml"
    rules.write_text(_RULES.format(effect="allow").replace('"say"', '"run_shell"'))
    call = json.dumps({"name": "run_shell", "arguments": {"command": "rm x"}})
    places = ["--workspace", workspace, "--record", record, "--unattended", "block"]
    cli("run", "-", "--rules", "permitry:coding-agent", *places, stdin=f"{call}\n")
    code, out, _ = cli("replay", record, "--rules", rules)
    assert (code, out.splitlines()[-1]) == (0, "calls that are decided otherwise: 1 looser, 0 stricter")
    assert cli("replay", record, "--rules", rules, "--fail-on", "looser")[0] == 1


def test_a_pipe_is_read_once(cli: Callable[..., Outcome], files: list[str], tmp_path: Path) -> None:
    """Its first line is not lost to a look at what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", files[2], pipe]):
        _, out, _ = cli("replay", pipe, "--rules", files[0], "--json")
    assert json.loads(out)["calls"] == 2


def test_bad_input_names_its_place(cli: Callable[..., Outcome], files: list[str], tmp_path: Path) -> None:
    """A line of a session, rules, or a file that is not there."""
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{\n")
    code, _, err = cli("replay", str(bad), "--rules", files[0])
    assert (code, f"{bad}:1" in err) == (4, True)
    for words in (["--rules", files[0], str(tmp_path / "none.jsonl")], ["--rules", str(bad), files[2]]):
        code, _, err = cli("replay", *words)
        assert code == 4
        assert "none.jsonl" in err or "bad.jsonl" in err


def test_a_cluster_gives_the_same_figures(files: list[str], tmp_path: Path) -> None:
    """Two workers of Ray, on this machine."""
    allow, block, *sessions = files
    words = [sys.executable, "-m", "permitry", "replay", "--rules", block, "--against", allow, "--json", *sessions]
    ways: tuple[list[str], ...] = ([], ["--workers", "2"], ["--workers", "2", "--ray"])
    runs = [subprocess.run([*words, *way], cwd=tmp_path, capture_output=True, text=True, check=True) for way in ways]
    figures = [{**json.loads(run.stdout), "seconds": 0} for run in runs]
    assert (figures[0]["calls"], figures[0]["sessions_with_a_loss"]) == (4, {"block": 2})
    assert figures[0] == figures[1] == figures[2]


@pytest.mark.parametrize(
    "way", [["--workers", "2"], pytest.param(["--workers", "2", "--ray"], marks=pytest.mark.large)]
)
def test_a_worker_finds_no_file(files: list[str], tmp_path: Path, way: list[str]) -> None:
    """It is an error as it is without workers."""
    words = [sys.executable, "-m", "permitry", "replay", "--rules", files[0], *files[2:], "none.jsonl", *way]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (4, "")
    assert "none.jsonl" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_cluster_cannot_read_standard_input(cli: Callable[..., Outcome], files: list[str]) -> None:
    """A worker has another one."""
    code, _, err = cli("replay", "-", "--rules", files[0], "--ray")
    assert code == 4
    assert "standard input" in err


@pytest.mark.parametrize("name", ["audit.jsonl", "audit.db", "postgres"])
def test_a_record_is_replayed(
    cli: Callable[..., Outcome], workspace: Path, tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    """With the same rules to the same decisions, with others to what they change."""
    record = str(tmp_path / name)
    calls = [("write_file", {"path": "a.txt", "content": "x"}), ("run_shell", {"command": "ls"})]
    calls.append(("write_file", {"path": "b.txt", "content": "password=hunter2"}))
    lines = "".join(json.dumps({"name": tool, "arguments": each}) + "\n" for tool, each in calls)
    places = ["--workspace", workspace, "--record", record, "--unattended", "block"]
    cli("run", "-", "--rules", "permitry:coding-agent", *places, stdin=lines)
    if name == "postgres":
        lines, record = Path(record).read_text(), request.getfixturevalue("postgres").new()
        with contextlib.closing(store_at(record)) as store:
            store.append(*lines.splitlines())
    _, out, _ = cli("replay", record, "--rules", "permitry:coding-agent", "--workspace", workspace, "--json")
    same = json.loads(out)
    assert (same["verdicts"], same["changes"]) == ({"confirm": 1, "allow": 1}, [])
    # A store has the record of the rules as well.
    number = 9 if name == "audit.db" else 8
    assert [(each["calls"], each["first"]) for each in same["unjudged"]] == [(1, f"{record_name(record)}:{number}")]
    _, out, _ = cli("replay", record, "--rules", "permitry:read-only", "--workspace", workspace)
    assert "confirm  block  write_file  block-writes      1" in out
    assert "its arguments were recorded without secrets" in out
