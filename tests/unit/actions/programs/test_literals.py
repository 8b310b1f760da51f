"""The string literals in code of other languages."""

import time

from tests.tables import for_each

from permitry.actions.programs.literals import MOST_LITERALS, lists_in, literals_in


@for_each(("code", "literals"))
def test_literals(code: str, literals: list[str]) -> None:
    """Those in quotes, and those in brackets with their words."""
    assert list(literals_in(code)) == literals


@for_each(("code", "lists"))
def test_lists(code: str, lists: list[list[str]]) -> None:
    """Nothing but commas and brackets is between the literals of one."""
    assert [list(each) for each in lists_in(code)] == lists


@for_each("part", ["'", '"', "`", "q(", "%[", "[[", "[=", "<", "q/", "q  ", "'a',", "%w{a b}"])
def test_any_code_takes_linear_time(part: str) -> None:
    """Whatever is not closed ends with the text, and only so many literals are looked at."""
    start = time.process_time()
    assert len(list(lists_in(part * 30_000))) <= 4 * MOST_LITERALS
    assert time.process_time() - start < 5
