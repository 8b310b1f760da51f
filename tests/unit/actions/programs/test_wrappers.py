"""What a wrapper runs by its words, and which variables change nothing that matters."""

import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import RefusedError, Wrapper
from permitry.actions.programs.wrappers import check_assignments, runs_file, runs_text, wrapped
from permitry.core.action import Word


def _wrapped(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    words = tuple(map(Word, text.split()))
    entry = record_of(words[0].text)
    inner, assignments = wrapped(Command(words), entry, entry.runs or Wrapper())
    return " ".join(word.text for word in inner), assignments


def test_a_wrapper_runs_what_is_behind_its_options() -> None:
    """And sets variables, or takes them away; with some options it runs nothing."""
    assert _wrapped("timeout -k 5 3 ls -l") == ("ls -l", ())
    assert _wrapped("env -u A B=c ls") == ("ls", (("A", ""), ("B", "c")))
    assert _wrapped("env") == ("", ())


@for_each("text", ["timeout 5", "timeout --unknown 5 ls", "env -u A", "env -S ls"])
def test_a_wrapper_is_refused_that_is_not_certain(text: str) -> None:
    """Without a command, or with an option that is not listed."""
    with pytest.raises(RefusedError):
        _wrapped(text)


@for_each(
    "text, is_text, is_file",
    [
        ("-c ls", True, False), ("-lc ls a", True, False), ("-c -l ls", False, False), ("-ec ls", False, False),
        ("f -c", False, True), ("-o pipefail f", False, True), ("-e -- f", False, True), ("-i f", False, False),
    ],
)  # fmt: skip
def test_a_shell_runs_a_text_or_a_file(text: str, *, is_text: bool, is_file: bool) -> None:
    """Any other call of it is neither."""
    words = [Word(word) for word in text.split()]
    assert (runs_text(words), runs_file(words)) == (is_text, is_file)


def test_only_harmless_variables_pass() -> None:
    """With harmless values."""
    check_assignments([("LC_ALL", "C"), ("COLUMNS", "80")])
    for name, value in (("PATH", "/x"), ("COLUMNS", "$(ls)")):
        with pytest.raises(RefusedError):
            check_assignments([(name, value)])
