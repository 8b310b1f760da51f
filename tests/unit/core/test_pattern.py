"""Patterns over names; that they match what they should is a law in `tests/property/test_patterns.py`."""

from tests.tables import for_each

from permitry.core.pattern import CharSet, Globs, Pattern


@for_each(("pattern", "name"))
def test_a_pattern_fits(pattern: str, name: str) -> None:
    """A star means any run of characters, a question mark any one."""
    assert Pattern(pattern).matches(name)


@for_each(("pattern", "name"))
def test_a_pattern_does_not_fit(pattern: str, name: str) -> None:
    """The whole name must fit, letter case counts, and no other sign has a meaning."""
    assert not Pattern(pattern).matches(name)


@for_each(("pattern", "is_exact"), [("bash", True), ("", True), ("[a]", True), ("b*", False), ("b?", False)])
def test_a_pattern_without_wildcards_is_exact(*, pattern: str, is_exact: bool) -> None:
    """Only stars and question marks are wildcards."""
    assert Pattern(pattern).is_exact is is_exact


@for_each("piece", ["*a", "*a?", "a*"])
def test_many_stars_cost_little(piece: str) -> None:
    """A pattern that would keep a backtracking matcher busy for ever ends at once."""
    assert not Pattern(piece * 30 + "b").matches("a" * 3_000)


@for_each("is_negated", [False, True])
def test_a_set_of_characters_holds_both_ends_of_its_ranges(*, is_negated: bool) -> None:
    """And nothing next to them."""
    some = CharSet((("b", "d"), ("x", "x")), is_negated=is_negated)
    assert "".join(char for char in "abcdewxyB" if (char in some) is not is_negated) == "bcdx"


def test_a_set_that_ignores_case_holds_a_letter_in_either() -> None:
    """Negated, it holds what one of them is not in."""
    assert [char in CharSet((("b", "c"),), is_negated=False, ignores_case=True) for char in "aBbCD"] == [
        False, True, True, True, False,
    ]  # fmt: skip


def test_a_glob_that_is_found_must_fit_as_well() -> None:
    """The piece it is filed under is only a part of it."""
    globs = Globs()
    globs.add("a*b*c", 1)
    globs.add("a*b*c", 2)
    globs.close()
    assert globs.find("a-b-c") == {1, 2}
    assert globs.find("a-c") == set()


def test_a_glob_is_found_wherever_it_is_filed() -> None:
    """Both places of the last one are taken, and neither is emptier."""
    globs = Globs()
    for number, text in enumerate(("ab*", "*cd", "ab*cd")):
        globs.add(text, number)
    globs.close()
    assert [globs.find(name) for name in ("abxcd", "ab", "xcd", "abcde")] == [{0, 1, 2}, {0}, {1}, {0}]
