"""The findings `star-without-blank`, `no-further-arguments` and `glob-in-operand`."""

from collections.abc import Callable

import pytest

from permitry.config.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


@pytest.mark.parametrize(
    ("effect", "command", "kind", "better"),
    [
        ("allow", "git status*", "star-without-blank", "`git status *`"),
        ("block", "git*", "star-without-blank", "`git *`"),
        ("block", "git push*", "star-without-blank", "`git push *`"),
        ("allow", "pytest", "no-further-arguments", "`pytest *`"),
        ("block", "git push", "no-further-arguments", "`git push *`"),
        ("confirm", "npm publish", "no-further-arguments", "`npm publish *`"),
        ("allow", "rm *.log", "glob-in-operand", 'when.path = ["*.log"]'),
        ("allow", "cp src/* *", "glob-in-operand", 'when.path = ["src/*"]'),
    ],
)
def test_a_pattern_that_fits_less_than_it_seems(
    linted: Linted, rule: Rule, *, effect: str, command: str, kind: str, better: str
) -> None:
    """The suggestion is what was meant."""
    (found,) = linted(rule("a", effect, f'when.command = ["{command}"]'))
    assert (found.kind, found.rule_id) == (kind, "a")
    assert better in found.suggestion


@pytest.mark.parametrize(
    ("effect", "commands"),
    [
        ("allow", '"git status *"'),
        ("allow", '"make test"'),
        ("allow", '"bash"'),
        ("allow", '"npm run build:*"'),
        ("allow", '"tox", "tox -e *"'),
        ("allow", '"pip install -r *"'),
        ("block", '"bash"'),
        ("block", '"rm *.log"'),
        ("block", '"git checkout ."'),
        ("block", '"git *"'),
        ("allow", '"pytest --cov=* *"'),
    ],
)
def test_patterns_that_mean_what_they_say(kinds: Kinds, rule: Rule, effect: str, commands: str) -> None:
    """An exact sub-command of a permission, and a bare program of a restriction, are meant as they are."""
    assert kinds(rule("a", effect, f"when.command = [{commands}]")) == []
