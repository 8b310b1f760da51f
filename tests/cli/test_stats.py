"""What is counted of a record."""

from typing import Any

from permitry.cli.stats import Stats

RECORDS: list[dict[str, Any]] = [
    {"event": "session", "session": "s1"},
    {"event": "decided", "session": "s1", "tool": "look", "verdict": "allow", "rule": "read-only"},
    {"event": "finished", "session": "s1", "tool": "look", "outcome": "ok", "seconds": 0.5},
    {"event": "finished", "session": "s1", "tool": "look", "outcome": "failed", "seconds": 1.5},
    {"event": "decided", "session": "s2", "tool": "send", "verdict": "confirm", "rule": None},
    {"event": "asked", "session": "s2", "tool": "send", "at": "2026-11-23T10:59:59.000+00:00"},
    {"event": "asked", "session": "s2", "tool": "send", "at": "2026-11-23T11:00:00.000+00:00"},
    {"event": "answered", "session": "s2", "tool": "send", "approved": True},
    {"event": "answered", "session": "s2", "tool": "send", "approved": False},
    {"event": "unreadable"},
]


def test_events_are_counted() -> None:
    """Each for what it says."""
    stats = Stats()
    for record in RECORDS:
        stats.add(record)
    assert stats.to_dict() == {
        "decisions": 2,
        "sessions": 2,
        "verdicts": {"allow": 1, "confirm": 1},
        "tools": [{"tool": "look", "verdict": "allow", "calls": 1}, {"tool": "send", "verdict": "confirm", "calls": 1}],
        "rules": [
            {"rule": "read-only", "verdict": "allow", "calls": 1},
            {"rule": "(no rule)", "verdict": "confirm", "calls": 1},
        ],
        "questions_by_hour": {"2026-11-23T10": 1, "2026-11-23T11": 1},
        "answers": {"approved": 1, "not approved": 1},
        "approvers": {
            "(in the process that asked)": {
                "approved": 1, "not_approved": 1, "edited": 0, "mean": None, "longest": None,
            }
        },
        "outcomes": {"ok": 1, "failed": 1},
        "seconds": {"look": {"runs": 2, "total": 2.0, "longest": 1.5}},
    }  # fmt: skip
    tables = {title: list(rows) for title, _, rows in stats.tables(1)}
    assert tables["by tool"] == [("look", "allow", "1")]
    assert tables["questions by hour (UTC)"][0][:2] == ("2026-11-23 11h", "1")
    assert tables["slowest tools, in seconds"] == [("look", "2", "1.000", "1.500")]


def test_rules_that_decided_nothing_are_named() -> None:
    """In the order that they were given in."""
    stats = Stats()
    stats.add(RECORDS[1])
    assert stats.find_unused(["b", "read-only", "a"]) == ["b", "a"]


def test_an_empty_record_has_no_rows() -> None:
    """And no error."""
    assert [list(rows) for _, _, rows in Stats().tables(15)] == [[]] * 7
