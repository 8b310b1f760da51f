"""From the bytes of a page to text that can be read."""

import time

import pytest
from tests.tables import for_each

from permitry.errors import ToolError
from permitry_tools.web.pages import LONGEST_TEXT, read_page


def _text(html: str) -> str:
    return read_page("text/html", html.encode())[1]


def test_a_page_has_a_title_and_a_text() -> None:
    """The title is not a part of the text."""
    page = "<html><head><title> A\n page </title></head><body><h1>Head</h1><p>One &amp; two.</p></body></html>"
    assert read_page("text/html; charset=utf-8", page.encode()) == ("A page", "Head\n\nOne & two.")


@for_each("tag", ["script", "style", "noscript", "template", "svg"])
def test_what_is_not_meant_to_be_read_is_dropped(tag: str) -> None:
    """Programs and styles are not text."""
    assert _text(f"<p>a</p><{tag}><b>hidden</b></{tag}><p>b</p>") == "a\n\nb"


def test_comments_are_dropped() -> None:
    """A reader does not see them either."""
    assert _text("a<!-- hidden -->b") == "ab"


def test_lines_of_the_source_are_no_lines_of_the_page() -> None:
    """Blanks are one blank, blocks are lines."""
    assert _text("<p>one\n   two</p><ul><li>a</li>\n <li>b</li></ul>c<br>d") == "one two\n\na\n\nb\n\nc\nd"


def test_set_text_keeps_its_lines() -> None:
    """Code is of no use without its indentation."""
    assert _text("<pre>if a:\n    <b>b</b>\n</pre>after") == "if a:\n    b\n\nafter"


def test_a_title_in_a_picture_is_not_the_page_s() -> None:
    """Pictures in a page have titles of their own."""
    assert read_page("text/html", b"<title>A</title><svg><title>B</title></svg>c")[0] == "A"


@for_each("rest", ["<", "<a", "<a href='", "<!-- a", "<script>a", "</", "&amp", "<!", "<?"])
def test_an_unfinished_page_is_read_as_far_as_it_goes(rest: str) -> None:
    """A page may be cut where the limit was."""
    assert _text(f"<p>before</p>{rest}").startswith("before")


@for_each(
    ("content_type", "body", "text"),
    [
        ("text/plain", b"a <b> c", "a <b> c"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/ld+json", b"{}", "{}"),
        ("application/atom+xml; charset=utf-8", b"<a/>", "<a/>"),
        ("TEXT/CSV", b"a,b", "a,b"),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "caf\xe9"),
        ("text/plain; charset=utf-16-le", "é".encode("utf-16-le"), "é"),
        ("text/plain", b"\xff", "\ufffd"),
        ("text/html", b"<meta charset='windows-1252'>\x80", "€"),
        ("application/xhtml+xml", b"<p>a</p>", "a\n"[:1]),
    ],
)
def test_text_of_any_kind_is_shown(content_type: str, body: bytes, text: str) -> None:
    """Text is text, in the encoding that is declared."""
    assert read_page(content_type, body)[1] == text


@for_each("charset", ["hex", "zlib", "rot13", "punycode", "idna", "unicode_escape", "no-such"])
def test_what_is_no_encoding_of_text_is_not_used(charset: str) -> None:
    """Python knows encodings that unpack, or take very long."""
    assert read_page(f"text/plain; charset={charset}", b"6162")[1] == "6162"


@for_each(
    "content_type", ["application/pdf", "image/png", "application/octet-stream", "audio/mpeg", "application/zip", "x"]
)
def test_what_is_no_text_is_refused_with_its_type(content_type: str) -> None:
    """A model cannot read it."""
    with pytest.raises(ToolError, match=f"`{content_type}`"):
        read_page(content_type, b"")


def test_content_without_a_type_is_refused() -> None:
    """No one guesses."""
    with pytest.raises(ToolError, match="no type"):
        read_page("", b"<p>a</p>")


def test_a_long_text_is_shortened_and_says_so() -> None:
    """A page has at most 8,000 characters, the marker included."""
    text = read_page("text/plain", b"a" * 10_000)[1]
    assert len(text) == LONGEST_TEXT
    assert text.endswith("\n...[2000 characters left out]...")


@for_each(
    "piece", ["<a ", "<a b='", "<", "<!--", "</", "<b>", "<svg></style>", "<script>", "<![CDATA[", "&", "<pre>", "<a/"]
)
def test_reading_is_about_linear(piece: str) -> None:
    """Six times the page is read in less than twenty-five times the time."""
    small, large = (_seconds(piece * (size // len(piece))) for size in (100_000, 600_000))
    # The minimum leaves out what a busy machine adds.
    assert large < 25 * max(small, 0.03)


def test_a_tag_that_never_ends_is_let_go() -> None:
    """It would be read again with every piece: four times the page in less than seven times the time."""
    small, large = (_seconds("<a " * (size // 3)) for size in (500_000, 2_000_000))
    assert large < 7 * max(small, 0.05)


def _seconds(page: str) -> float:
    before = time.process_time()
    read_page("text/html", page.encode())
    return time.process_time() - before
