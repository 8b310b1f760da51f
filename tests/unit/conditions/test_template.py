"""The condition `template`."""

import pytest
from tests.tables import for_each

from permitry.conditions.template import TemplateCondition
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Request
from permitry.core.template import Template
from permitry.errors import RuleError

READER = Template("reader")
EDITOR = Template("editor", extends=(READER,))


def _request(template: Template | None) -> Request:
    return Request(ToolCall("bash"), AuthContext(active_template=template))


@for_each(
    ("names", "template", "holds"),
    [
        (("reader",), READER, True),
        (("x", "reader"), READER, True),
        (("reader",), EDITOR, True),
        (("editor",), READER, False),
        (("read*",), READER, False),
        (("reader",), None, False),
        ((), READER, False),
    ],
)
def test_it_holds_while_the_template_or_one_that_extends_it_is_active(
    *, names: tuple[str, ...], template: Template | None, holds: bool
) -> None:
    """Names are no patterns, and what extends a template is one."""
    assert TemplateCondition(names).holds(_request(template)) is holds


@for_each(("template", "fact"), [(None, "no active template"), (EDITOR, "template = editor")])
def test_its_fact_is_the_template_in_force(template: Template | None, fact: str) -> None:
    """A near miss names it, or says that there is none."""
    assert TemplateCondition(("x",)).fact(_request(template)) == fact


def test_one_string_is_no_list_of_templates() -> None:
    """Its letters would become names."""
    with pytest.raises(RuleError, match="not the one string"):
        TemplateCondition("reader")
