"""The rules: one strategy a file, none of which knows another."""

from collections.abc import Iterable

from permitry.core.policy import AnyRule, AuthorizationPolicy
from permitry.core.rule import AuthorizationRule
from permitry.rules.ignore_list import ToolIgnoreListRule
from permitry.rules.plan_mode import PlanModeBlockingRule
from permitry.rules.present_plan import PresentPlanRule
from permitry.rules.read_only import ReadOnlyToolRule
from permitry.rules.template import TemplateAllowedToolsRule
from permitry.rules.yolo import YoloModeRule

__all__ = ["BUILT_IN_RULES", "create_default_authorization_policy"]

BUILT_IN_RULES: tuple[AuthorizationRule, ...] = (
    PresentPlanRule(),
    PlanModeBlockingRule(),
    ReadOnlyToolRule(),
    TemplateAllowedToolsRule(),
    YoloModeRule(),
    ToolIgnoreListRule(),
)
"""The six rules every default policy holds, in the order of their priorities."""


def create_default_authorization_policy(extra: Iterable[AnyRule] = ()) -> AuthorizationPolicy:
    """Return the policy of the six built-in rules, and of the `extra` ones given.

    Source: seed 003, "create_default_authorization_policy()".
    """
    return AuthorizationPolicy((*BUILT_IN_RULES, *extra))
