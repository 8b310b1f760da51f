"""What a file says, and its pieces."""

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry_tools.corpus.text import Text, pieces_of, read_text


@for_each(
    ("name", "data", "want"),
    [
        ("a/notes.txt", b"one\r\ntwo\n", Text("notes", "one\ntwo", "text")),
        ("notes.MD", "\ufeff# A  title\n\nmore\n".encode(), Text("A title", "# A  title\n\nmore", "markdown")),
        ("notes.md", b"## Not the first\n", Text("notes", "## Not the first", "markdown")),
        ("p.html", b"<title>A &amp; B</title><p>one<p>two <b>three</b>", Text("A & B", "one\n\ntwo three", "html")),
        ("p.htm", b"<p>no title</p>", Text("p", "no title", "html")),
        ("p.html", b"<script>x()</script><style>y</style>seen", Text("p", "seen", "html")),
        ("p.html", b"one<br>two<li>three", Text("p", "one\n\ntwo\n\nthree", "html")),
        ("empty.txt", b"", Text("empty", "", "text")),
        ("main.py", b"x = 1", Text("main", "x = 1", "text")),
    ],
)
def test_a_file_is_read_by_its_ending(name: str, data: bytes, want: Text) -> None:
    """Title, words, and the kind of text."""
    assert read_text(PurePath(name), data) == want


def test_a_title_is_not_endless() -> None:
    """A page cannot fill every answer with its title."""
    assert len(read_text(PurePath("a.md"), b"# " + b"x" * 1_000).title) == 200


@for_each(("data", "expected"), [(b"\xff\xfe", "it is not UTF-8 text"), (b"a\0b", "it holds zero bytes")])
def test_what_is_no_text_is_refused(data: bytes, expected: str) -> None:
    """A picture is not read as words."""
    with pytest.raises(ValueError, match=expected):
        read_text(PurePath("a.txt"), data)


def test_paragraphs_stand_together_while_they_fit() -> None:
    """A piece is as long as it may be, and breaks at paragraphs."""
    assert pieces_of("aaa\n\nbbb\n \nccc\n\n\n\nddd", 8) == ["aaa\n\nbbb", "ccc\n\nddd"]


@for_each(("text", "want"))
def test_a_long_paragraph_is_cut_where_it_hurts_least(text: str, want: list[str]) -> None:
    """At a sentence, else at a word, else anywhere."""
    assert pieces_of(text, 12) == want


@given(st.text(alphabet="ab .\n", max_size=300), st.integers(5, 50))
def test_no_word_is_lost_or_doubled(text: str, longest: int) -> None:
    """The pieces hold what the text holds, in its order, and none is empty or too long."""
    pieces = pieces_of(text, longest)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece.strip() and len(piece) <= longest for piece in pieces)
