"""Parsing a text with calls in it, whole and letter by letter, which must agree."""

from typing import Any

from permitry.messages.text import ParsedText, TextCallStream, parse_text

__all__ = ["calls", "parsed", "refused"]


def parsed(text: str, tools: Any = None, **settings: Any) -> ParsedText:  # noqa: ANN401 -- any shape of tools
    """Return what both ways give."""
    whole = parse_text(text, tools, **settings)
    stream = TextCallStream(tools, **settings)
    for char in text:
        stream.feed(char)
    assert stream.finish() == whole
    return whole


def calls(text: str, tools: Any = None, **settings: Any) -> list[tuple[str, dict[str, Any]]]:  # noqa: ANN401 -- as above
    """Return only names and arguments."""
    return [(call.name, dict(call.arguments)) for call in parsed(text, tools, **settings).calls]


def refused(text: str, tools: Any = None) -> ParsedText:  # noqa: ANN401 -- as above
    """Return the notes on a text that holds no call, and of which all is content."""
    result = parsed(text, tools)
    assert (result.calls, result.content) == ((), text)
    return result
