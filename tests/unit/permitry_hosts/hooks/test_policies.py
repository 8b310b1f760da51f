"""A policy is made once for the same rules, and again for any others."""

from pathlib import Path

import attrs
import pytest

from permitry.config.heard import Wanted
from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry_hosts.hooks.own_files import own_rules
from permitry_hosts.hooks.policies import Policies, rules_for_host

SPEC = ToolSpec("write", "writes", roles={"to": ArgumentRole.WRITE_PATH})


def test_the_same_policy_is_kept() -> None:
    """For the very rule set, an equal rule of its own, and an equal declaration."""
    policies, rules = Policies(), RuleSet()
    first = policies.policy(rules, own_rules(), "write", SPEC)
    assert policies.policy(rules, own_rules(), "write", attrs.evolve(SPEC)) is first


def test_any_difference_makes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """In rules, the rule of its own, the tool, its declaration, or the home folder."""
    policies, rules, own = Policies(), RuleSet(), own_rules()
    first = policies.policy(rules, own, "write", SPEC)
    others = [
        policies.policy(RuleSet(), own, "write", SPEC),
        policies.policy(rules, own[:1], "write", SPEC),
        policies.policy(rules, own, "read", SPEC),
        policies.policy(rules, own, "write", attrs.evolve(SPEC, roles={})),
        policies.policy(rules, own, "write", None),
    ]
    monkeypatch.setenv("HOME", "/elsewhere")
    others.append(policies.policy(rules, own, "write", SPEC))
    assert len({id(each) for each in [first, *others]}) == 7


def test_the_declaration_and_the_rule_are_in_force(tmp_path: object) -> None:
    """What the rules say about the tool is replaced."""
    del tmp_path
    policy = Policies().policy(RuleSet(), own_rules(), "write", SPEC)
    decision = policy.decide(ToolCall("write", {"to": attrs.__file__}), AuthContext(workspace="/home/ann"))
    assert (decision.verdict, decision.rule_id) == (Verdict.BLOCK, "protect-own-files")


def test_few_are_kept() -> None:
    """The last ones."""
    policies, rules, own = Policies(), RuleSet(), own_rules()
    first = policies.policy(rules, own, "0", None)
    last = [policies.policy(rules, own, str(number), None) for number in range(1, 65)]
    assert policies.policy(rules, own, "64", None) is last[-1]
    assert policies.policy(rules, own, "0", None) is not first


def test_what_rules_ask_for_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the very rule set; another one, even an equal one, is looked through."""
    looked: list[RuleSet] = []

    def look(rules: RuleSet) -> Wanted:
        looked.append(rules)
        return Wanted(user=True)

    monkeypatch.setattr("permitry_hosts.hooks.policies.wishes_of", look)
    policies, rules = Policies(), RuleSet()
    found = [policies.wanted(rules), policies.wanted(rules), policies.wanted(RuleSet())]
    assert (found, len(looked)) == ([Wanted(user=True)] * 3, 2)


LATE = [390, 391, 399]
GENERAL = """\
schema = 1
extends = ["permitry:coding-agent"]
[[rule]]
id = "ask-make"
effect = "confirm"
priority = 395
when.command = "make *"
"""


def test_general_questions_are_left_to_the_host(tmp_path: Path) -> None:
    """The user's own ones are not, nor those that YOLO mode does not lift."""
    file = tmp_path / "rules.toml"
    file.write_text(GENERAL)
    rules = load_rules([Origin(str(file))])
    left = {rule.id for rule in rules.rules} - {rule.id for rule in rules_for_host(rules)}
    assert left == {"ask-shell"}
    file.write_text(f'{GENERAL}[policy]\nunmatched = "block"\n')
    rules = load_rules([Origin(str(file))])
    assert rules_for_host(rules) == rules.rules


@pytest.mark.parametrize("priority", LATE)
def test_general_questions_before_a_permission_stay(tmp_path: Path, priority: int) -> None:
    """It would permit what they ask about: of equal priorities they come first as well."""
    file = tmp_path / "rules.toml"
    late = f'[[rule]]\nid = "late"\neffect = "allow"\npriority = {priority}\ntools = ["*"]\n'
    file.write_text(GENERAL + late)
    policy = Policies().policy(load_rules([Origin(str(file))]), (), "run_shell", None)
    decision = policy.decide(ToolCall("run_shell", {"command": "npm run deploy"}), AuthContext(workspace="/home/ann"))
    assert (decision.verdict, decision.rule_id) == (Verdict.CONFIRM, "ask-shell")


def test_observed_rules_are_asked_as_they_would_be_in_the_host(tmp_path: Path) -> None:
    """With its own rules and declarations, and without the general questions; none of them is obeyed."""
    path = tmp_path / "rules.toml"
    path.write_text('schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["x"]\nenforce = false\n')
    policy = Policies().policy(load_rules([Origin("permitry:hooks"), Origin(str(path))]), own_rules(), "write", SPEC)
    assert policy.observed is not None
    (only,) = set(policy.observed.rules) - set(policy.rules)
    assert getattr(only, "id", None) == "no"
    assert policy.observed.declared["write"] == policy.declared["write"] == SPEC
    assert policy.decide(ToolCall("x"), AuthContext()).verdict is Verdict.CONFIRM
    would = policy.would(ToolCall("x"), AuthContext())
    assert would is not None
    assert would.verdict is Verdict.BLOCK
