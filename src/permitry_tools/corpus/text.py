"""From a file to a text with a title, and from a text to pieces."""

import re
from collections.abc import Iterator
from pathlib import PurePath

import attrs

from permitry_tools.web.pages import readable

__all__ = ["SUFFIXES", "Text", "pieces_of", "read_text", "spell_out"]

_HTML = frozenset({".htm", ".html", ".xhtml"})
_MARKDOWN = frozenset({".markdown", ".md"})
SUFFIXES = frozenset({*_HTML, *_MARKDOWN, ".rst", ".text", ".txt"})
"""The endings of the files that are taken from a folder."""

_LONGEST_TITLE = 200
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")


@attrs.frozen
class Text:
    """What a file says: its title, its words, and what kind of text it was (`text`, `markdown` or `html`)."""

    title: str
    body: str
    media: str


def read_text(name: PurePath, data: bytes) -> Text:
    """Return the text of a file; the ending of its name says how it is written.

    The title is the HTML title, the first heading of Markdown, or the name of the file.

    Raises: `ValueError` for bytes that are not UTF-8 text.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error
    if "\0" in text:
        raise ValueError("it is not text: it holds zero bytes")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    suffix = name.suffix.lower()
    if suffix in _HTML:
        title, body = readable(text)
        # Each line is a block of the page, and here a paragraph.
        return Text(_title(title, name), "\n\n".join(line for line in body.split("\n") if line.strip()), "html")
    if suffix in _MARKDOWN:
        heading = next((line[2:] for line in text.splitlines() if line.startswith("# ")), "")
        return Text(_title(heading, name), text.strip(), "markdown")
    return Text(_title("", name), text.strip(), "text")


def pieces_of(body: str, longest: int = 1_200) -> list[str]:
    """Return the paragraphs of a text, put together as long as they fit into `longest` characters; none is empty."""
    pieces: list[str] = []
    for paragraph in _BLANK_LINE.split(body):
        for part in _parts(paragraph.strip(), longest):
            if pieces and len(pieces[-1]) + 2 + len(part) <= longest:
                pieces[-1] += f"\n\n{part}"
            else:
                pieces.append(part)
    return pieces


def _parts(paragraph: str, longest: int) -> Iterator[str]:
    """Yield a paragraph in parts that fit, cut at the end of a sentence, a line or a word where there is one."""
    start = 0
    while len(paragraph) - start > longest:
        head = paragraph[start : start + longest]
        ends = (head.rfind(". ") + 1, head.rfind("\n"), head.rfind(" "))
        cut = next((end for end in ends if end > longest // 2), longest)
        if part := head[:cut].strip():
            yield part
        start += cut
    if rest := paragraph[start:].strip():
        yield rest


def _title(found: str, name: PurePath) -> str:
    title = " ".join(found.split())[:_LONGEST_TITLE]
    return title or spell_out(name.stem)


def spell_out(name: str) -> str:
    """Return a name of the system as text; bytes that are not UTF-8 show as escapes."""
    return name.encode(errors="backslashreplace").decode()
