"""What text is parsed to: calls, what is left of the text, and notes on what was refused."""

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["Block", "Diagnostic", "ParsedText", "TextCall"]


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


@attrs.frozen
class Block:
    """A piece of text a reader has understood, up to `end`.

    `content` is what of it remains text. With `until`, all that follows up to that closing text is reasoning
    (`is_thinking`) or plain content, whatever it looks like. `closer` is a closing mark that may come later and is to
    be dropped then. `is_stray` marks the end of reasoning that began before the text did. `quotes` is the text that
    ends a quotation which begins here, `ends` that of one which ends here, and behind an `is_last` one nothing is a
    call. `is_broken` says that the `note` is about a call that was refused, among others that were not.
    """

    end: int
    calls: tuple[TextCall, ...] = ()
    content: str = ""
    until: tuple[str, ...] = ()
    is_thinking: bool = False
    closer: str | None = None
    is_stray: bool = False
    quotes: str | None = None
    ends: str | None = None
    is_last: bool = False
    note: str | None = None
    is_broken: bool = False
