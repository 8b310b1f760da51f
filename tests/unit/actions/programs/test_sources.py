"""The files from which a program takes code."""

from tests.tables import for_each

from permitry.actions.programs.sources import sources_of
from permitry.core.action import Word

_OF_MAKE = {"Makefile", "makefile", "GNUmakefile"}


@for_each(
    ("text", "files"),
    [
        ("make -f x all", {*_OF_MAKE, "x"}),
        ("make -sfx", {*_OF_MAKE, "x"}),
        ("make --fil=- -k", {*_OF_MAKE, "-"}),
        ("gmake --makefile x", {*_OF_MAKE, "x"}),
        ("make --fo", _OF_MAKE),
        ("make -f", _OF_MAKE),
        ("/usr/bin/awk -f x y", {"x"}),
        ("gawk -E x y", {"x"}),
        ("vim -es -S x", {"-S", "x"}),
        ("grep -f x y", set()),
        ("unheard -f x", set()),
    ],
)
def test_the_values_of_options_are_files_with_code(text: str, files: set[str]) -> None:
    """In any spelling of an option; with a cluster of letters, each may be the one that takes the rest."""
    assert {word.text for word in sources_of([Word(each) for each in text.split()])} == files
