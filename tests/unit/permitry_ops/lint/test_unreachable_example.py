"""The finding `unreachable-example`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

KIND = "unreachable-example"
SOURCES = 'when.path = ["src/**"]\nmatch = ["src/.env"]'
DOT_ENV = 'when.path = ["**/.env"]'
HOST = 'when.host = ["example.com"]'
ONE = 'tools = ["x"]\nwhen.args.n = 1'
MODE = 'tools = ["x"]\nwhen.mode = "m"'
BLOCKS_PUSH = 'when.command = ["git push *"]'


def test_an_example_that_a_restriction_holds_back(linted: Linted, rule: Rule) -> None:
    """The place is that of the example, and the restriction is named."""
    allowed = rule("a", "allow", 'when.command = ["git {log,push}"]', 'match = [\n "git log",\n "git push",\n]')
    (found,) = (each for each in linted(allowed + rule("b", "block", BLOCKS_PUSH)) if each.kind == KIND)
    assert (found.rule_id, found.source) == ("a", "rules.toml:8")
    assert found.reason == "the example `git push` never runs unasked: `b` (rules.toml:10) blocks it"


@for_each(
    ("allowed", "held"),
    [
        ('tools = ["send_*"]\nmatch = ["send_money"]', 'tools = ["send_money"]'),
        (f'tools = ["write_file"]\n{SOURCES}', DOT_ENV),
        (f'tools = ["write_file"]\n{SOURCES}', f'tools = ["@writes"]\n{DOT_ENV}'),
        (f'tools = ["@writes"]\n{SOURCES}', f'tools = ["@writes"]\n{DOT_ENV}'),
        (f'{HOST}\nmatch = ["https://example.com/x"]', f'tools = ["@network"]\n{HOST}'),
        ('when.command = ["cat *"]\nmatch = [{ command = "cat .env" }]', DOT_ENV),
        (f'{ONE}\nmatch = [{{ tool = "x", args = {{ n = 1 }} }}]', 'tools = ["x"]\nwhen.args.n = { le = 3 }'),
        (f'{MODE}\nmatch = [{{ tool = "x", mode = "m" }}]', f"{MODE}\nwhen.args.n = {{ exists = false }}"),
    ],
)
def test_examples_of_every_kind(kinds: Kinds, rule: Rule, allowed: str, held: str) -> None:
    """Tools, commands, paths, hosts, arguments and modes are tried as the restriction sees them."""
    assert (KIND, "a") in kinds(rule("a", "allow", allowed) + rule("b", "confirm", held))


@for_each(
    ("allowed", "held"),
    [
        ('tools = ["send_*"]\nmatch = ["send_mail"]', 'tools = ["send_money"]'),
        ('when.path = ["src/**"]\nmatch = ["src/.env"]', 'tools = ["@writes"]\nwhen.path = ["**/.env"]'),
        ('tools = ["x"]\nmatch = ["x"]', 'tools = ["x"]\nwhen.args.n = { le = 3 }'),
        ('tools = ["x"]\nmatch = ["x"]', 'tools = ["x"]\nwhen.mode = "review"'),
        ('tools = ["x"]\nmatch = ["x"]', 'tools = ["x"]\nbudget = { calls = 2 }'),
        ('when.command = ["git log *"]\nno_match = ["git push"]', BLOCKS_PUSH),
    ],
)
def test_examples_that_may_run(kinds: Kinds, rule: Rule, allowed: str, held: str) -> None:
    """What an example leaves open, and what only reading allows, does not speak against it."""
    assert (KIND, "a") not in kinds(rule("a", "allow", allowed) + rule("b", "confirm", held))


def test_examples_of_restrictions_are_fine(kinds: Kinds, rule: Rule) -> None:
    """Of two restrictions that hold the same call back, both do their work."""
    example = 'match = ["git push"]'
    block = rule("b", "block", BLOCKS_PUSH, 'unless.mode = "ci"', example)
    assert kinds(rule("a", "confirm", BLOCKS_PUSH, example) + block) == []
