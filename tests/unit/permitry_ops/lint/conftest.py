"""The findings about a rule file that is written down as text."""

from collections.abc import Callable, Collection

import pytest

from permitry.config.drafts import drafts_of
from permitry.config.load import Origin, load_rules
from permitry_ops.lint import Finding, lint


@pytest.fixture
def linted(write: Callable[[str, str], Origin]) -> Callable[..., tuple[Finding, ...]]:
    """Return a function that loads a text as `rules.toml`, and returns what is found in it."""

    def found(text: str, tools: Collection[str] | None = None) -> tuple[Finding, ...]:
        rules = load_rules([write("rules.toml", f"schema = 1\n{text}")])
        return lint(rules, drafts=drafts_of(rules), tools=tools)

    return found


@pytest.fixture
def kinds(linted: Callable[..., tuple[Finding, ...]]) -> Callable[..., list[tuple[str, str | None]]]:
    """Return a function that returns kind and rule of each finding in a text."""

    def found(text: str, tools: Collection[str] | None = None) -> list[tuple[str, str | None]]:
        return [(finding.kind, finding.rule_id) for finding in linted(text, tools)]

    return found


@pytest.fixture
def rule() -> Callable[..., str]:
    """Return a function that writes one rule: its id, its effect, and its other lines."""

    def written(rule_id: str, effect: str, *lines: str) -> str:
        return "\n".join(("[[rule]]", f'id = "{rule_id}"', f'effect = "{effect}"', *lines, ""))

    return written
