"""The findings `star-without-blank`, `no-further-arguments` and `glob-in-operand`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


@for_each(("effect", "command", "kind", "better"))
def test_a_pattern_that_fits_less_than_it_seems(
    linted: Linted, rule: Rule, *, effect: str, command: str, kind: str, better: str
) -> None:
    """The suggestion is what was meant."""
    found, *_ = linted(rule("a", effect, f'when.command = ["{command}"]'))
    assert (found.kind, found.rule_id) == (kind, "a")
    assert better in found.suggestion


@for_each(("effect", "commands"))
def test_patterns_that_mean_what_they_say(kinds: Kinds, rule: Rule, effect: str, commands: str) -> None:
    """An exact sub-command of a permission, and a bare shell or interpreter of a restriction, are meant as they are."""
    assert kinds(rule("a", effect, f"when.command = [{commands}]")) == []


def test_a_bare_program_that_examples_show_is_meant(kinds: Kinds, rule: Rule) -> None:
    """Its author has tried it; a sub-command, or a star without a blank, is another matter."""
    for command, expected in (("reboot", None), ("apt purge", "no-further-arguments"), ("git*", "star-without-blank")):
        text = rule(
            "a", "block", f'when.command = "{command}"', f'match = [{{ command = "{command.replace("*", "x")}" }}]'
        )
        assert kinds(text) == ([] if expected is None else [(expected, "a")])
