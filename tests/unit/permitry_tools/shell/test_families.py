"""The families of shell tools: chosen by name, each once, and a wrong name is never passed over."""

import pytest
from tests.tables import for_each

from permitry_tools.shell.families import DEFAULT, FAMILIES, check_families


def test_what_is_offered_by_default_is_known() -> None:
    """A default with a wrong name would offer nothing."""
    assert check_families(DEFAULT) == DEFAULT
    assert check_families(FAMILIES) == FAMILIES


def test_a_family_is_chosen_once() -> None:
    """In the order of the names; no names choose none."""
    assert check_families(["shell", "run_shell", "shell"]) == ("shell", "run_shell")
    assert check_families([]) == ()


@for_each(("name", "hint"), [("run_shel", "did you mean `run_shell`"), ("zzz", "known: run_shell,")])
def test_an_unknown_family_is_refused(name: str, hint: str) -> None:
    """With the nearest one, or all there are."""
    with pytest.raises(ValueError, match=hint):
        check_families(["shell", name])


def test_one_string_is_no_list_of_families() -> None:
    """It would be taken for a list of its letters."""
    with pytest.raises(TypeError, match="'run_shell'"):
        check_families("run_shell")
