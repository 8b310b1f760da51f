"""The paths and hosts that variables name."""

from tests.tables import for_each

from permitry.actions.folders import Folder
from permitry.actions.programs.settings import connects, touch_by_variables
from permitry.actions.reading.strict import read_strictly
from permitry.core.action import Connect, Touch, Word


def _named(text: str) -> list[str | None]:
    (command,) = read_strictly(text)
    found = touch_by_variables(command, Folder(("/w",), None))
    return [each.place.text if isinstance(each, Touch) else each.host for each in found]


@for_each(("text", "names"))
def test_a_setting_names_a_path_or_a_host(text: str, names: list[str]) -> None:
    """Only a variable that has a meaning for programs, or an address that is given to one."""
    assert _named(text)[: len(names) or None] == names


def test_another_work_tree_is_filled_by_commands_of_git_that_do_that() -> None:
    """With names that are not known; others only look at it."""
    texts = ("GIT_WORK_TREE=/a git pull", "GIT_WORK_TREE=/a git status", "GIT_WORK_TREE=/a", "export GIT_WORK_TREE=/a")
    found = [next(touch_by_variables(read_strictly(text)[0], Folder((), None))) for text in texts]
    assert [isinstance(each, Touch) and each.place.is_tree for each in found] == [True, False, False, False]


def test_an_address_that_is_not_known_may_be_any() -> None:
    """And is never certain."""
    assert list(connects(Word("", is_open=True))) == [Connect("an address that comes from elsewhere", is_certain=False)]
    assert not any(each.is_certain for each in connects(Word("http://a.com")))
