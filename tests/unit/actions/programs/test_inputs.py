"""Which programs take commands from their standard input."""

from tests.tables import for_each

from permitry.actions.programs.inputs import reads_commands, takes_commands
from permitry.actions.reading.lenient import read_leniently


@for_each(("text", "reads"))
def test_a_shell_without_a_script_reads_commands(text: str, *, reads: bool) -> None:
    """From its standard input, whatever feeds it."""
    assert reads_commands(read_leniently(text).commands[0].words) is reads


def test_an_assignment_takes_no_commands() -> None:
    """Also in a construct behind a pipe, where its words are none."""
    assert not takes_commands((), is_piped=True)
