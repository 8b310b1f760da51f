"""What rule files say, once they are loaded: the modes they name, and the policy they make."""

from pathlib import Path

from permitry.conditions.mode import ModeCondition
from permitry.conditions.scope import Conditions, Scope
from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.template import Template
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule
from permitry.rules.exclusive_template import ExclusiveTemplateRule
from permitry.rules.flow import FlowRule


def _in(*modes: str) -> Conditions:
    return Conditions((ModeCondition(modes),))


def test_without_files_only_the_built_in_rules_are_there() -> None:
    """And nothing they do not know is allowed."""
    policy = RuleSet().policy()
    assert {*policy.rules} == {*BUILT_IN_RULES}
    assert policy.decide(ToolCall("t"), AuthContext()).verdict is Verdict.CONFIRM


def test_the_modes_are_those_of_rules_and_of_flows() -> None:
    """In `when` and in `unless`."""
    rule = ConfiguredRule("r", Verdict.BLOCK, 150, Scope(when=_in("a"), unless=_in("b")), reason="so")
    flow = FlowRule("f", Scope(when=_in("c")), label="l")
    assert RuleSet((rule,), flows=(flow,)).modes == {"a", "b", "c"}
    assert RuleSet().modes == frozenset()


def test_without_a_disk_no_link_is_looked_up(tmp_path: Path) -> None:
    """Nor for what is observed."""
    (tmp_path / "link").symlink_to("/etc")
    rules = load_rules('schema = 1\n[[rule]]\nid = "etc"\neffect = "block"\nwhen.path = ["/etc/**"]\n')
    call, context = ToolCall("read_file", {"path": "link/hosts"}), AuthContext(workspace=str(tmp_path))
    for has_disk, verdict in ((True, Verdict.BLOCK), (False, Verdict.ALLOW)):
        assert rules.policy(has_disk=has_disk).decide(call, context).verdict is verdict
        would = RuleSet(observed=rules).policy(has_disk=has_disk).explain(call, context).would
        assert (would is None) is not has_disk


def test_an_exclusive_template_brings_its_rule() -> None:
    """The policy has it only where a template asks for it."""
    for is_exclusive in (True, False):
        templates = {"t": Template("t", exclusive=is_exclusive)}
        rules = RuleSet(templates=templates).policy().rules
        assert any(isinstance(rule, ExclusiveTemplateRule) for rule in rules) is is_exclusive
