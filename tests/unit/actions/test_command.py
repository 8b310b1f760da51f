"""What is known of a simple command."""

from permitry.actions.command import Command
from permitry.core.action import Word


def test_a_command_has_its_arguments_as_text() -> None:
    """Program first."""
    assert Command((Word("ls"), Word("*.py", is_glob=True))).argv == ("ls", "*.py")
