"""A page as a browser reads it: which elements there are, with which attributes."""

from html.parser import HTMLParser

import attrs

Tag = tuple[str, tuple[str, ...]]


@attrs.define(eq=False, slots=False)
class Document(HTMLParser):
    """Gathers the elements of a page, and all its text."""

    tags: list[Tag] = attrs.field(factory=list)
    text: list[str] = attrs.field(factory=list)

    def __attrs_pre_init__(self) -> None:
        """Begin."""
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Keep an element; the values of its attributes are text."""
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        self.text += [value for _, value in attributes if value]

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.text.append(data)


def read(page: str) -> Document:
    """Return a page, read."""
    document = Document()
    document.feed(page)
    document.close()
    return document
