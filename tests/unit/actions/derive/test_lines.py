"""Commands as they are written."""

from tests.tables import for_each

from permitry.actions.derive.lines import lines_of, with_keyword
from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Run


def _lines(text: str) -> list[str]:
    lines = lines_of(read_strictly(text)).values()
    return [" ".join(word.text for word in (*each.assigned, *each.words)) for each in lines]


@for_each(("text", "lines"))
def test_a_line_has_all_words_of_a_command(text: str, lines: list[str]) -> None:
    """Assignments come first, and so does the keyword `time`."""
    assert _lines(text) == lines


def test_a_command_without_a_keyword_is_itself() -> None:
    """Nothing is made for most commands."""
    (command,) = read_strictly("make")
    assert with_keyword(command) is command


@for_each(("text", "is_by_name"))
def test_scripts_and_packages_are_run_by_name(text: str, *, is_by_name: bool) -> None:
    """A program that is known is none, and neither is a text."""
    certain = read_command(text, Folder(("/w",), "/home/ann")).certain
    inner = [each for each in certain if isinstance(each, Run)][-1]
    assert inner.line is not None
    assert inner.line.runs_by_name is is_by_name
