"""How long rules take to look at recorded calls."""

import pytest

from permitry.config.load import load_policy
from permitry.rules.configured import ConfiguredRule
from permitry_ops.replay.rule_times import rule_times

RULES = """
schema = 1
[[rule]]
id = "quick"
effect = "allow"
tools = ["look"]
[[rule]]
id = "slow"
effect = "block"
when.args.x = 1
"""
RECORD = {"event": "decided", "session": "s1", "tool": "look", "arguments": {"path": "a"}}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time, which goes on while a rule looks at a call: that of `slow` takes 3 s, and fails."""
    now = [0.0]

    def matches(rule: ConfiguredRule, _: object) -> bool:
        now[0] += 3.0 if rule.id == "slow" else 1.0
        if rule.id == "slow":
            raise ValueError
        return True

    monkeypatch.setattr("permitry_ops.replay.rule_times.time.perf_counter", lambda: now[0])
    monkeypatch.setattr(ConfiguredRule, "matches", matches)
    return now


def test_the_slowest_rule_comes_first(clock: list[float]) -> None:
    """Also one that fails; built-in rules are not counted."""
    found = rule_times(load_policy(RULES), [RECORD, RECORD], {"s1": "/w"})
    assert [(each.rule, each.mean, each.longest) for each in found] == [("slow", 3.0, 3.0), ("quick", 1.0, 1.0)]
    assert clock == [12.0], "the first look is not counted"


def test_without_calls_there_is_nothing_to_measure() -> None:
    """Other events have none, and neither have broken ones."""
    assert rule_times(load_policy(RULES), [{"event": "session"}, {**RECORD, "tool": ""}], {}) == []
