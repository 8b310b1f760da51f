"""What is unknown of a text: only paths, where it surely runs nothing but programs that are named."""

from tests.tables import for_each

from permitry.actions.derive.accounted import ANYTHING, PATHS, WORDS, what_is_unknown
from permitry.actions.reading.lenient import read_leniently


def _unknown(text: str) -> str:
    return what_is_unknown(text, read_leniently(text))


@for_each("text", ["cat $F", 'rm "$D"/x', "ls ${A} | wc -l", "echo $?", "grep x f > $OUT"])
def test_an_expansion_among_operands_is_words_alone(text: str) -> None:
    """Of programs that run nothing besides themselves."""
    assert _unknown(text) == WORDS


@for_each("text", ["cp $A b; cat b", "mv $A b", "ln -s $A b", "link $A b", "unzip $A"])
def test_where_links_can_be_made_paths_are_unknown(text: str) -> None:
    """A name behind it may lead elsewhere."""
    assert _unknown(text) == PATHS


@for_each("text")
def test_anything_else_may_do_anything(text: str) -> None:
    """A program that is not listed, or any other sign."""
    assert _unknown(text) == ANYTHING
