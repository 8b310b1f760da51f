"""Which commands print names of files, and nothing else."""

from tests.tables import for_each

from permitry.actions.programs.names import prints_names
from permitry.actions.reading.strict import read_strictly


def _prints(text: str) -> bool:
    found = False
    for command in read_strictly(text):
        found = prints_names(command, has_names=found and command.follows == "|")
    return found


@for_each("text")
def test_a_command_prints_names(text: str) -> None:
    """Or lines of the names that it reads."""
    assert _prints(text)


@for_each("text")
def test_other_text_is_not_names(text: str) -> None:
    """What a text or a file says may be an option."""
    assert not _prints(text)
