"""The findings `star-without-blank`, `no-further-arguments` and `glob-in-operand`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]


@for_each(
    ("effect", "command", "kind", "better"),
    [
        ("allow", "git status*", "star-without-blank", "`git status *`"),
        ("block", "git*", "star-without-blank", "`git *`"),
        ("block", "git push*", "star-without-blank", "`git push *`"),
        ("allow", "pytest", "no-further-arguments", "`pytest *`"),
        ("block", "git push", "no-further-arguments", "`git push *`"),
        ("block", "rm -rf", "no-further-arguments", "`rm -rf *`"),
        ("confirm", "npm publish", "no-further-arguments", "`npm publish *`"),
        ("block", "terraform", "no-further-arguments", "`terraform *`"),
        ("block", 'git", "push', "no-further-arguments", "`git push *` if these are the words of one command"),
        ("allow", "rm *.log", "glob-in-operand", 'when.path = ["*.log"]'),
        ("allow", "cp src/* *", "glob-in-operand", 'when.path = ["src/*"]'),
    ],
)
def test_a_pattern_that_fits_less_than_it_seems(
    linted: Linted, rule: Rule, *, effect: str, command: str, kind: str, better: str
) -> None:
    """The suggestion is what was meant."""
    found, *_ = linted(rule("a", effect, f'when.command = ["{command}"]'))
    assert (found.kind, found.rule_id) == (kind, "a")
    assert better in found.suggestion


@for_each(
    ("effect", "commands"),
    [
        ("allow", '"git status *"'),
        ("allow", '"make test"'),
        ("allow", '"bash"'),
        ("allow", '"npm run build:*"'),
        ("allow", '"tox", "tox -e *"'),
        ("allow", '"pip install -r *"'),
        ("block", '"bash"'),
        ("block", '"python3"'),
        ("block", '"rm *.log"'),
        ("block", '"git checkout ."'),
        ("block", '"git *"'),
        ("allow", '"pytest --cov=* *"'),
    ],
)
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
