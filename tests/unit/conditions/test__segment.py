"""One component of a path pattern, and another that may be the same name."""

from tests.tables import for_each

from permitry.conditions._segment import Segment
from permitry.core.pattern import fold


@for_each(("ours", "theirs", "may_be"))
def test_a_pattern_may_be_a_name_that_the_shell_makes(ours: str, theirs: str, may_be: bool) -> None:  # noqa: FBT001 -- a column
    """A star of the shell begins no hidden name, and `[*]` is taken for what is written out alone."""
    assert Segment.parse(ours).may_match(Segment.guess(theirs)) is may_be


@for_each(("text", "hint"))
def test_a_hint_is_in_every_name_that_fits(text: str, hint: str) -> None:
    """It is the longest text that is sure, with the slashes around the name: an accent may follow."""
    assert Segment.parse(text).hint == hint


@for_each("text", ["cafe\u0301?", "cafe\u0301[0-9]", "CAFE\u0301[1]*", "*e\u0301[1]", "caf\u00e9?"])
@for_each("name", ["cafe\u03011", "caf\u00e91", "Cafe\u03011"])
def test_a_letter_and_its_accent_are_one_letter(text: str, name: str) -> None:
    """However each of them is written, also where the pattern goes on with a wildcard of one letter."""
    assert Segment.parse(text).may_name(name)


@for_each("name", [".GIT.", ".git x", "a.TAR.gz", "xy", "café", "cafe\u0301x"])
def test_a_name_fits_as_written_or_folded(name: str) -> None:
    """As two folders do that a file system takes for one; then the hint is in it."""
    patterns = [Segment.parse(text) for text in (".git[. ]*", "*.tar.gz", "[!A]?", "CAFÉ", "cafe*")]
    fitting = [each for each in patterns if each.may_name(name)]
    assert fitting
    assert all(each.hint in f"/{fold(name)}/" for each in fitting)
