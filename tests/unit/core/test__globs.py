"""Many globs at once: a name finds the numbers of those that fit it, and no others."""

from permitry.core._globs import Globs


def test_a_glob_that_is_found_must_fit_as_well() -> None:
    """The piece it is filed under is only a part of it."""
    globs = Globs()
    globs.add("a*b*c", 1)
    globs.add("a*b*c", 2)
    globs.close()
    assert globs.find("a-b-c") == {1, 2}
    assert globs.find("a-c") == set()
