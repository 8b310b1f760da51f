"""Many globs at once: a name finds the numbers of those that fit it, and no others."""

from tests.tables import for_each

from permitry.core._globs import Globs, Names


def _names(*texts: str) -> Names:
    names = Names()
    for number, text in enumerate(texts):
        names.add(text, number)
    names.close()
    return names


@for_each(
    ("name", "found"),
    [
        ("", {0}),
        ("read_file", {0, 1, 3}),
        ("read_files", {0, 1}),
        ("my_file", {0, 3}),
        ("profile", {0}),
        ("a_middle_b", {0, 4}),
        ("ab", {0, 5}),
        ("READ_FILE", {0}),
    ],
)
def test_a_name_finds_the_patterns_that_fit_it(name: str, found: set[int]) -> None:
    """By what they begin with, end with or hold in between; case counts."""
    names = _names("*", "read_*", "exact", "*_file", "*middle*", "?b")
    assert names.find([name]) == found


def test_a_plain_name_is_filed_under_itself() -> None:
    """Also for several rules, and once for one that says it twice."""
    names = Names()
    for number in (1, 1, 2, 3):
        names.add("read", number)
    names.close()
    assert names.find(["read"]) == {1, 2, 3}
    assert names.find(["reads"]) == set()


def test_names_are_looked_up_together() -> None:
    """A rule is found when one of the names fits; no names find what is about all."""
    names = _names("a*", "b", "*")
    assert names.find(["ax", "b"]) == {0, 1, 2}
    assert names.find([]) == {2}


def test_a_glob_that_is_found_must_fit_as_well() -> None:
    """The piece it is filed under is only a part of it."""
    globs = Globs()
    globs.add("a*b*c", 1)
    globs.add("a*b*c", 2)
    globs.close()
    assert globs.find("a-b-c") == {1, 2}
    assert globs.find("a-c") == set()
