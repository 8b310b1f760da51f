"""How an option may be spelled."""

from tests.tables import for_each

from permitry.actions.programs.spelling import has_option, is_option, values_in
from permitry.core.action import Word


@for_each(
    ("given", "is_it"),
    [
        ("--backup", True),
        ("--back", True),
        ("--b", True),
        ("--", False),
        ("-b", False),
        ("-", False),
        ("--backups", False),
    ],
)
def test_a_long_option_may_be_abbreviated(given: str, *, is_it: bool) -> None:
    """By one letter or more."""
    assert is_option(given, "--backup") is is_it


def test_a_short_option_is_its_name() -> None:
    """A word after one hyphen is not abbreviated."""
    assert is_option("-b", "-b")
    assert not is_option("-del", "-delete")


@for_each(
    ("text", "is_found"),
    [("-b", True), ("-abc", True), ("--back", True), ("--backup=t", True), ("--", False), ("-", False), ("b", False)],
)
def test_an_option_is_found_in_a_cluster_and_abbreviated(text: str, *, is_found: bool) -> None:
    """A word without a hyphen is none."""
    assert has_option(Word(text), frozenset({"-b", "--backup", "*"})) is is_found


@for_each("text", ["-delete", "-xz", "-zx=a"])
def test_an_option_is_found_as_one_word_or_before_an_equals_sign(text: str) -> None:
    """What is behind the sign is a value."""
    assert has_option(Word(text), {"-delete", "-x"})
    assert not has_option(Word("-d=x"), {"-delete", "-x"})


@for_each(
    ("text", "values"),
    [("-f", [""]), ("-fa", ["a"]), ("-sfa", ["a"]), ("--file=a", ["a"]), ("--fi", [""]), ("file", []), ("-s=f", [])],
)
def test_a_value_may_be_attached(text: str, values: list[str]) -> None:
    """An empty one is that there is none."""
    assert list(values_in(text, {"-f", "--file", "file"})) == values
