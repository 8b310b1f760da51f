"""The rule `exclusive-template`."""

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.core.template import Template
from permitry.rules.exclusive_template import ExclusiveTemplateRule
from permitry.rules.template import TemplateAllowedToolsRule
from permitry.rules.yolo import YoloModeRule

READER = Template("reader", ("read_*",))
ONLY = Template("only", ("grep",), extends=(READER,), exclusive=True)


def _request(tool: str, template: Template | None) -> Request:
    return Request(ToolCall(tool), AuthContext(active_template=template))


@for_each(
    ("tool", "template", "matches"),
    [
        ("bash", ONLY, True),
        ("mcp:docs/read_file", ONLY, True),
        ("grep", ONLY, False),
        ("read_file", ONLY, False),
        ("bash", READER, False),
        ("bash", None, False),
        ("bash", Template("empty", exclusive=True), True),
        ("bash", Template("child", extends=(ONLY,)), False),
    ],
)
def test_it_blocks_what_an_exclusive_template_does_not_list(
    *, tool: str, template: Template | None, matches: bool
) -> None:
    """Also by inheritance: what it extends is listed, but a template that extends it is not exclusive by that."""
    rule, request = ExclusiveTemplateRule(), _request(tool, template)
    assert rule.matches(request) is matches


def test_it_is_a_restriction_of_priority_110() -> None:
    """Its place in the order."""
    rule = ExclusiveTemplateRule()
    assert (rule.id, rule.priority(), rule.effect, rule.source) == (
        "exclusive-template",
        110,
        Verdict.BLOCK,
        "built-in",
    )


def test_no_permission_lifts_it() -> None:
    """YOLO mode runs the tools of the template and no others."""
    policy = AuthorizationPolicy([YoloModeRule(), TemplateAllowedToolsRule(), ExclusiveTemplateRule()])
    context = AuthContext(yolo_mode=True, active_template=ONLY)
    assert policy.decide(ToolCall("bash"), context).rule_id == "exclusive-template"
    assert policy.decide(ToolCall("grep"), context).verdict is Verdict.ALLOW
