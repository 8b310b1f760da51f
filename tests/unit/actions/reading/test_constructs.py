"""Arrays, functions, `select` and loops that count: what is in them is found, and what may run more is refused."""

import pytest
from tests.tables import for_each

from permitry.actions.reading.strict import UnreadableError, read_strictly


@for_each(("text", "commands"))
def test_the_commands_in_a_construct_are_found(text: str, commands: list[str]) -> None:
    """In order; those of a function where it is defined."""
    assert [" ".join(each.argv) for each in read_strictly(text)] == commands


def test_the_commands_of_a_function_are_within_it() -> None:
    """They run when it is called, and may run several times."""
    assert [each.within for each in read_strictly("foo() { a; }; foo")] == [("function", "{…}"), ()]


@for_each("text")
def test_what_may_mean_something_else_is_refused(text: str) -> None:
    """Subscripts and arithmetic that bash evaluates, and functions whose commands run elsewhere than where they are."""
    with pytest.raises(UnreadableError):
        read_strictly(text)


@for_each("text")
def test_arithmetic_names_variables_that_are_numbers(text: str) -> None:
    """The text gives them nothing else."""
    assert read_strictly(text)


@for_each("text")
def test_arithmetic_evaluates_no_other_value(text: str) -> None:
    """A name in it, or a subscript with a substitution, would run."""
    with pytest.raises(UnreadableError):
        read_strictly(text)
