"""Which variables change what a command runs."""

from tests.tables import for_each

from permitry.actions.shell.command import Command
from permitry.actions.shell.variables import changes_commands, is_special, kept_by_shell, runs_text, sets_of
from permitry.core.action import Word


@for_each(
    ("name", "changes"),
    [
        ("PATH", True), ("LD_PRELOAD", True), ("PYTHONPATH", True), ("GIT_PAGER", True), ("PAGER", True),
        ("NODE_OPTIONS", True), ("NODE_ENV", False), ("CI", False), ("A", False), ("http_proxy", True),
    ],
)  # fmt: skip
def test_some_variables_change_what_runs(name: str, changes: bool) -> None:  # noqa: FBT001 -- a parameter
    """Each for a reason that is given; no other does."""
    assert (changes_commands(name) is not None) is changes
    assert is_special(name) is changes


def test_by_a_few_variables_the_shell_runs_other_text() -> None:
    """`ENV` is also a name that programs use."""
    assert runs_text("BASH_ENV", "x")
    assert runs_text("BASH_FUNC_ls%%", "() { :; }")
    assert runs_text("ENV", "$x")
    assert not runs_text("ENV", "test")
    assert not runs_text("PATH", "/x")
    assert is_special("RANDOM")


def test_what_is_exported_is_kept() -> None:
    """What is set for one command is not."""
    one = Command((Word("ls"),), (("PATH", "x"), ("A", "b")))
    assert (sets_of(one), kept_by_shell(one)) == (("PATH=x",), ())
    exported = Command((Word("export"), Word("-x"), Word("PATH=x"), Word("A=b")))
    assert kept_by_shell(exported) == ("PATH=x",)
    assert kept_by_shell(Command((Word("PATH=x"),), (("PATH", "x"),), only_assigns=True)) == ("PATH=x",)
