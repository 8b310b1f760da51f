"""The finding `wider-than-restriction`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry.config.load import Origin, load_rules
from permitry_ops.lint import Finding, lint

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

KIND = "wider-than-restriction"


@for_each(("effect", "allowed", "held"))
def test_a_permission_for_commands(linted: Linted, rule: Rule, effect: str, allowed: str, held: str) -> None:
    """What a list of forbidden spellings leaves out, runs."""
    found = linted(
        rule("a", "allow", f'when.command = ["{allowed}"]') + rule("b", effect, f'when.command = ["{held}"]')
    )
    told = [each.reason for each in found if (each.kind, each.rule_id) == (KIND, "a")]
    assert [f"`{allowed}`" in reason and f"`{held}`" in reason for reason in told] == [True]


@for_each(("allowed", "held"), [("db_*", "db_drop"), ("mcp:github/*", "mcp:github/delete_*"), ("*", "rm")])
def test_a_permission_for_tools(linted: Linted, rule: Rule, allowed: str, held: str) -> None:
    """A server may name its tools as it likes, and bring new ones."""
    found = linted(rule("a", "allow", f'tools = ["{allowed}"]') + rule("b", "block", f'tools = ["{held}"]'))
    (reason,) = (each.reason for each in found if each.kind == KIND)
    assert reason.startswith(f"it allows `{allowed}`, of which `b` (rules.toml:6) blocks `{held}`")


@for_each(("allowed", "held"))
def test_rules_that_do_not_list_spellings(kinds: Kinds, rule: Rule, allowed: str, held: str) -> None:
    """A circumstance, a path or a wider restriction is not a list of spellings."""
    found = kinds(rule("a", "allow", allowed) + rule("b", "block", held))
    assert (KIND, "a") not in found


def test_a_floor_in_another_file_is_no_sibling(write: Callable[[str, str], Origin], rule: Rule) -> None:
    """A floor is meant to hold under permissions that are wider."""
    write("floor.toml", "schema = 1\n" + rule("b", "block", 'tools = ["db_drop"]'))
    own = write("rules.toml", 'schema = 1\nextends = ["floor.toml"]\n' + rule("a", "allow", 'tools = ["db_*"]'))
    assert lint(load_rules([own])) == ()
