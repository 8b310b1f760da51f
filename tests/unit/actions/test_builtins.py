"""Which builtins move the shell, or give variables a value, held against bash itself."""

import shutil
import subprocess

import pytest
from tests.tables import for_each

from permitry.actions.builtins import (
    ASSIGNING,
    DECLARING,
    MOVES,
    MOVING,
    NAMING,
    READING,
    has_meaning,
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@for_each("name", sorted(MOVES | ASSIGNING | NAMING))
def test_each_is_a_builtin_of_bash(name: str) -> None:
    """By its own word for it."""
    done = subprocess.run(["bash", "-c", f"type -t {name}"], capture_output=True, text=True, check=True)
    assert done.stdout == "builtin\n"


def test_no_builtin_is_of_two_kinds() -> None:
    """One moves, declares or reads."""
    assert len(DECLARING | MOVING | READING) == len(DECLARING) + len(MOVING) + len(READING)


@for_each("name, expected", [("fc", True), ("cd", True), ("cat", True), ("until", True), ("rr", False)])
def test_some_names_mean_something(name: str, *, expected: bool) -> None:
    """A function of such a name would be read as the builtin or the program."""
    assert has_meaning(name) is expected
