"""What text is parsed to: calls, what is left of the text, and notes on what was refused."""

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["Diagnostic", "ParsedText", "TextCall"]


@attrs.frozen
class TextCall:
    """One call a model wrote as text.

    `arguments` is a plain JSON object, to be treated as immutable. `span` is the call's place in the text: 0-based
    offsets, the second past the end. `is_known` is None when no tools were given, and False for a tool that is not
    declared. `repaired` says that the text was not what its format demands, and was guessed at.
    """

    name: str
    arguments: Mapping[str, Any]
    format: str
    span: tuple[int, int]
    is_known: bool | None
    repaired: bool = False
    call_id: str | None = None


@attrs.frozen
class Diagnostic:
    """A note on the text from `start` to `end`: why it is not a call although it begins like one, or what is odd in it.

    `is_broken` says that a call was meant there, and is none; it is False for a quotation, for data that looks like a
    call, and where a call was understood all the same.
    """

    message: str
    start: int
    end: int
    format: str | None = None
    is_broken: bool = False


@attrs.frozen
class ParsedText:
    """The calls of a text in order, the text around them, the model's reasoning, and notes on what was refused."""

    calls: tuple[TextCall, ...] = ()
    content: str = ""
    reasoning: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
