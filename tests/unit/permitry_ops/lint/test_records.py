"""The finding `record-changes-nothing`."""

from collections.abc import Callable

from tests.tables import for_each

from permitry_ops.lint import Finding

Linted = Callable[..., tuple[Finding, ...]]
Kinds = Callable[..., list[tuple[str, str | None]]]


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
