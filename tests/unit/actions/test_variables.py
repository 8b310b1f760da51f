"""Which variables change what a command runs."""

import re

from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.programs.catalogue import catalogue
from permitry.actions.variables import (
    assignments_kept_by_shell,
    changes_commands,
    fact_of,
    is_evaluated,
    is_special,
    runs_text,
    sets_of,
)
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
    assert (sets_of(one), assignments_kept_by_shell(one)) == (("PATH=x",), ())
    exported = Command((Word("export"), Word("-x"), Word("PATH=x"), Word("A=b")))
    assert assignments_kept_by_shell(exported) == ("PATH=x",)
    assert assignments_kept_by_shell(Command((Word("PATH=x"),), (("PATH", "x"),), only_assigns=True)) == ("PATH=x",)


@for_each(
    ("name", "field", "fact"),
    [
        ("GIT_PAGER", "changes", "programs and repositories that `git` uses"), ("MANPAGER", "runs", "text"),
        ("CC", "runs", "program"), ("NODE_ENV", "changes", ""), ("NODE_PATH", "runs", None), ("x", "changes", None),
    ],
)  # fmt: skip
def test_the_first_row_with_a_field_says_it(name: str, field: str, fact: str | None) -> None:
    """A name may have several rows, as it may be in several patterns."""
    assert fact_of(name, field) == fact


@for_each(("name", "evaluated"), [("RANDOM", True), ("OPTIND", True), ("PATH", False), ("RANDOM2", False)])
def test_a_number_is_evaluated(name: str, *, evaluated: bool) -> None:
    """What is assigned to it may run a command."""
    assert is_evaluated(name) is evaluated


@for_each(("name", "is_steering"), [("GH_HOST", True), ("INPUTRC", True), ("SRC", False), ("GHOST", False)])
def test_programs_read_some_variables(name: str, *, is_steering: bool) -> None:
    """To set one changes where they connect to, or which settings they have, if it was exported before."""
    assert bool(fact_of(name, "steers")) is is_steering


def test_every_pattern_of_values_is_one() -> None:
    """And no field is one that nothing asks for."""
    rows = catalogue().variables.values()
    patterns = [str(row[field]) for row in rows for field in ("plain", "loads") if field in row]
    assert all(map(re.compile, patterns))
    assert {field for row in rows for field in row} == {
        "changes", "evaluated", "fills", "is_data", "leads", "loads", "plain", "runs", "runs_text", "special",
        "steers",
    }  # fmt: skip
