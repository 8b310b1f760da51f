"""What programs of `awk` and scripts of `sed` run besides printing."""

from tests.tables import for_each

from permitry.actions.programs.running import ANY_COMMAND, Inner
from permitry.actions.programs.scripted import commands_of_awk, commands_of_sed
from permitry.core.action import Word


def _runs(*words: str) -> list[Inner]:
    commands = commands_of_sed if "sed" in words[0] else commands_of_awk
    return list(commands(tuple(map(Word, words))))


def test_a_program_of_awk_runs_its_literals() -> None:
    """Where it has `system` or a pipe; which of them is a guess."""
    found = _runs("awk", 'BEGIN { system("rm x"); print "a\\"b" }')
    assert found == [Inner("", text=text, is_guess=True) for text in ("rm x", 'a"b')]


def test_a_program_of_awk_that_runs_what_it_computes_may_run_anything() -> None:
    """Its command is not a literal."""
    assert ANY_COMMAND in _runs("gawk", "{ system($1) }")
    assert ANY_COMMAND in _runs("mawk", "{ print | $1 }")


def test_a_program_of_awk_that_only_prints_runs_nothing() -> None:
    """Whatever its literals are."""
    assert _runs("awk", '{ print "rm x" }') == []
    assert _runs("awk") == []


def test_a_script_of_sed_runs_the_text_behind_its_command() -> None:
    """Exactly that."""
    assert _runs("sed", "1e rm x", "f") == [Inner("", text="rm x")]
    assert _runs("sed", "-n", "p", "f") == []


@for_each("script", ["e", "s/a/b/e", "s/[\\]/]/b/", "k"])
def test_a_script_of_sed_that_runs_its_input_may_run_anything(script: str) -> None:
    """And so may one that cannot be read."""
    assert ANY_COMMAND in _runs("sed", script, "f")
