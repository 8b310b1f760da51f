"""What observed rules would have changed is counted by rule, and by what would be another verdict."""

from typing import Any

from permitry.cli.observed_stats import ObservedStats


def decided(verdict: str, would: object = None, **more: object) -> dict[str, Any]:
    """Return the record of a decision."""
    fields = {"event": "decided", "number": 7, "tool": "x", "session": "s", "arguments": {"a": 1}, "verdict": verdict}
    return {**fields, **more} | ({} if would is None else {"would": would})


def test_what_would_change_is_counted() -> None:
    """Calls, sessions and tools, with the last few calls."""
    stats, would = ObservedStats(), {"verdict": "block", "rule": "no"}
    for number in range(5):
        stats.add(decided("allow", would, number=number, session=f"s{number % 2}", tool=f"t{number % 3}"))
    stats.add(decided("confirm", would))
    stats.add(decided("allow", session="other"))
    stats.add({"event": "asked", "session": "none"})
    first, second = stats.changes()
    assert (stats.calls, len(stats.sessions)) == (7, 4)
    assert (first.verdict, first.would, first.calls, len(first.sessions)) == ("allow", "block", 5, 2)
    assert dict(first.tools) == {"t0": 2, "t1": 2, "t2": 1}
    assert [each["number"] for each in first.examples] == [2, 3, 4]
    assert (second.verdict, second.calls) == ("confirm", 1)


def test_what_would_be_the_same_comes_last() -> None:
    """However often it was."""
    stats = ObservedStats()
    for _ in range(3):
        stats.add(decided("block", {"verdict": "block", "rule": "no"}))
    stats.add(decided("confirm", {"verdict": "block", "rule": None}))
    assert [(each.rule, each.is_other) for each in stats.changes()] == [("(no rule)", True), ("no", False)]
    assert [each.rule for each in stats.changes("no")] == ["no"]


def test_the_counts_are_plain_json() -> None:
    """As the page about the command has them."""
    stats = ObservedStats()
    stats.add(decided("allow", {"verdict": "block", "rule": "no"}))
    example = {"number": 7, "tool": "x", "arguments": {"a": 1}}
    assert stats.to_dict() == {
        "decisions": 1,
        "sessions": 1,
        "observed": [
            {
                "rule": "no", "verdict": "allow", "would": "block", "calls": 1, "sessions": 1, "tools": {"x": 1},
                "examples": [example],
            },
        ],
    }  # fmt: skip


def test_a_record_of_others_is_no_mistake() -> None:
    """What is not of this form counts for nothing."""
    stats = ObservedStats()
    stats.add(decided("allow", "block"))
    stats.add({"event": "decided"})
    assert (stats.calls, list(stats.changes())) == (2, [])
