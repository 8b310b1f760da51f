"""The calls that are tried, of cases and of sessions."""

from pathlib import Path

import pytest
from tests.unit.permitry_ops.coverage.conftest import PAY, PUSH, Probes, rules_of, shell

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.errors import ConfigError
from permitry.golden.deciders import Decider, same
from permitry_ops.coverage.probes import SessionProbes, read_cases


def test_a_case_differs_where_it_does_not_hold(probes: Probes) -> None:
    """By its rule as well, with the same verdict."""
    rules = rules_of(PUSH)
    right, wrong = probes(rules, (shell("git push"), "block", "push"), (shell("git push"), "block", "other"))
    decided = [each.decide(rules.policy()) for each in (right, wrong)]
    assert [each.differs(decision) for each, decision in zip((right, wrong), decided, strict=True)] == [False, True]


def test_cases_of_the_same_rules_share_them(probes: Probes) -> None:
    """They are loaded once."""
    rules = rules_of(PUSH)
    one, two = probes(rules, (shell("git push"), "block", "push"), (shell("ls"), "confirm", None))
    assert one.decider is two.decider
    assert one.decider.rules is rules


def test_a_case_that_names_rules_is_list_probes_these(tmp_path: Path) -> None:
    """The same rule is known again, wherever its file lies."""
    (tmp_path / "rules.toml").write_text(PUSH, encoding="utf-8")
    case = '{"id": "c", "why": "x", "rules": ["rules.toml"], "call": {"name": "a", "arguments": {}}, "want": WANT}'
    want = '{"verdict": "confirm", "rule": null, "phase": "default"}'
    (tmp_path / "c.json").write_text(case.replace("WANT", want), encoding="utf-8")
    (probe,) = read_cases([tmp_path / "c.json"], rules_of(PAY))
    (rule,) = rules_of(PUSH).rules
    assert same(rule) in probe.decider.identities
    assert rule not in probe.decider.identities


def test_a_case_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    """A draft without a reason is one."""
    (tmp_path / "c.json").write_text('{"id": "c", "why": ""}', encoding="utf-8")
    with pytest.raises(ConfigError, match="at least 1 character"):
        list(read_cases([tmp_path / "c.json"], None))


def test_a_call_of_a_session_differs_by_its_verdict() -> None:
    """In the context in which it was decided."""
    decider = Decider.of(rules_of(PUSH))
    sessions = SessionProbes(decider)
    sessions.watch("s.jsonl:1", ToolCall("run_shell", {"command": "git push"}), AuthContext(mode="x"), None)
    (probe,) = sessions.found
    assert (probe.name, probe.request.context.mode) == ("s.jsonl:1", "x")
    assert not probe.differs(probe.decide(decider.policy))
    assert probe.differs(probe.decide(rules_of(PAY).policy()))
