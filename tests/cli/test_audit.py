"""`permitry audit`."""

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
import pytest
from tests.cli.conftest import Outcome
from tests.postgres import Cluster
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.store.chain import Head
from permitry.store.policies import PolicyUses
from permitry.store.records import recorder_at, store_at
from permitry.store.sqlite import SqliteStore

RULE = '[[rule]]\nid = "{0}"\neffect = "allow"\ntools = ["{0}"]\n'
RULES = f"schema = 1\n{RULE.format('used')}{RULE.format('unused')}"


def fill(path: Path | str) -> Path | str:
    """Return a record with three calls."""
    recorder = recorder_at(str(path), session="s1")
    for number, verdict in enumerate(("allow", "confirm", "block"), 1):
        call = ToolCall("look", call_id=f"c{number}")
        recorder.record("decided", call, verdict=verdict, rule="used", arguments={"path": f"a{number}.txt"})
    recorder.record("answered", ToolCall("look", call_id="c2"), approved=True)
    recorder.record("finished", ToolCall("look", call_id="c2"), outcome="ok", seconds=0.1)
    recorder.close()
    return path


@pytest.fixture(params=["audit.jsonl", "permitry.db", "postgres"])
def record(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Return a record of each kind."""
    is_address = request.param == "postgres"
    return fill(request.getfixturevalue("postgres").new() if is_address else tmp_path / str(request.param))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a record in a store."""
    path = tmp_path / "permitry.db"
    fill(path)
    return path


@pytest.fixture
def address(postgres: Cluster) -> str:
    """Return the address of a record in a PostgreSQL."""
    return str(fill(postgres.new()))


Cli = Callable[..., Outcome]


def test_the_last_records_are_lines(cli: Cli, record: Path | str) -> None:
    """What was decided, answered, or how it ended, with tool, rule and arguments."""
    code, out, _ = cli("audit", "tail", "--record", record, "-n", 4)
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert [(line[0], *line[2:5]) for line in lines] == [
        ("2", "decided", "confirm", "look"), ("3", "decided", "block", "look"), ("4", "answered", "approved", "look"),
        ("5", "finished", "ok", "look"),
    ]  # fmt: skip
    assert lines[0][5:] == ["[used]", '{"path":', '"a2.txt"}']


def test_a_line_says_who_answered_what(cli: Cli, tmp_path: Path) -> None:
    """An approval, a rejection, or a result in place of the tool's."""
    path = tmp_path / "audit.jsonl"
    answers: list[dict[str, object]] = [{"approved": True}, {"approved": False}, {"approved": False, "responded": True}]
    path.write_text("".join(json.dumps({"event": "answered", "tool": "look", **each}) + "\n" for each in answers))
    for number, kind in enumerate(("approved", "rejected", "responded"), 1):
        (found,) = cli("audit", "query", "--record", path, "--json", "--answer", kind)[1].splitlines()
        assert json.loads(found)["number"] == number
    lines = cli("audit", "tail", "--record", path)[1].splitlines()
    assert [line.split()[2] for line in lines] == ["approved", "rejected", "responded"]


def test_what_a_tool_is_called_cannot_draw_on_the_terminal(cli: Cli, tmp_path: Path) -> None:
    """A record is data."""
    path = tmp_path / "audit.jsonl"
    path.write_text(
        json.dumps({"event": "decided", "tool": "a\x1b[2Jb\nc", "arguments": {"x": "\x9b2J\u202eä"}}) + "\n"
    )
    _, out, _ = cli("audit", "tail", "--record", path)
    assert out.count("\n") == 1
    _, shown, _ = cli("audit", "show", "1", "--record", path)
    assert "ä" in shown
    assert not {"\x1b", "\x9b", "\u202e"} & {*out, *shown}


def test_a_call_is_shown_in_full(cli: Cli, record: Path | str) -> None:
    """By its id or the number of one of its records."""
    _, out, _ = cli("audit", "show", "c2", "--record", record, "--json")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["decided", "answered", "finished"]
    _, out, _ = cli("audit", "show", "3", "--record", record)
    assert json.loads(out)["arguments"] == {"path": "a3.txt"}
    code, _, err = cli("audit", "show", "c9", "--record", record)
    assert (code, "no call `c9`" in err) == (4, True)


def test_records_are_asked_for(cli: Cli, record: Path | str) -> None:
    """The exit code says whether there are any."""
    code, out, _ = cli("audit", "query", "--record", record, "--verdict", "block", "--since", "1h", "--json")
    assert (code, [json.loads(line)["number"] for line in out.splitlines()]) == (0, [3])
    code, out, _ = cli("audit", "query", "--record", record, "--text", "a2.txt", "--tool", "look")
    assert (code, out.count("\n")) == (0, 1)
    for words in (("--tool", "other"), ("--until", "2020-01-01"), ("--since", "2100-01-01T10:00+02:00")):
        assert cli("audit", "query", "--record", record, *words)[:2] == (1, "")
    assert cli("audit", "query", "--store", record, "--verdict", "block")[0] == 0
    code, _, err = cli("audit", "query", "--record", record, "--since", "5 days")
    assert (code, "not a time" in err) == (4, True)


def test_records_are_asked_for_by_what_they_would_do(cli: Cli, tmp_path: Path) -> None:
    """By agent, path and host, as far as it is recorded."""
    path = tmp_path / "audit.db"
    recorder = recorder_at(str(path))
    recorder.begin(workspace="/w")
    for number, agent in enumerate(("main", "helper", "helper")):
        call = ToolCall("write_file", {"path": f"/w/src/{number}.txt", "content": ""})
        recorder.record("decided", call, agent=agent, arguments=call.to_dict())
    recorder.close()
    for words, numbers in (
        (("--agent", "helper"), [3, 4]),
        (("--path", "src/**"), [2, 3, 4]),
        (("--path", "src/**", "-n", "1"), [4]),
        (("--path", "src/1.txt", "--agent", "helper"), [3]),
        (("--agent", "helper", "-n", "1"), [4]),
    ):
        _, out, _ = cli("audit", "query", "--record", path, "--json", *words)
        assert [json.loads(line)["number"] for line in out.splitlines()] == numbers
    assert cli("audit", "query", "--record", path, "--host", "example.com")[0] == 1


@pytest.fixture(params=["audit.jsonl", "permitry.db", "postgres"])
def story(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a record of six calls: allowed, approved, rejected, granted twice, and blocked."""
    is_address = request.param == "postgres"
    place = str(request.getfixturevalue("postgres").new() if is_address else tmp_path / str(request.param))
    recorder = recorder_at(place, session="s1")
    recorder.begin(workspace="/w")
    calls = {
        "allowed": ("allow", "ours", None), "approved": ("confirm", "ours", {"approved": True, "by": "ann"}),
        "rejected": ("confirm", "ours", {"approved": False, "by": "bob"}), "granted": ("allow", "grant-a1", None),
        "answered": ("confirm", "ours", {"approved": True, "grant": "b2"}), "blocked": ("block", "granted-not", None),
    }  # fmt: skip
    for name, (verdict, rule, answer) in calls.items():
        call = ToolCall("write_file", {"path": f"src/{name}", "content": ""}, call_id=name)
        version = "v2" if name == "blocked" else "v1"
        details = {"verdict": verdict, "rule": rule, "policy_version": version, "agent": "main"}
        recorder.record("decided", call, **details, arguments=call.to_dict())
        if answer is not None:
            recorder.record("answered", call, **answer)
        if verdict == "allow" or (answer or {}).get("approved"):
            recorder.record("started", call)
            recorder.record("finished", call, outcome="failed" if name == "approved" else "ok", seconds=0.1)
    recorder.close()
    return place


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--answer", "approved"), ["approved", "answered"]),
        (("--answer", "rejected"), ["rejected"]),
        (("--by", "ann"), ["approved"]),
        (("--grant",), ["granted", "answered"]),
        (("--grant", "a1"), ["granted"]),
        (("--grant", "b2"), ["answered"]),
        (("--grant", "a"), []),
        (("--unasked",), ["allowed", "granted", "answered"]),
        (("--unasked", "-n", "1"), ["answered"]),
        (("--policy", "v2"), ["blocked"]),
        (("--outcome", "failed"), ["approved"]),
        (("--changing", "src/a*", "--verdict", "confirm"), ["approved", "answered"]),
        (("--changing", "src/a*", "--path", "src/allowed"), ["allowed"]),
    ],
)
def test_an_auditor_is_answered(cli: Cli, story: str, words: tuple[str, ...], names: list[str]) -> None:
    """Who approved, what a grant let run, what no one was asked about: in each kind of record."""
    _, out, _ = cli("audit", "query", "--record", story, "--json", *words)
    assert [json.loads(line)["call_id"] for line in out.splitlines()] == names


@pytest.fixture(params=["audit.jsonl", "permitry.db"])
def sessions(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a record of two sessions: one in plan mode, and one in which ann has edited a call."""
    path = tmp_path / str(request.param)
    for name, folder, mode in (("ann", "/w/shop", "plan"), ("bob", "/w/docs", "default")):
        recorder = recorder_at(str(path), session=name)
        recorder.begin(user=name, principal=f"team-{name}", workspace=folder)
        for tool, file in (("write_file", "src/a.py"), ("write_file", "README"), ("read_file", "src/a.py")):
            call = ToolCall(tool, {"path": file}, call_id=f"{name}-{tool}-{file}")
            recorder.record("decided", call, verdict="confirm", mode=mode, agent="main", arguments=call.to_dict())
        recorder.close()
    first, last = (ToolCall("write_file", {"path": name}, call_id="edited") for name in ("x", "src/b.py"))
    recorder = recorder_at(str(path), session="bob")
    recorder.record("decided", first, verdict="confirm", mode="default", arguments=first.to_dict())
    recorder.record("answered", first, approved=True, edited=True, by="ann")
    recorder.record("decided", last, verdict="allow", edited=True, arguments=last.to_dict())
    recorder.close()
    return path


@for_each(
    ("words", "numbers"),
    [
        (("--mode", "plan"), [2, 3, 4]),
        (("--user", "ann"), [1, 2, 3, 4]),
        (("--principal", "team-bob", "--tool", "read_file"), [8]),
        (("--workspace", "/w/docs", "-n", "2"), [10, 11]),
        (("--workspace", "/w/docs/../shop/", "--user", "ann", "--event", "decided"), [2, 3, 4]),
        (("--user", "ann", "--workspace", "/w/docs"), []),
        (("--not-changing", "src/**"), [3, 4, 7, 8, 9]),
        (("--not-changing", "src/**", "-n", "2"), [8, 9]),
        (("--not-path", "src/**"), [3, 7, 9]),
        (("--not-tool", "write_file", "--event", "decided"), [4, 8]),
        (("--not-tool", "write_file", "--not-path", "src/**"), []),
        (("--changing", "src/**", "--not-path", "src/a.py"), [11]),
        (("--edited",), [10, 11]),
        (("--edited", "--by", "ann"), [10]),
        (("--edited", "--calls"), [9, 10, 11]),
        (("--user", "bob", "--tool", "write_file", "--not-changing", "src/**", "--calls"), [7]),
        (("--not-tool", "write_file", "--calls"), [4, 8]),
    ],
)
def test_an_auditor_leaves_things_out(cli: Cli, sessions: Path, words: tuple[str, ...], numbers: list[int]) -> None:
    """And asks for what a session began with; a call counts with all that was decided of it."""
    out = cli("audit", "query", "--record", sessions, "--json", *words)[1]
    assert [json.loads(line)["number"] for line in out.splitlines()] == numbers


def test_a_call_is_left_out_by_what_was_recorded_before(cli: Cli, sessions: Path) -> None:
    """Whatever time is asked for."""
    words = ["audit", "query", "--record", sessions, "--json", "--since", "2100-01-01"]
    record = json.dumps({"at": "2100-01-02", "event": "finished", "session": "ann", "tool": "t", "call_id": "ann-x"})
    decided = {
        "event": "decided",
        "session": "ann",
        "tool": "write_file",
        "call_id": "ann-x",
        "arguments": {"path": "src/a"},
    }
    lines = [
        json.dumps({"at": "2026-11-23", **decided}),
        json.dumps({"at": "2100-01-02", **decided, "arguments": {"path": "b"}}),
    ]
    if sessions.suffix == ".db":
        with contextlib.closing(store_at(sessions)) as store:
            store.append(*lines, record)
    else:
        with sessions.open("a") as file:
            file.write("\n".join([*lines, record]) + "\n")
    assert cli(*words, "--calls")[0] == 0
    assert cli(*words, "--calls", "--not-path", "src/**")[0] == 1


def test_an_id_that_is_chosen_again_is_another_call(cli: Cli, tmp_path: Path) -> None:
    """A model chooses ids: what no one was asked about must not hide behind a question; an edit is the call it was."""
    place = str(tmp_path / "audit.jsonl")
    recorder = recorder_at(place, session="s1")

    def record(path: str, *events: str, **details: object) -> None:
        for event in events:
            recorder.record(event, ToolCall("write_file", {"path": path}, call_id="c1"), **details)

    record("a", "decided", "asked")
    record("a", "answered", approved=True, by="ann", edited=True)
    record("b", "decided", edited=True)
    record("b", "started", "finished")
    record("c", "decided", "started", "finished")
    recorder.close()
    for words, numbers in ((("--unasked",), [7, 8, 9]), (("--by", "ann"), [1, 2, 3, 4, 5, 6])):
        _, out, _ = cli("audit", "query", "--record", place, "--json", "--calls", *words)
        assert [json.loads(line)["number"] for line in out.splitlines()] == numbers


def test_options_about_several_records_of_a_call_meet_in_the_call(cli: Cli, story: str) -> None:
    """Each holds for one of them; all records of such calls are printed, of the last so many."""
    words = ("--path", "src/a*", "--by", "ann", "--outcome", "failed")
    assert cli("audit", "query", "--record", story, *words)[0] == 1
    _, out, _ = cli("audit", "query", "--record", story, "--json", "--calls", *words)
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["event"] for record in records] == ["decided", "answered", "started", "finished"]
    assert {record["call_id"] for record in records} == {"approved"}
    for more, names in (
        (("--unasked", "--rule", "ours"), {"allowed", "answered"}), (("-n", "2"), {"answered", "blocked"}),
        (("--text", "rejected"), {"rejected"}), (("--until", "2020-01-01"), set()), (("-n", "0"), set()),
    ):  # fmt: skip
        _, out, _ = cli("audit", "query", "--record", story, "--json", "--calls", *more)
        assert {json.loads(line)["call_id"] for line in out.splitlines()} == names


def test_a_line_says_who_answered_and_what_is_about_no_call(cli: Cli, story: str) -> None:
    """The session begins with its workspace."""
    _, out, _ = cli("audit", "query", "--record", story)
    lines = [" ".join(line.split()[2:]) for line in out.splitlines()]
    assert '"workspace": "/w"' in lines[0]
    assert "answered approved write_file [by ann]" in lines
    assert "answered approved write_file [grant-b2]" in lines


def test_records_are_exported(cli: Cli, record: Path, tmp_path: Path) -> None:
    """Those that are asked for, as JSON lines or Parquet; a file is replaced."""
    code, out, _ = cli("audit", "export", "--record", record, "--verdict", "block")
    assert (code, [json.loads(line)["number"] for line in out.splitlines()]) == (0, [3])
    for name in ("a.jsonl", "a.parquet", "a.jsonl"):
        code, out, _ = cli("audit", "export", "--record", record, "-o", tmp_path / name, "--json")
        assert (code, json.loads(out)) == (0, {"exported": 5})
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 5
    assert (tmp_path / "a.parquet").read_bytes().startswith(b"PAR1")
    code, out, _ = cli("audit", "export", "--record", record, "--tool", "other", "-o", tmp_path / "a.jsonl")
    assert (code, "0 records" in out) == (1, True)
    code, _, err = cli("audit", "export", "--record", record, "-o", tmp_path / "none" / "a.jsonl")
    assert (code, "cannot write" in err) == (4, True)


def test_a_record_is_not_written_over_by_itself(cli: Cli, store: Path) -> None:
    """It would be empty before it is read."""
    before = store.read_bytes()
    code, _, err = cli("audit", "export", "--record", store, "-o", store.parent / "." / store.name)
    assert (code, "is the record itself" in err, store.read_bytes()) == (4, True, before)


def test_a_record_is_counted(cli: Cli, record: Path | str, tmp_path: Path) -> None:
    """As tables, with the rules that decided nothing, or as JSON."""
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    code, out, _ = cli("audit", "stats", "--record", record, "--rules", rules)
    assert code == 0
    assert "3 decisions in 1 sessions" in out
    unused = [line.split() for line in out.splitlines()[-3:]]
    assert unused == [["rules", "that", "have", "decided", "nothing"], ["in", "rules"], [str(rules), "unused"]]
    assert {"used", "unused"} <= {
        line.split()[0] for line in out.partition("slowest rules now")[2].splitlines() if line
    }
    _, out, _ = cli("audit", "stats", "--record", record, "--json", "--rules", rules, "--plot", tmp_path / "a.svg")
    assert "unused" in (tmp_path / "a.svg").read_text()
    assert json.loads(out)["unused_rules"] == ["unused"]
    assert {each["rule"] for each in json.loads(out)["rule_seconds"]} == {"used", "unused"}
    _, out, _ = cli("audit", "stats", "--record", record, "--json", "--verdict", "block")
    assert json.loads(out)["verdicts"] == {"block": 1}


def test_stats_of_a_hostile_record_steer_no_terminal(cli: Cli, tmp_path: Path) -> None:
    """Nor are they read as markup."""
    record = tmp_path / "audit.jsonl"
    record.write_text(
        json.dumps({"event": "decided", "verdict": "[/]\x1b[2J", "tool": "\x1b[2J", "rule": "[/x]"}) + "\n"
    )
    code, out, _ = cli("audit", "stats", "--record", record)
    assert (code, "\x1b" in out) == (0, False)
    assert "[/]\\u001b[2J 1" in out


def test_a_store_is_verified(cli: Cli, store: Path, tmp_path: Path) -> None:
    """Against its own chain, and against what was noted elsewhere before."""
    heads = tmp_path / "heads.jsonl"
    code, out, _ = cli("audit", "verify", "--record", store, "--anchor", heads)
    assert (code, out.startswith("5 records, none changed")) == (0, True)
    fill(store)
    assert cli("audit", "verify", "--record", store, "--anchor", heads)[0] == 0
    assert [json.loads(line)["number"] for line in heads.read_text().splitlines()] == [5, 10]
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE record SET body = json_set(body, '$.verdict', 'allow') WHERE number = 3")
    connection.close()
    code, out, _ = cli("audit", "verify", "--record", store, "--anchor", heads, "--json")
    assert (code, json.loads(out)["number"]) == (1, 3)
    assert cli("audit", "verify", "--record", store)[1].startswith("record 3: it is not as it was written")
    assert len(heads.read_text().splitlines()) == 2
    store.unlink()
    fill(store)
    code, out, _ = cli("audit", "verify", "--record", store, "--anchor", heads)
    assert (code, "noted elsewhere" in out) == (1, True)
    heads.write_text("nothing\n")
    assert cli("audit", "verify", "--record", store, "--anchor", heads)[0] == 4


def test_a_chain_as_long_as_the_one_that_was_noted_is_not_taken_for_it(cli: Cli, store: Path, tmp_path: Path) -> None:
    """Whoever writes a chain again need not make it longer; and its end is not noted."""
    heads = tmp_path / "heads.jsonl"
    assert cli("audit", "verify", "--record", store, "--anchor", heads)[0] == 0
    store.unlink()
    fill(store)
    code, out, _ = cli("audit", "verify", "--record", store, "--anchor", heads)
    assert (code, "noted elsewhere" in out) == (1, True)
    assert len(heads.read_text().splitlines()) == 1


def test_a_head_is_sent_elsewhere(cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To an address and into a file at once; what was not taken makes the command fail."""
    sent: list[tuple[str, object]] = []
    monkeypatch.setattr(
        "permitry.cli.audit_heads.send_head", lambda address, head: sent.append((address, head["number"]))
    )
    heads, address = tmp_path / "heads.jsonl", "https://notary.example/heads"
    words = ["audit", "verify", "--record", store, "--anchor", address, "--anchor", heads]
    assert cli(*words)[0] == 0
    assert sent == [(address, json.loads(heads.read_text())["number"])]
    monkeypatch.undo()
    code, _, err = cli("audit", "verify", "--record", store, "--anchor", "http://notary.example/")
    assert (code, "is not `https://`" in err) == (4, True)


def test_a_head_that_is_noted_was_verified(
    cli: Cli, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was added meanwhile was not."""
    verify = SqliteStore.verify

    def verified(self: SqliteStore, anchors: Sequence[Head], uses: PolicyUses) -> int:
        count = verify(self, anchors, uses)
        fill(store)
        return count

    monkeypatch.setattr(SqliteStore, "verify", verified)
    assert cli("audit", "verify", "--record", store, "--anchor", tmp_path / "heads")[0] == 0
    assert json.loads((tmp_path / "heads").read_text())["number"] == 5


def test_old_records_are_forgotten(cli: Cli, store: Path) -> None:
    """And the rest can be verified."""
    assert cli("audit", "prune", "--older-than", "1d", "--record", store, "--json")[:2] == (
        0,
        '{"pruned": 0, "questions": 0, "grants": 0}\n',
    )
    code, out, _ = cli("audit", "prune", "--older-than", "2100-01-01", "--record", store)
    assert (code, out) == (0, "5 records, 0 closed questions and 0 grants are forgotten\n")
    assert cli("audit", "verify", "--record", store)[1].startswith("1 records, none changed")


def test_a_record_of_the_future_stops_no_pruning_unseen(cli: Cli, tmp_path: Path) -> None:
    """The user says up to where its clock was wrong."""
    path = tmp_path / "state" / "permitry.db"
    store = SqliteStore(path)
    for year in (2020, 2199, 2021):
        store.append(json.dumps({"at": f"{year}-01-01T00:00:00.000+00:00", "event": "decided"}))
    store.close()
    code, out, err = cli("audit", "prune", "--older-than", "90d", "--record", path)
    assert (code, out) == (0, "1 records, 0 closed questions and 0 grants are forgotten\n")
    assert "1 older records are left behind record 2" in err
    code, out, err = cli("audit", "prune", "--older-than", "90d", "--record", path, "--through", "2", "--json")
    assert (code, json.loads(out)["pruned"], err) == (0, 2, "")
    path.chmod(0o640)
    for action in ("verify", "tail", "stats", "query"):
        assert cli("audit", action, "--record", path)[0] == 0
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("action", [("verify",), ("prune", "--older-than", "1d")])
def test_a_plain_file_cannot_be_verified(cli: Cli, tmp_path: Path, action: tuple[str, ...]) -> None:
    """Nothing in it would show a change; and a store that is not there is not made."""
    code, _, err = cli("audit", *action, "--record", fill(tmp_path / "a.jsonl"))
    assert (code, "record to a store" in err) == (4, True)
    code, _, err = cli("audit", *action, "--record", tmp_path / "b.db")
    assert (code, "there is no record" in err) == (4, True)
    assert not (tmp_path / "b.db").exists()


def test_the_default_is_the_store_and_older_records_are_pointed_out(cli: Cli, home: Path) -> None:
    """They are in the plain file that was the default before; nothing is said of it where a record is named."""
    before = fill(home / "permitry/audit.jsonl")
    code, out, err = cli("audit", "tail")
    assert (code, out) == (4, "")
    assert f"older records are in a plain file; read them with `--record {before}`" in err
    assert "there is no record" in err
    fill(home / "permitry/permitry.db")
    code, out, err = cli("audit", "tail")
    assert (code, out.count("\n"), err.count("older records")) == (0, 5, 1)
    assert cli("audit", "tail", "--record", before)[2] == ""


def test_new_records_are_followed(record: Path) -> None:
    """Until it is interrupted."""
    words = [sys.executable, "-m", "permitry", "audit", "tail", "--follow", "-n", "1", "--record", str(record)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[0] == "5"
        fill(record)
        assert [process.stdout.readline().split()[0] for _ in range(5)] == ["6", "7", "8", "9", "10"]
        process.terminate()


def test_a_run_is_recorded_in_a_store(cli: Cli, tmp_path: Path) -> None:
    """Where the name of the record ends in `.db`."""
    (tmp_path / "work").mkdir()
    session = '{"id": "c1", "name": "list_files", "arguments": {"password": "canary-7"}}\n'
    record = tmp_path / "permitry.db"
    cli("run", "-", "--rules", "permitry:base", "--workspace", tmp_path / "work", "--record", record, stdin=session)
    _, out, _ = cli("audit", "query", "--event", "decided", "--record", record, "--json")
    assert json.loads(out)["arguments"] == {"password": "[redacted]"}
    assert cli("audit", "verify", "--record", record)[0] == 0
    assert all(b"canary-7" not in each.read_bytes() for each in tmp_path.glob("permitry.db*"))


def test_a_record_in_postgresql_is_verified_and_pruned(cli: Cli, address: str, tmp_path: Path) -> None:
    """As one in a file is; its head is noted elsewhere."""
    anchor = tmp_path / "heads"
    code, out, _ = cli("audit", "verify", "--record", address, "--anchor", anchor)
    head = json.loads(anchor.read_text())["hash"]
    assert (code, out) == (0, f"5 records, none changed; the last is 5: {head}\n")
    with psycopg.connect(address) as server:
        server.execute("UPDATE permitry.record SET body = '{}' WHERE number = 2")
    code, out, _ = cli("audit", "verify", "--record", address)
    assert (code, out) == (1, "record 2: it is not as it was written, or one before it was\n")
    code, out, _ = cli("audit", "prune", "--record", address, "--older-than", "2100-01-01")
    assert (code, out) == (0, "5 records, 0 closed questions and 0 grants are forgotten\n")


@pytest.mark.parametrize("action", ["tail", "verify"])
def test_a_password_in_an_address_is_not_shown(cli: Cli, action: str) -> None:
    """Nor is one made where there is none."""
    code, out, err = cli("audit", action, "--record", "postgresql://u:hunter2@127.0.0.1:1/db?connect_timeout=2")
    assert code == 4
    assert "host=127.0.0.1 port=1 dbname=db" in err
    assert "hunter2" not in out + err
