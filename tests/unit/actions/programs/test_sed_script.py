"""The scripts of `sed`: what they write, read and run, and a refusal where two readers could differ."""

import pytest
from tests.tables import for_each

from permitry.actions.programs.entries import RefusedError
from permitry.actions.programs.sed_script import Effects, read_script
from permitry.core.action import Access, Word


@for_each(
    "text",
    ["", "p", "1,5p;$!d", "/a/I,+3{n;d}", "s/a/b/g;y/ab/cd/", "# note\nb end\n:end", "a\\\nx"],
)
def test_a_script_that_only_prints_has_no_effects(text: str) -> None:
    """Whatever it prints."""
    assert read_script(text) == Effects()


def test_files_are_named_to_the_end_of_the_line() -> None:
    """Those it reads and those it writes, in order."""
    found = read_script("r in;p\ns/a/b/gw out\nW log")
    assert found.files == (
        (Access.READ, Word("in;p")),
        (Access.WRITE, Word("out")),
        (Access.WRITE, Word("log")),
    )


def test_commands_are_handed_to_a_shell() -> None:
    """By `e` with a text; without one, or by a flag, it runs what it reads."""
    assert read_script("1e id").commands == ("id",)
    assert read_script("e").runs_input
    assert read_script("s/a/b/e").runs_input


def test_a_delimiter_in_brackets_is_not_read_alike() -> None:
    """Not every implementation takes it for a part of the expression."""
    assert not read_script("s/[/]/b/").is_common
    assert not read_script("/[/]/p").is_common
    assert read_script("s/[ab]/b/").is_common


@for_each(
    "text",
    [
        "k", "pp", "1,p", "s/a/b", "s\na\nb\n", "s/[a/b/", "s/[\\]/]/b/", "y/[/]/b/", "w", "w a\\b", "e a\\", "a",
        "a x\\", "/a", "p x", "s/a/b/z", "sé1é2é",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str) -> None:
    """A command that is unknown or cut, or ends where that depends on the reader."""
    with pytest.raises(RefusedError):
        read_script(text)
