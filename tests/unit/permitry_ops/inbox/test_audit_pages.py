"""The page of the record."""

from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.inboxes import Browser
from tests.unit.permitry_ops.inbox.people import ANN, EVE
from tests.unit.permitry_ops.inbox.probes import PROBES
from tests.unit.permitry_ops.inbox.records import keep

from permitry.audit.record import JsonlRecorder, StoredRecorder
from permitry.core.call import ToolCall
from permitry.store.records import records_at
from permitry.store.sqlite import SqliteStore
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.app import InboxApp
from permitry_ops.inbox.audit_pages import FILTERS, MOST, audit_page, version_of, wanted


def page_of(records: list[Any], **query: str) -> str:
    """Return the page of records."""
    return audit_page(records, query, Login(ANN, 0.0, csrf="c"), version="v")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a record with some events."""
    path = tmp_path / "audit.jsonl"
    keep(path)
    return path


@for_each("probe", PROBES)
def test_a_probe_in_every_field_changes_no_page(tmp_path: Path, probe: str) -> None:
    """Neither in a record nor in what is asked for."""

    def tags(text: str, name: str) -> object:
        keep(tmp_path / name, text)
        records = list(records_at(tmp_path / name, wanted({})))
        return read(page_of(records, **dict.fromkeys(FILTERS, text))).tags

    assert tags(probe, "a.jsonl") == tags("word", "b.jsonl")


def test_the_newest_event_is_the_first(path: Path) -> None:
    """With time, outcome, tool, rule and arguments."""
    text = read(page_of(list(records_at(path, wanted({}))))).text
    assert "5 events, the newest first." in text
    assert text.index("approved") < text.index("asked") < text.index("decided")


def test_a_result_in_place_of_the_tools_is_no_rejection() -> None:
    """Nor an approval."""
    record = {"number": 1, "event": "answered", "approved": False, "responded": True}
    assert "responded" in read(page_of([record])).text


def test_events_are_filtered(path: Path) -> None:
    """As `permitry audit query` does, and the form keeps what was asked for."""
    for query, count in (
        ({}, 5),
        ({"verdict": "block"}, 1),
        ({"tool": "other"}, 0),
        ({"text": "word"}, 2),
        ({"since": "2026-w"}, 1),
    ):
        assert len(list(records_at(path, wanted(query)))) == count, query
    page = page_of([], verdict="block", tool='a"b', until="")
    assert '<option value="block" selected>' in page
    assert 'value="a&quot;b"' in page
    assert 'data-live="/audit/events?tool=a%22b&amp;verdict=block"' in page


def test_so_many_events_are_shown(path: Path) -> None:
    """The last hundred."""
    keep(path, count=40)
    records = list(records_at(path, wanted({})))
    assert len(records) == MOST
    assert "The last 100 events" in page_of(records)


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
            versions.append(version_of(path))
        recorder.close()
        assert len(set(versions)) == 3
    assert version_of(tmp_path / "nothing") == ""


def test_both_roles_see_the_record(app: InboxApp, path: Path) -> None:
    """And no one else; without a record there are no events."""
    with_record = attrs.evolve(app, record=path)
    assert Browser(with_record).get("/audit").status_code == 303
    for user in (ANN, EVE):
        browser = Browser(with_record).log_in(user)
        assert "5 events" in browser.get("/audit").text
        assert "1 events" in browser.get("/audit?verdict=block").text
    for record in (None, path.with_name("nothing")):
        assert "0 events" in Browser(attrs.evolve(app, record=record)).log_in(ANN).get("/audit").text
