"""The page of what is counted."""

from pathlib import Path

import attrs
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.documents import read
from tests.unit.permitry_ops.inbox.inboxes import Browser
from tests.unit.permitry_ops.inbox.people import ANN, EVE
from tests.unit.permitry_ops.inbox.probes import PROBES
from tests.unit.permitry_ops.inbox.records import keep

from permitry.cli.records import RecordFilter, records_at
from permitry.cli.stats import Stats
from permitry_ops.inbox.access import Login
from permitry_ops.inbox.app import InboxApp
from permitry_ops.inbox.record_view import RecordView
from permitry_ops.inbox.stats_pages import stats_page


def page_of(path: Path) -> str:
    """Return the page of a record."""
    stats = Stats()
    for record in records_at(path, RecordFilter()):
        stats.add(record)
    return stats_page(stats, Login(ANN, 0.0, csrf="c"))


def test_what_is_counted_is_shown(tmp_path: Path) -> None:
    """Verdicts, questions, answers, outcomes, and how long runs took."""
    keep(tmp_path / "a.jsonl", "tool", count=3)
    text = " ".join(read(page_of(tmp_path / "a.jsonl")).text)
    assert "3 decisions in 1 sessions: 0 allow, 0 confirm, 3 block." in text
    for each in ("Verdicts by tool", "Questions by hour (UTC)", "approved", "ok", "0.250 s", "■ block"):
        assert each in text, each


def test_without_a_record_nothing_is_counted(app: InboxApp) -> None:
    """For both roles."""
    for user in (ANN, EVE):
        assert "0 decisions in 0 sessions" in Browser(app).log_in(user).get("/stats").text


def test_a_record_is_counted_for_those_inside(app: InboxApp, tmp_path: Path) -> None:
    """And for no one else."""
    keep(tmp_path / "a.jsonl")
    with_record = attrs.evolve(app, record=RecordView(tmp_path / "a.jsonl"))
    assert "1 decisions" in Browser(with_record).log_in(EVE).get("/stats").text
    assert Browser(with_record).get("/stats").status_code == 303


@for_each("probe", PROBES)
def test_a_probe_in_a_record_changes_no_page(tmp_path: Path, probe: str) -> None:
    """Tools, rules and outcomes are text."""

    def tags(text: str) -> object:
        (tmp_path / "a.jsonl").unlink(missing_ok=True)
        keep(tmp_path / "a.jsonl", text)
        return read(page_of(tmp_path / "a.jsonl")).tags

    assert tags(probe) == tags("word")
