"""What a text names."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry_tools.corpus.entities import entities_of, key_of


@for_each(("text", "want"))
def test_names_are_capitalised_words_in_a_row(text: str, want: list[str]) -> None:
    """Two at least, without those that only open a sentence."""
    assert [each.name for each in entities_of(text) if each.kind == "name"] == want


@for_each(
    ("text", "want"),
    [
        ('call `run_shell` with "--all" or \u201cconfig.toml\u201d', ["run_shell", "--all", "config.toml"]),
        ('she said "two words" and `a`', []),
    ],
)
def test_identifiers_are_single_quoted_words(text: str, want: list[str]) -> None:
    """In backticks or double quotes, without a blank."""
    assert [each.name for each in entities_of(text) if each.kind == "identifier"] == want


def test_hashtags_begin_with_a_letter_and_stand_free() -> None:
    """A heading, a number and the fragment of an address are none."""
    text = "#computing and #Über-fun, # heading, #1, a#b, &#x27, /#top ##two"
    assert [each.name for each in entities_of(text) if each.kind == "hashtag"] == ["#computing", "#Über-fun"]


def test_each_entity_counts_once() -> None:
    """Whatever its case and blanks; the first spelling stays."""
    assert [each.name for each in entities_of("Ada Lovelace, ADA LOVELACE, Ada  Lovelace")] == ["Ada Lovelace"]


def test_a_passage_names_64_entities_at_most() -> None:
    """A page of nothing but names stays small in the graph."""
    assert len(entities_of(" ".join(f"`id_{number}`" for number in range(100)))) == 64


@given(st.text())
def test_any_text_has_entities_with_a_key(text: str) -> None:
    """No text fails, and every key is text to SQLite."""
    assert all(key_of(each.name).encode() for each in entities_of(text))
