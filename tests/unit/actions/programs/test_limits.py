"""What a record demands of the options and operands of a call."""

import pytest
from tests.tables import for_each

from permitry.actions.programs.arguments import Parts
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.programs.limits import check_limits, has_option_behind
from permitry.core.action import Word

A, OPTION, GLOB = Word("a"), Word("-x"), Word("*", is_glob=True)


@for_each(
    ("parts", "entry", "reason"),
    [
        (Parts(operands=[A, A]), Entry(most_operands=1), "`p` with more operands than 1"),
        (Parts(operands=[GLOB]), Entry(most_operands=1), "`p` with more operands than 1"),
        (Parts(operands=[A]), Entry(operands_need=frozenset({"-l"})), "`p` with an operand"),
        (Parts(), Entry(needs=frozenset({"-c", "-b"})), "`p` without one of -b, -c"),
        (Parts(operands=[A]), Entry(needs=frozenset({"operand"})), "`p` without one of operand"),
        (Parts(operands=[A, OPTION], before=2), Entry(options_first=True), "`p` with an option behind an operand"),
        (Parts(operands=[A]), Entry(operand_start="+"), "`p` with the operand `a`"),
        (Parts(operands=[Word("@a")]), Entry(refused_start="@"), "`p` with the operand `@a`"),
        (Parts(operands=[GLOB]), Entry(refused_start="@"), "`p` with the operand `*`"),
        (Parts(found=[("-x", Word("@a"))]), Entry(refused_start="@"), "`p -x` with the value `@a`"),
        (Parts(found=[("-x", Word("aSignature"))]), Entry(refused_values={"-x": "sig"}), "`p -x` with `sig`"),
        (Parts(found=[("-x", GLOB)]), Entry(refused_values={"-x": "sig"}), "`p -x` with `sig`"),
    ],
)  # fmt: skip
def test_what_is_not_allowed_is_refused(parts: Parts, entry: Entry, reason: str) -> None:
    """With the reason; a pattern counts as the worst that it may become."""
    with pytest.raises(RefusedError) as caught:
        check_limits(parts, entry, "p")
    assert str(caught.value) == reason


@for_each(
    ("parts", "entry"),
    [
        (Parts(operands=[A]), Entry(most_operands=1)),
        (Parts(found=[("-l", None)], operands=[A]), Entry(operands_need=frozenset({"-l"}))),
        (Parts(operands=[A], before=1), Entry(needs=frozenset({"operand"}))),
        (Parts(operands=[Word("+a")]), Entry(operand_start="+", refused_start="@")),
        (Parts(found=[("-x", A), ("-y", GLOB)]), Entry(refused_values={"-x": "sig"})),
        (Parts(operands=[A, OPTION], before=1), Entry(options_first=True)),
    ],
)
def test_what_is_allowed_is_not(parts: Parts, entry: Entry) -> None:
    """With the option that is needed, or behind `--`."""
    check_limits(parts, entry, "p")


def test_an_option_behind_an_operand_is_found_where_that_ends_the_options() -> None:
    """Before `--` only; a single hyphen is none."""
    first = Entry(options_first=True)
    assert has_option_behind(Parts(operands=[A, OPTION], before=2), first)
    assert not has_option_behind(Parts(operands=[A, OPTION], before=2), Entry())
    assert not has_option_behind(Parts(operands=[A, Word("-")], before=2), first)
