"""One component of a path pattern, and another that may be the same name."""

import pytest

from permitry.core.pattern import fold
from permitry.rules.conditions._segment import Segment


@pytest.mark.parametrize(
    ("ours", "theirs", "may_be"),
    [
        ("a", "a", True),
        ("A", "a", True),
        ("*.py", "a.py", True),
        ("*.py", "*.pyc", False),
        ("a*", "*b", True),
        (".env", "*env", False),
        (".env", ".e*", True),
        ("*.py", "[*]", False),
        ("a", "[*]", True),
    ],
)
def test_a_pattern_may_be_a_name_that_the_shell_makes(ours: str, theirs: str, may_be: bool) -> None:  # noqa: FBT001 -- a column
    """A star of the shell begins no hidden name, and `[*]` is taken for what is written out alone."""
    assert Segment.parse(ours).may_match(Segment.guess(theirs)) is may_be


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (".Git", "/.git/"),
        (".git[. ]*", "/.gi"),
        ("*.tar.gz", ".tar.gz/"),
        ("a*long*b", "lon"),
        ("caf\u00e9*", "/caf"),
        ("\u00e9a*", "/"),
        ("cafe*", "/caf"),
        ("?[ab]", "/"),
        ("*", "/"),
    ],
)
def test_a_hint_is_in_every_name_that_fits(text: str, hint: str) -> None:
    """It is the longest text that is sure, with the slashes around the name: an accent may follow."""
    assert Segment.parse(text).hint == hint


@pytest.mark.parametrize("name", [".GIT.", ".git x", "a.TAR.gz", "xy", "café", "cafe\u0301x"])
def test_a_name_fits_as_written_or_folded(name: str) -> None:
    """As two folders do that a file system takes for one; then the hint is in it."""
    patterns = [Segment.parse(text) for text in (".git[. ]*", "*.tar.gz", "[!A]?", "CAFÉ", "cafe*")]
    fitting = [each for each in patterns if each.may_name(name)]
    assert fitting
    assert all(each.hint in f"/{fold(name)}/" for each in fitting)
