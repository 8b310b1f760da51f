"""The options of programs that run others: how many words each takes, and what may be computed."""

from tests.tables import for_each

from permitry.actions.programs.catalogue import catalogue
from permitry.actions.shell.running import opens_computed, runs_computed, wrapper_of


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
    ("program", "runs", "opens"),
    [
        ('{ print "a" }', False, False),
        ("{ system($1) }", True, True),
        ('{ print | "sort" }', False, False),
        ("{ print | $1 }", True, True),
        ('{ "date" | getline x }', False, False),
        ("{ print > $1 }", False, True),
        ('{ print > "out" }', False, False),
        ("{ getline x < $1 }", False, True),
        ("$1 > 5", False, False),
        ("a || b", False, False),
        ("", False, False),
    ],
)
def test_what_awk_runs_or_opens_may_be_computed(program: str, *, runs: bool, opens: bool) -> None:
    """By the look of it; a literal is known, and a comparison opens nothing."""
    assert (runs_computed(program), opens_computed(program)) == (runs, opens)
