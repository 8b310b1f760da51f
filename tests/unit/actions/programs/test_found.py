"""Where the names come from that a command prints, and which commands print one word."""

from tests.tables import for_each

from permitry.actions.programs.found import names_by, plain_of
from permitry.actions.reading.strict import read_strictly
from permitry.core.words import Found


def _found(text: str) -> Found | None:
    found: Found | None = None
    for command in read_strictly(text):
        found = names_by(command, found)
    return found


@for_each(("text", "tops"))
def test_where_names_come_from(text: str, tops: str) -> None:
    """`ls` prints names without their folder, so that they are looked for in the current one."""
    found = _found(text)
    assert found is not None
    assert " ".join(top.text for top in found.tops) == tops


@for_each("text")
def test_where_that_is_not_known(text: str) -> None:
    """Names from elsewhere, from the top of a work tree, or by a search that follows links."""
    assert _found(text) is None


@for_each(("text", "is_apart"))
def test_what_separates_names(text: str, *, is_apart: bool) -> None:
    """A filter may cut a name at a newline in it."""
    found = _found(text)
    assert found is not None
    assert found.is_apart is is_apart


@for_each(("text", "pattern"))
def test_what_prints_one_word(text: str, pattern: str) -> None:
    """A number, a date or a hash, in which there is no slash."""
    (command,) = read_strictly(text)
    assert plain_of(command) == pattern
