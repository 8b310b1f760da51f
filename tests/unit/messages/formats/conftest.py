"""What the tests of the formats share: parsing a text whole and in pieces, which must agree."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from permitry.messages.text import ParsedText, TextCallStream, parse_text

Parsed: TypeAlias = Callable[..., ParsedText]
Calls: TypeAlias = Callable[..., list[tuple[str, dict[str, Any]]]]


@pytest.fixture(scope="session")
def parsed() -> Parsed:
    """Return a parser that takes a text whole and letter by letter, and gives what both give."""

    def parse(text: str, tools: Any = None, **settings: Any) -> ParsedText:  # noqa: ANN401 -- any shape of tools
        whole = parse_text(text, tools, **settings)
        stream = TextCallStream(tools, **settings)
        for char in text:
            stream.feed(char)
        assert stream.finish() == whole
        return whole

    return parse


@pytest.fixture(scope="session")
def calls(parsed: Parsed) -> Calls:
    """Return a parser that gives only names and arguments."""

    def parse(text: str, tools: Any = None, **settings: Any) -> list[tuple[str, dict[str, Any]]]:  # noqa: ANN401 -- any shape of tools
        return [(call.name, dict(call.arguments)) for call in parsed(text, tools, **settings).calls]

    return parse
