"""The words of a command, and the command as it is written."""

from permitry.core.action import Run, Word
from permitry.core.words import CommandLine


def test_it_makes_no_other_action_of_a_program() -> None:
    """It says where the program is written, and two programs are the same wherever that is."""
    run = Run((Word("make"),))
    assert Run((Word("make"),), line=CommandLine((), (Word("sudo"), Word("make")))) == run
