"""The rules: one strategy per file, and none depends on another."""

from permitry.core.rule import AuthorizationRule
from permitry.rules.ignore_list import ToolIgnoreListRule
from permitry.rules.plan_mode import PlanModeBlockingRule
from permitry.rules.present_plan import PresentPlanRule
from permitry.rules.read_only import ReadOnlyToolRule
from permitry.rules.template import TemplateAllowedToolsRule
from permitry.rules.yolo import YoloModeRule

__all__ = ["BUILT_IN_RULES"]

BUILT_IN_RULES: tuple[AuthorizationRule, ...] = (
    PresentPlanRule(),
    PlanModeBlockingRule(),
    ReadOnlyToolRule(),
    TemplateAllowedToolsRule(),
    YoloModeRule(),
    ToolIgnoreListRule(),
)
"""The six rules of every default policy, in the order of their priorities."""
