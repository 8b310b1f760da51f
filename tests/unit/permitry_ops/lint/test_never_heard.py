"""The finding `never-heard`."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.config.load import Origin, load_rules
from permitry_ops.lint import Finding, lint

Rule = Callable[..., str]


@pytest.fixture
def found(write: Callable[[str, str], Origin]) -> Callable[..., list[Finding]]:
    """Return a function that returns the findings about a text, on a host that may pass on prompts."""

    def of(text: str, *, has_prompts: bool = False) -> list[Finding]:
        rules = load_rules([write("rules.toml", f'schema = 1\n[list.staff]\nvalues = ["ann"]\n{text}')])
        return [each for each in lint(rules, has_prompts=has_prompts) if each.kind == "never-heard"]

    return of


Found = Callable[..., list[Finding]]


@for_each(("effect", "line", "shown"))
def test_without_prompts_there_is_no_answer(found: Found, rule: Rule, effect: str, line: str, shown: str) -> None:
    """In `when` and `unless`; with prompts there is one."""
    text = rule("a", effect, 'tools = ["pay"]', line)
    (each,) = found(text)
    assert (each.level, each.source, each.rule_id) == ("error", "rules.toml:4", "a")
    assert each.reason == f"the host does not pass on what the user writes, so {shown} never has an answer"
    assert found(text, has_prompts=True) == []


@for_each("line")
def test_other_sources_have_an_answer(found: Found, rule: Rule, line: str) -> None:
    """So does an argument that is left out."""
    assert found(rule("a", "allow", 'tools = ["pay"]', line)) == []
