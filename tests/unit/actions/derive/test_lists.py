"""A list of words where shell text is expected."""

from tests.tables import for_each

from permitry.actions.derive.lists import read_list
from permitry.actions.folders import Folder
from permitry.core.action import phrase


@for_each(("words", "expected"))
def test_a_list_is_read_in_each_way_a_program_may_run_it(words: list[str], expected: list[list[str]]) -> None:
    """As arguments, its first word as a text, joined by blanks and by commas: no program has a name such as `ls,-l`."""
    readings = read_list(words, Folder(("/nowhere",), None))
    assert [list(map(phrase, each.certain)) for each in readings] == expected
