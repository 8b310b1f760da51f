"""The version of a policy is the same for the same of all that decisions depend on, and another for anything else."""

from tests.unit.core.stubs import PlainRule

from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.core.version import digest_rules

RULE = PlainRule("a", Verdict.BLOCK, 150)


def _digest(*rules: PlainRule, observed: AuthorizationPolicy | None = None, **declared: ToolSpec) -> str:
    return digest_rules(rules, (), declared, Verdict.CONFIRM, None, observed=observed)


def test_everything_that_counts_is_in_the_digest() -> None:
    """Rules, declarations, the verdict without a rule, and the version of what is observed."""
    others = [
        _digest(PlainRule("b", Verdict.BLOCK, 150)),
        _digest(RULE, x=ToolSpec("x", "")),
        digest_rules((RULE,), (), {}, Verdict.BLOCK, None, observed=None),
        _digest(RULE, observed=AuthorizationPolicy()),
        _digest(RULE, observed=AuthorizationPolicy((RULE,))),
    ]
    assert len({_digest(RULE), *others}) == 6
    assert _digest(RULE) == _digest(RULE)


def test_a_policy_has_this_version() -> None:
    """And another one for what it observes."""
    assert AuthorizationPolicy((RULE,)).version == _digest(RULE)
    observed = AuthorizationPolicy((RULE,))
    assert AuthorizationPolicy(observed=observed).version == _digest(observed=observed)
