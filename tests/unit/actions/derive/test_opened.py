"""Which open words may be commands: as bash and the program would read them."""

from tests.tables import for_each

from permitry.actions.derive.opened import may_run_open
from permitry.actions.reading.strict import read_strictly


@for_each("text")
def test_an_open_word_is_an_operand(text: str) -> None:
    """Of a program that runs nothing, or after what a program takes for a command, or in quotes after an option."""
    assert not may_run_open(read_strictly(text)[-1].words)


@for_each("text")
def test_an_open_word_may_be_a_command(text: str) -> None:
    """An option that runs something, a name that bash evaluates, a script."""
    assert may_run_open(read_strictly(text)[-1].words)
