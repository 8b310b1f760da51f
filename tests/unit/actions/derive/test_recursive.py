"""A command is taken apart until nothing runs anything else."""

import time

from tests.tables import for_each

from permitry.actions.derive.recursive import read_recursively, read_words_recursively
from permitry.core.action import Word


@for_each("text")
def test_the_hidden_command_is_found(text: str) -> None:
    """Through every program that runs another."""
    assert ("rm", "x") in {command.argv for command in read_recursively(text).commands}


def test_what_is_only_printed_runs_nothing() -> None:
    """Without a shell behind it, a text is a text."""
    assert ("rm", "x") not in {command.argv for command in read_recursively("echo 'rm x' | cat").commands}


def test_words_are_taken_apart_like_text() -> None:
    """A tool that takes an argv is no way around."""
    words = tuple(map(Word, ("sudo", "bash", "-c", "ls; rm x")))
    assert ("rm", "x") in {command.argv for command in read_words_recursively(words).commands}


def test_the_way_to_a_command_is_told() -> None:
    """Programs stand among the constructs."""
    found = {command.argv: command.within for command in read_recursively("(sudo sh -c 'rm x')").commands}
    assert found["rm", "x"] == ("(…)", "sudo", "sh")


def test_too_many_programs_around_another_are_said() -> None:
    """Behind the limit nothing is found, and the reading says so."""
    assert read_recursively("sudo " * 8 + "rm x").is_complete
    assert not read_recursively("sudo " * 9 + "rm x").is_complete


def test_an_alias_in_the_environment_is_a_command_of_git() -> None:
    """Its name is in another variable; any value may be one."""
    found = {command.argv for command in read_recursively("GIT_CONFIG_VALUE_0=push git p").commands}
    assert ("git", "push") in found


@for_each("piece")
def test_time_is_bounded(piece: str) -> None:
    """No repetition makes it slow; the processor is measured, as the machine may be busy."""
    begin = time.process_time()
    read_recursively((piece * 65536)[:65536])
    assert time.process_time() - begin < 8


@for_each("text")
def test_what_a_shell_is_fed_is_no_guess(text: str) -> None:
    """By a pipe, or by its own here-document."""
    found = [command for command in read_recursively(text).commands if command.argv == ("rm", "x")]
    assert any(not command.is_guess for command in found)


@for_each("text")
def test_what_a_shell_may_be_fed_is_a_guess(text: str) -> None:
    """Some shell takes commands from its input, but this is not known to be them."""
    found = [command for command in read_recursively(text).commands if command.argv == ("rm", "x")]
    assert all(command.is_guess for command in found)
