"""Programs that a text makes itself, by the names of the files that it may write."""

from tests.tables import for_each

from permitry.actions.derive.script import read_command
from permitry.actions.folders import Folder
from permitry.actions.programs.made import run_of_made
from permitry.core.action import Unknown


def _asked(text: str) -> bool:
    reading = read_command(text, Folder(("/w",), None))
    return any(isinstance(each, Unknown) and "itself makes" in each.reason for each in reading.certain)


@for_each("text")
def test_a_program_that_the_text_makes_is_not_known(text: str) -> None:
    """Wherever in the text it is made, and however it is run."""
    assert _asked(text)


@for_each(
    "text",
    [
        "cp a b; ./x", "cp a x; x", 'cp a "$y"; /usr/bin/ls', 'cp a "$y"; ls', "chmod +x *.sh; ./x", "cat x > a; ./x",
        "./x; ls", "cp a b; . ./x", "cat a > x.py; python x.py", "cat a > x; sh -c 'ls' x",
        "cp a venv; . venv/bin/activate", "cp -r a .; ./x", "cp -r a b; . venv/bin/activate", "mv a b; d/x",
        "mkdir venv; . venv/bin/activate", "ln a d; d/x",
        "sed -i s/a/b/ src/*.py; ./x", "sed -n 1p x; ./x", ". venv/bin/activate", "cat a > x; git commit -m x",
    ],
)  # fmt: skip
def test_another_program_is_what_it_is_called(text: str) -> None:
    """A needless question is a defect as well."""
    assert not _asked(text)


@for_each("text, is_asked")
def test_a_name_that_is_made_may_be_an_option(text: str, *, is_asked: bool) -> None:
    """Where a pattern, or a program that prints names, may hand it on."""
    reading = read_command(text, Folder(("/w",), None))
    assert any(isinstance(each, Unknown) for each in reading.certain) is is_asked


def test_no_command_makes_nothing() -> None:
    """As for a call without a shell."""
    assert run_of_made(()) is None
