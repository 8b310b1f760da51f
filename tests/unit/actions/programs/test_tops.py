"""From names that were found to the folders that were searched."""

from permitry.actions.programs.named import Copy, Named, Operands
from permitry.actions.programs.tops import fits_one, only_top, with_tops
from permitry.core.action import Access, Word
from permitry.core.words import Found

SRC = Word("src")


def _name(found: Found) -> Word:
    return Word("{}", is_open=True, found=found)


def test_a_name_becomes_the_folder_that_was_searched() -> None:
    """All below it, and not the folder where that has another name."""
    found = Found((SRC, Word("a.py")), ("*.py",))
    operands = with_tops(Operands((Named(Access.READ, _name(found)), Named(Access.READ, SRC))))
    shown = [(each.word.text, each.is_tree, each.is_around, each.goes_on) for each in operands.paths]
    assert shown == [("src", True, True, False), ("a.py", True, False, False), ("src", False, False, False)]


def test_what_goes_on_below_a_name_does_so_below_the_folder() -> None:
    """As `rm -r`."""
    (named,) = with_tops(Operands((Named(Access.DELETE, _name(Found((SRC,))), is_tree=True),))).paths
    assert (named.goes_on, named.is_around) == (True, False)


def test_the_value_of_an_option_is_the_number_alone() -> None:
    """What is cut off from `-o$(nproc)` is a name of digits, and the whole is what it was."""
    found = Found((Word("-o[0-9]*", is_glob=True),), is_top=True)
    value, whole = (only_top(Word(text, is_open=True, found=found)) for text in ("$(nproc)", "-o$(nproc)"))
    assert (value.text, value.is_glob, whole.text) == ("[0-9]*", True, "-o[0-9]*")


def test_one_name_is_nothing_but_its_top() -> None:
    """A new folder is no search: nothing below it is meant, and a copy into it goes there."""
    word = _name(Found((Word("new"),), is_top=True))
    operands = with_tops(Operands((Named(Access.READ, word),), copies=(Copy((SRC,), word),)))
    assert not operands.paths[0].is_tree
    assert operands.copies[0].target == only_top(word) == Word("new")
    assert only_top(SRC) == SRC


def test_names_are_compared_without_regard_to_case() -> None:
    """A disk may take them for the same."""
    assert fits_one("A.PY", ["b", "*.py"])
    assert not fits_one("a.pyc", ["*.py"])
