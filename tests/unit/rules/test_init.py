"""The default policy."""

from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.rules import BUILT_IN_RULES
from permitry.rules.configured import ConfiguredRule


def test_the_six_rules_stand_in_the_order_of_their_priorities() -> None:
    """Ids and priorities are stable for ever."""
    assert [(rule.id, rule.priority()) for rule in BUILT_IN_RULES] == [
        ("present-plan", 0),
        ("plan-mode", 100),
        ("read-only", 200),
        ("template", 210),
        ("yolo", 300),
        ("ignore-list", 310),
    ]


def test_the_default_policy_holds_the_six() -> None:
    """Nothing more and nothing less."""
    assert create_default_authorization_policy() == AuthorizationPolicy(BUILT_IN_RULES)


def test_further_rules_join_the_six() -> None:
    """An extra restriction holds, and the six still speak."""
    policy = create_default_authorization_policy([ConfiguredRule("no-reading", Verdict.BLOCK, 150)])
    assert len(policy.rules) == 7
    assert policy.decide(ToolCall("read_file"), AuthContext()).rule_id == "no-reading"
    assert policy.decide(ToolCall("present_plan"), AuthContext()).rule_id == "present-plan"


def test_every_rule_says_why() -> None:
    """A reason for the operator, and a message for the model where the call is held back."""
    for rule in BUILT_IN_RULES:
        assert rule.reason
        assert (rule.message is None) is (rule.effect is Verdict.ALLOW)
