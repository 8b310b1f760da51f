"""One component of a path pattern, and another that may be the same name."""

import pytest

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
