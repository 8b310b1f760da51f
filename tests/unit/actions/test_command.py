"""What is known of a simple command."""

from tests.tables import for_each

from permitry.actions.command import Command, Redirection
from permitry.core.action import Word


def test_a_command_has_its_arguments_as_text() -> None:
    """Program first."""
    assert Command((Word("ls"), Word("*.py", is_glob=True))).argv == ("ls", "*.py")


@for_each(
    ("operator", "target", "written"),
    [(">", "a", "a"), (">>", "a", "a"), ("<", "a", None), (">", "/dev/null", None), (">", None, None), (">", "", "")],
)
def test_a_redirection_writes_a_file(operator: str, target: str | None, written: str | None) -> None:
    """But for one that reads, one to another descriptor, and what is not kept."""
    redirection = Redirection(operator, target)
    assert redirection.writes == written
    assert Command((Word("ls"),), redirections=(redirection,)).writes_files is (written is not None)
