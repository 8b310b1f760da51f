"""Which programs run their operands."""

from tests.tables import for_each

from permitry.actions.programs.catalogue import catalogue
from permitry.actions.programs.running import may_move, wrapper_of
from permitry.core.action import Word


@for_each("name", ["sudo", "timeout", "ld-linux-x86-64.so.2", "ld.so"])
def test_what_runs_its_operands_is_known(name: str) -> None:
    """The loader of programs too, under any of its names."""
    assert wrapper_of(name) is not None


@for_each("name", ["", "cat", "ld", "sudo2", "xld.so"])
def test_any_other_program_is_no_wrapper(name: str) -> None:
    """By its whole name."""
    assert wrapper_of(name) is None


def test_no_shell_is_a_wrapper() -> None:
    """What follows its options is a script, and not a program."""
    assert not any(wrapper_of(name) for name, record in catalogue().items() if record.shell)


@for_each(
    ("text", "may"),
    [
        ("env -C x cat", True), ("/usr/bin/sudo cat", True), ("npm exec cat", True), ("git -C x add", True),
        ("git add -A", False), ("git", False), ("cat x", False), ("make -C x", False),
    ],
)  # fmt: skip
def test_what_runs_a_command_may_do_so_in_another_folder(text: str, *, may: bool) -> None:
    """As may `git` with options before its sub-command."""
    assert may_move([Word(each) for each in text.split()]) is may
