"""From the bytes of a page to text that can be read."""

import codecs
import html.parser
import re

from permitry.port import ToolError

__all__ = ["LONGEST_TEXT", "read_page", "readable"]

LONGEST_TEXT = 8000
_LONGEST_TITLE = 300
_PIECE = 64 * 1024
# An unfinished tag is read again with every piece. One this long is let go: its rest shows as text.
_LONGEST_TAG = 256 * 1024
_DEEPEST = 50

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = re.compile(r"text/[a-z0-9.+-]+|application/([a-z0-9.-]+\+)?(json|xml)")
_ENCODINGS = re.compile(r"(utf|iso8859|cp125|ascii|koi8|shift_jis|euc|gb|big5)[a-z0-9_-]*")
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})")

_DROPPED = frozenset({"noscript", "script", "style", "svg", "template"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure",
        "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre",
        "section", "table", "td", "th", "title", "tr", "ul",
    }
)  # fmt: skip


def read_page(content_type: str, body: bytes) -> tuple[str, str]:
    """Return the title and the text of a page; the title is empty where there is none, the text has 8,000 characters.

    Raises: `ToolError` for a content type that is not text.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    if not media_type:
        raise ToolError("its content has no type, so it is not taken for text")
    if not _TEXTS.fullmatch(media_type) and media_type not in _HTML:
        raise ToolError(f"its content is `{media_type[:60]}`, not text")
    is_html = media_type in _HTML
    text = body.decode(_find_encoding(content_type, body if is_html else b""), errors="replace")
    title, text = readable(text) if is_html else ("", text)
    return title[:_LONGEST_TITLE], _shorten(text)


def _shorten(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    marker = f"\n...[{len(text) - LONGEST_TEXT} characters left out]..."
    return text[: LONGEST_TEXT - len(marker)] + marker


def _find_encoding(content_type: str, body: bytes) -> str:
    """Return the encoding that is declared, by the server or else in the page, if it is one of text."""
    for place in (content_type, body[:1024].decode("latin-1")):
        found = _CHARSET.search(place)
        if found is not None:
            try:
                name = codecs.lookup(found[1]).name
            except LookupError:
                continue
            if _ENCODINGS.fullmatch(name):
                return name
    return "utf-8"


def readable(text: str) -> tuple[str, str]:
    """Return the title and the text of a page of HTML, in a time that grows with its length and not faster."""
    reader = _Reader()
    # The last tag ends what is open. The parser is not closed: it would read an unfinished rest many times over.
    for piece in (*(text[start : start + _PIECE] for start in range(0, len(text), _PIECE)), "<br>"):
        reader.feed(piece)
        if len(reader.rawdata) > _LONGEST_TAG:
            reader.rawdata = ""
    lines = [line.rstrip() for line in "".join(reader.text).split("\n")]
    squeezed = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return " ".join("".join(reader.title).split()), squeezed


class _Reader(html.parser.HTMLParser):
    """Collects the title and the text; scripts, styles and the like are dropped, blocks begin on a new line."""

    def __init__(self) -> None:
        super().__init__()
        self.title: list[str] = []
        self.text = ["\n"]
        self._inside: list[str] = []
        self._is_set = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag not in _DROPPED and tag != "title":
            self._block(tag, is_set=tag == "pre" or self._is_set)
        elif len(self._inside) < _DEEPEST:
            self._inside.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._block(tag, is_set=self._is_set)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._inside:
            # With it end those left open inside.
            del self._inside[self._inside.index(tag) :]
        else:
            self._block(tag, is_set=tag != "pre" and self._is_set)

    def handle_data(self, data: str) -> None:
        if self._inside == ["title"]:
            self.title.append(data)
        elif not self._inside and self._is_set:
            self.text.append(data)
        elif not self._inside:
            words = _BLANKS.sub(" ", data)
            self.text.append(words.lstrip(" ") if self.text[-1].endswith(("\n", " ")) else words)

    def _block(self, tag: str, *, is_set: bool) -> None:
        """Begin a new line for a block; text that `is_set` keeps its lines and blanks."""
        self._is_set = is_set
        if tag in _BLOCKS:
            self.text.append("\n")
