"""The page of the record."""

from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.people import ANN
from tests.unit.permitry_ops.inbox.probes import PROBES
from tests.unit.permitry_ops.inbox.records import keep

from permitry_ops.inbox.access import Login
from permitry_ops.inbox.audit_pages import audit_page
from permitry_ops.inbox.record_view import FILTERS, CallRow, RecordView, Rows


def page_of(found: Rows, **query: str) -> str:
    """Return the page of rows."""
    return audit_page(found, query, Login(ANN, 0.0, csrf="c"), version="v")


def row(*following: dict[str, Any], **head: Any) -> str:  # noqa: ANN401 -- fields of a record
    """Return the words of the page of one call."""
    decided = {"event": "decided", "at": "2026-11-23T10:00:00.000+00:00", "session": "s", **head}
    return " | ".join(read(page_of(Rows([CallRow(decided, following)]))).text)


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
        found = RecordView(tmp_path / name).rows({})
        return read(page_of(found, **dict.fromkeys(FILTERS, text))).tags

    assert tags(probe, "a.jsonl") == tags("word", "b.jsonl")


def test_a_call_is_one_row(path: Path) -> None:
    """With time, what happened, the call, the rule and the session; a card on a phone names each of them."""
    page = page_of(RecordView(path).rows({}))
    assert page.count("<tr>") == 3
    assert "2 calls and other events, the newest first." in page
    for name in ("Time (UTC)", "What happened", "Call", "Rule", "Session"):
        assert f'<th scope="col">{name}</th>' in page
        assert page.count(f'<td data-name="{name}"><div>') == 2


@for_each("verdict, following, said")
def test_a_row_says_what_happened(verdict: str, following: list[dict[str, Any]], said: str) -> None:
    """From the decision to the end."""
    assert f"| {said} |" in row(*following, verdict=verdict)


def test_a_call_is_shown_as_people_say_it() -> None:
    """Another event with what else it says."""
    assert "| npm publish |" in row(verdict="block", tool="Bash", arguments={"command": "npm publish"})
    assert '| {"problems": ["x"]} |' in row(event="reloaded", problems=["x"])
    assert "| approved by ann |" in row(event="answered", approved=True, by="ann")


def test_the_form_keeps_what_was_asked_for() -> None:
    """And so do the events, and the links to other pages."""
    page = page_of(Rows([], older=7), verdict="block", tool='a"b', until="", odd="x")
    assert '<option value="block" selected>' in page
    assert 'value="a&quot;b"' in page
    assert 'data-live="/audit/events?tool=a%22b&amp;verdict=block"' in page
    assert 'href="/audit?tool=a%22b&amp;verdict=block&amp;before=7"' in page
    assert "<details open>" in page
    assert "Newest" not in page


def test_an_older_page_leads_back_and_stays_as_it_is() -> None:
    """New events are on the newest page."""
    page = page_of(Rows([]), before="7", tool="t")
    assert 'href="/audit?tool=t"' in page
    assert "data-live" not in page
    assert "Older" not in page
    assert "Nothing is on record." in page


def test_a_row_says_what_an_observed_rule_would_have_done() -> None:
    """Where that is something else."""
    would = {"verdict": "block", "rule": "no"}
    assert "| allowed, would be blocked by no, which is observed |" in row(verdict="allow", would=would)
    assert "| asked, would be blocked by no, which is observed |" in row(verdict="confirm", would=would)
    assert "| blocked |" in row(verdict="block", would=would)
