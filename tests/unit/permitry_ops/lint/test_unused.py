"""What is defined and changes nothing: labels, lists, and records of programs."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]
Rule = Callable[..., str]

USED = 'tools = ["send"]', 'when.args.to = { in = "@people" }'
SETS = '[[rule]]\nid = "reads-web"\ntools = ["web_fetch"]\nadds_label = "web"\n'


@for_each(("effect", "key"), [("confirm", "when"), ("allow", "unless")])
def test_a_label_that_no_rule_sets(linted: Linted, rule: Rule, effect: str, key: str) -> None:
    """The condition on it never holds."""
    (found,) = linted(rule("a", effect, 'tools = ["send_mail"]', f'{key}.label = "web"'))
    assert (found.kind, found.rule_id, found.source) == ("label-never-set", "a", "rules.toml:2")
    assert 'adds_label = "web"' in found.suggestion


def test_a_label_that_no_rule_reads(linted: Linted) -> None:
    """It is put on sessions for nothing."""
    (found,) = linted(SETS)
    assert (found.kind, found.rule_id, found.source) == ("label-never-read", "reads-web", "rules.toml:2")
    assert "`web`" in found.reason


def test_a_label_that_is_set_and_read(kinds: Kinds, rule: Rule) -> None:
    """This is what labels are for, in whatever order the rules stand."""
    asks = rule("a", "confirm", 'tools = ["send_mail"]', 'when.label = ["web"]')
    assert kinds(asks + SETS) == kinds(SETS + asks) == []


def test_a_rule_that_only_labels_may_ask_for_one(kinds: Kinds) -> None:
    """A label that leads to another is read."""
    text = SETS + '[[rule]]\nid = "b"\ntools = ["x"]\nwhen.label = "web"\nadds_label = "more"\n'
    assert kinds(text) == [("label-never-read", "b")]
    assert ("label-never-set", "b") in kinds(text.removeprefix(SETS))


def test_a_list_that_no_rule_uses(linted: Linted) -> None:
    """It may be misspelt where it was meant."""
    (found,) = linted('[list.people]\nvalues = ["a"]\n')
    assert (found.kind, found.rule_id, found.source) == ("list-never-used", None, "rules.toml:2")
    assert "`people`" in found.reason


def test_a_permission_with_an_empty_list(linted: Linted, rule: Rule) -> None:
    """It permits nothing, unless the host fills the list."""
    (found,) = linted("[list.people]\nvalues = []\n" + rule("a", "allow", *USED))
    assert (found.kind, found.rule_id, found.source) == ("empty-list", "a", "rules.toml:4")
    assert "Session(lists={'people': [...]})" in found.suggestion


def test_a_restriction_may_have_an_empty_list(kinds: Kinds, rule: Rule) -> None:
    """Nothing is restricted yet, which is what the list says."""
    assert kinds("[list.people]\nvalues = []\n" + rule("a", "block", *USED)) == []


def test_a_list_that_is_used(kinds: Kinds, rule: Rule) -> None:
    """Also by a rule that only labels."""
    labels = '[[rule]]\nid = "b"\ntools = ["x"]\nwhen.path = "@files"\nadds_label = "more"\n'
    reads = rule("c", "confirm", 'tools = ["x"]', 'when.label = "more"')
    lists = '[list.people]\nvalues = ["a"]\n[list.files]\nvalues = ["b"]\n'
    assert kinds(lists + rule("a", "allow", *USED) + labels + reads) == []


def test_a_record_of_what_is_known(linted: Linted) -> None:
    """Options that the program has anyway are none that it adds."""
    (found,) = linted('[program.wc]\noptions = "-l"\n')
    assert (found.kind, found.rule_id, found.source) == ("record-changes-nothing", None, "rules.toml:2")
    assert "`wc`" in found.reason


@for_each(
    "record",
    ['[program.wc]\noptions = "--ours"', '[program.ours]\noperands = "read*"', '[program.ansible]\ndoes = "changes"'],
)
def test_a_record_that_says_more(kinds: Kinds, record: str) -> None:
    """An option, a program, or what one does of which it was only known what it runs."""
    assert kinds(f"{record}\n") == []
