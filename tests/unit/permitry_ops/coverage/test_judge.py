"""Which mistakes in rules calls and examples notice."""

from pathlib import Path

import attrs
import pytest
from tests.unit.permitry_ops.coverage.conftest import PAY, PUSH, Call, Probes, rules_of, shell

from permitry.config.drafts import drafts_of
from permitry.core.context import AuthContext
from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy
from permitry_ops.coverage.judge import Judge
from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.probes import Probe
from permitry_ops.coverage.score import Fate


def fates(judge: Judge) -> dict[str, str]:
    """Return what becomes of each mutant of the only rule, by what it is."""
    (rule,) = judge.rules.rules
    return {mutant.what: judge.judge(mutant).fate.value for mutant in list_mutants(rule)}


def test_a_case_notices_what_changes_its_decision(probes: Probes) -> None:
    """And no other mistake."""
    rules = rules_of(PUSH)
    found = fates(Judge(rules, probes(rules, (shell("git push"), "block", "push")), {}, 60.0))
    assert found == {
        "the rule is left out": "noticed",
        "it only asks": "noticed",
        "without when.command": "missed",
        "without when.command `git push *`": "noticed",
        "without when.command `npm publish *`": "missed",
        "without `unless`": "missed",
    }


def test_a_case_that_is_not_list_probes_the_rule_notices_nothing(probes: Probes) -> None:
    """It is of other rules."""
    rules = rules_of(PUSH)
    cases = probes(rules_of(PAY), (shell("git push"), "confirm", None))
    assert set(fates(Judge(rules, cases, {}, 60.0)).values()) == {"missed"}


def test_a_case_notices_another_rule_that_decides(probes: Probes) -> None:
    """With the same verdict: who reads the record is shown its id."""
    more = '[[rule]]\nid = "all"\neffect = "block"\nwhen.command = "git *"\npriority = 190\n'
    rules = rules_of(PUSH + more)
    judge = Judge(rules, probes(rules, (shell("git push"), "block", "push")), {}, 60.0)
    left_out, *_ = list_mutants(rules.rules[0])
    assert judge.judge(left_out).fate is Fate.NOTICED


def test_examples_notice_what_makes_them_fail(tmp_path: Path) -> None:
    """The file would not load; with the rule its examples are left out, and its effect is none of theirs."""
    path = tmp_path / "rules.toml"
    path.write_text(f'{PUSH}match = ["git push", "npm publish"]\nno_match = ["ls", "git push --dry-run"]\n')
    rules = rules_of(str(path))
    assert fates(Judge(rules, [], drafts_of(rules).rules, 60.0)) == {
        "the rule is left out": "missed",
        "it only asks": "missed",
        "without when.command": "noticed",
        "without when.command `git push *`": "noticed",
        "without when.command `npm publish *`": "noticed",
        "without `unless`": "noticed",
    }


def test_it_says_what_noticed_a_mutant(probes: Probes, tmp_path: Path) -> None:
    """The case, or the place of the example."""
    path = tmp_path / "rules.toml"
    path.write_text(f'{PUSH}no_match = ["ls"]\n')
    rules = rules_of(str(path))
    judge = Judge(rules, probes(rules, (shell("git push"), "block", "push")), drafts_of(rules).rules)
    by = {mutant.what: judge.judge(mutant).by for mutant in list_mutants(rules.rules[0])}
    assert by["without when.command"] == f"{path}:9"
    assert by["it only asks"] == str(tmp_path / "c1.json")


def test_a_case_in_two_contexts_is_decided_again(probes: Probes) -> None:
    """Whatever the rule says of the first one."""
    rules = rules_of(PUSH.replace('unless.command = ["git push --dry-run"]', 'when.mode = "plan"'))
    (probe,) = probes(rules, (shell("git push"), "confirm", None))
    child = attrs.evolve(probe, context=AuthContext(agent="child", parent=AuthContext(mode="plan")))
    left_out, *_ = list_mutants(rules.rules[0])
    wanted = attrs.evolve(child, differs=lambda decision: decision.rule_id != "push")
    assert Judge(rules, [wanted], {}).judge(left_out).fate is Fate.NOTICED


def test_only_cases_for_which_the_rule_matters_are_decided_again(
    probes: Probes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of twenty-one one is, once for each mutant."""
    rules = rules_of(PUSH)
    asked: list[Call] = []
    decide = Probe.decide

    def count(probe: Probe, policy: AuthorizationPolicy) -> Decision:
        asked.append(dict(probe.call.arguments))
        return decide(probe, policy)

    monkeypatch.setattr(Probe, "decide", count)
    cases = probes(
        rules, *((shell(f"ls {at}"), "confirm", None) for at in range(20)), (shell("git push"), "block", "push")
    )
    judge = Judge(rules, cases, {}, 60.0)
    for mutant in list_mutants(rules.rules[0]):
        if mutant.what in ("the rule is left out", "it only asks", "without when.command `git push *`"):
            judge.judge(mutant)
    assert asked == [{"command": "git push"}] * 3
