"""What the pages show of the record."""

import json
from pathlib import Path

import attrs
import pytest
from tests.unit.permitry_ops.inbox.inboxes import Browser
from tests.unit.permitry_ops.inbox.people import ANN, EVE
from tests.unit.permitry_ops.inbox.records import keep

from permitry.audit.record import JsonlRecorder, StoredRecorder
from permitry.cli.stats import Stats
from permitry.core.call import ToolCall
from permitry.store.records import recorder_at
from permitry.store.sqlite import SqliteStore
from permitry_ops.inbox.app import InboxApp
from permitry_ops.inbox.record_view import MOST, RecordView


@pytest.fixture(params=["audit.jsonl", "audit.db", "postgres"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a place for a record, of each kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres").new())
    return str(tmp_path / request.param)


def call_at(path: str, *events: str, name: str = "c1", session: str = "s", tool: str = "t") -> None:
    """Keep events of a call."""
    recorder = recorder_at(path, session=session)
    for event in events:
        details = {"verdict": "confirm", "arguments": {"x": name}} if event == "decided" else {}
        recorder.record(event, ToolCall(tool, {}, call_id=name), **details)
    recorder.close()


def shown(view: RecordView, **query: str) -> list[tuple[str, list[str]]]:
    """Return the calls of the rows, with what came behind their decisions."""
    return [(str(row.head["call_id"]), [str(each["event"]) for each in row.following]) for row in view.rows(query).rows]


def test_a_call_is_one_row(path: str) -> None:
    """What came behind the decision is in it, also where only decisions are asked for; ids repeat in sessions."""
    call_at(path, "decided", "asked")
    call_at(path, "decided", "started", session="other")
    call_at(path, "answered", "decided", "started", "finished")
    expected = [("c1", ["started", "finished"]), ("c1", ["started"])]
    view = RecordView(path)
    assert [len(row.following) for row in view.rows({}).rows] == [4, 1]
    assert [(name, following[-2:]) for name, following in shown(view)] == [
        ("c1", ["started", "finished"]),
        ("c1", ["started"]),
    ]
    assert [following[-2:] for _, following in shown(view, verdict="confirm")] == [each for _, each in expected]


def test_events_are_filtered(path: str) -> None:
    """By each of the fields; an event by its name is a row of its own."""
    call_at(path, "decided", "asked", name="c1", tool="one")
    call_at(path, "decided", "asked", name="c2", tool="two")
    view = RecordView(path)
    for query, count in (
        ({}, 2), ({"tool": "one"}, 1), ({"verdict": "block"}, 0), ({"text": "c2"}, 1), ({"since": "2100"}, 0),
        ({"until": "2000"}, 0), ({"event": "asked"}, 2), ({"session": "s", "tool": "two"}, 1), ({"before": "2"}, 1),
        ({"before": "x"}, 2), ({"before": "9" * 40}, 2),
    ):  # fmt: skip
        assert len(view.rows(query).rows) == count, query


def test_pages_follow_each_other(path: str) -> None:
    """Each call is on one of them, and what came behind it as well."""
    recorder = recorder_at(path, session="s")
    for number in range(MOST * 2 + 1):
        for event in ("decided", "started"):
            recorder.record(event, ToolCall("t", {}, call_id=f"c{number}"))
    recorder.close()
    view, before, seen = RecordView(path), "", list[tuple[str, list[str]]]()
    for count in (MOST, MOST, 1):
        found = view.rows({"before": before})
        assert len(found.rows) == count
        seen += shown(view, before=before)
        before = str(found.older)
    assert before == "None"
    assert seen == [(f"c{number}", ["started"]) for number in reversed(range(MOST * 2 + 1))]


def test_what_is_not_a_call_is_a_row(tmp_path: Path) -> None:
    """Such as a session that begins, half a line, and a call without an id."""
    path = tmp_path / "a.jsonl"
    recorder = JsonlRecorder(str(path), session="s")
    recorder.begin(user="ann")
    recorder.record("decided", ToolCall("t", {}))
    recorder.close()
    with path.open("a") as file:
        file.write("{half\n")
    assert [row.head["event"] for row in RecordView(path).rows({}).rows] == ["unreadable", "decided", "session"]


def test_each_event_is_counted_once(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For all who look; what comes later is added."""
    counted: list[object] = []
    add = Stats.add

    def count(stats: Stats, record: dict[str, object]) -> None:
        counted.append(record)
        add(stats, record)

    monkeypatch.setattr(Stats, "add", count)
    call_at(path, "decided", "asked")
    view = RecordView(path)
    assert [view.stats().calls for _ in range(3)] == [1, 1, 1]
    call_at(path, "decided", name="c2")
    assert view.stats().calls == 2
    assert len(counted) == 3


def test_a_record_that_was_cut_or_forgotten_is_counted_again(tmp_path: Path) -> None:
    """What is gone is not counted."""
    path = tmp_path / "a.jsonl"
    call_at(str(path), "decided", "decided", "decided")
    view = RecordView(path)
    assert view.stats().calls == 3
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    assert view.stats().calls == 1

    call_at(str(tmp_path / "a.db"), "decided", "decided")
    view = RecordView(tmp_path / "a.db")
    assert view.stats().calls == 2
    store = SqliteStore(tmp_path / "a.db")
    store.prune("2100-01-01", json.dumps({"at": "2026-01-01", "event": "pruned"}))
    store.close()
    assert view.stats().calls == 0


def test_the_version_is_another_one_after_each_event(tmp_path: Path) -> None:
    """In a file, and in a store, which writes next to its own."""
    call = ToolCall("t", {})
    for recorder in (
        JsonlRecorder(str(tmp_path / "a.jsonl")),
        StoredRecorder(SqliteStore(tmp_path / "a.db"), session="s"),
    ):
        path = tmp_path / ("a.jsonl" if isinstance(recorder, JsonlRecorder) else "a.db")
        versions = []
        for _ in range(3):
            recorder.record("decided", call)
            versions.append(RecordView(path).version)
        recorder.close()
        assert len(set(versions)) == 3
    assert RecordView(tmp_path / "nothing").version == RecordView().version == ""


def test_both_roles_see_the_record(app: InboxApp, tmp_path: Path) -> None:
    """And no one else; without a record there are no events."""
    keep(tmp_path / "audit.jsonl")
    with_record = attrs.evolve(app, record=RecordView(tmp_path / "audit.jsonl"))
    assert Browser(with_record).get("/audit").status_code == 303
    for user in (ANN, EVE):
        browser = Browser(with_record).log_in(user)
        assert "2 calls and other events" in browser.get("/audit").text
        assert "1 calls and other events" in browser.get("/audit?verdict=block").text
    for record in (None, tmp_path / "nothing"):
        changed = attrs.evolve(app, record=RecordView(record))
        assert "0 calls" in Browser(changed).log_in(ANN).get("/audit").text
