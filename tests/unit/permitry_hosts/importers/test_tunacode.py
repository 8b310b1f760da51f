"""The templates of tunacode, as templates of ours."""

import json

import pytest
from tests.tables import for_each
from tests.unit.permitry_hosts.importers.conftest import Import

from permitry.config.load import load_rules
from permitry.config.origin import Origin
from permitry.errors import PermitryError
from permitry_hosts.importers import HOSTS, Outcome, Source

TEMPLATE = {"name": "Web dev", "description": "build it", "prompt": "x", "allowed_tools": ["bash", "write_file"]}


def test_a_template_is_one_of_ours(made: Import) -> None:
    """With its tools, and the line it has in both files."""
    rules = made("tunacode", json.dumps(TEMPLATE, indent=1), "t.json")
    (template,) = load_rules([Origin("rules.toml", text=rules.text)]).templates.values()
    assert (template.name, template.description) == ("Web-dev", "build it")
    assert sorted(template.allowed_tools) == ["bash", "write_file"]
    (row,) = rules.rows
    assert (row.place, row.outcome) == ("t.json:5", Outcome.SAME)
    assert rules.text.split("\n")[row.lines[0] - 1] == "[template.Web-dev]"


def test_what_cannot_be_a_tool_is_left_out(made: Import) -> None:
    """A pattern would permit more than the name that it is there."""
    rules = made("tunacode", json.dumps({**TEMPLATE, "name": "?", "allowed_tools": ["*", "a b", 1, "bash"]}))
    assert 'allow_tools = ["bash"]' in rules.text
    assert rules.rows[0].outcome is Outcome.STRICTER


@for_each("text", ["[]", "{}", '{"name": "x", "description": "y", "allowed_tools": "z"}'])
def test_what_is_no_template_is_refused(made: Import, text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(PermitryError, match="is not a template"):
        made("tunacode", text)


def test_two_templates_of_a_name_are_refused() -> None:
    """Which one is meant is not known."""
    sources = [Source(name, json.dumps(TEMPLATE)) for name in ("a.json", "b.json")]
    with pytest.raises(PermitryError, match="there are two templates `Web-dev`"):
        HOSTS["tunacode"].read(sources)
