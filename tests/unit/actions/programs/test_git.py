"""What git runs besides itself."""

from tests.tables import for_each

from permitry.actions.programs.git import git_runs, without_options
from permitry.actions.reading.lenient import read_leniently


def _runs(text: str) -> set[str]:
    inners = git_runs(read_leniently(text).commands[0].words)
    return {(inner.text if inner.text is not None else " ".join(word.text for word in inner.words)) for inner in inners}


@for_each(("text", "inner"))
def test_what_git_runs_is_found(text: str, inner: str) -> None:
    """An alias without a mark is another command of git."""
    assert inner in _runs(text)


@for_each("text")
def test_an_alias_that_nobody_has_seen_is_any_command(text: str) -> None:
    """A variable or a file holds it."""
    inners = git_runs(read_leniently(text).commands[0].words)
    assert any(word.is_open for inner in inners for word in inner.words)


@for_each(("text", "bare"))
def test_the_options_before_the_sub_command_are_taken_off(text: str, bare: str) -> None:
    """What is left is compared with patterns as well."""
    words = read_leniently(text).commands[0].words
    assert " ".join(word.text for word in without_options(words)) == bare


def test_a_plain_command_runs_only_git() -> None:
    """Words that merely stand there are none."""
    assert _runs("git commit -m x") == set()
