"""Calls that models write as text, found without being given the format.

`parse_text` takes a whole text, `TextCallStream` its pieces; both give the same. Nothing is evaluated, nothing
recurses, and the time grows with the length of the text. What is not a call beyond doubt stays text, with a note where
it looked like one.
"""

from collections.abc import Iterable
from typing import Any, Final

from permitry.errors import CallError
from permitry.messages.formats.cursor import LOOK_BACK, Diagnostic, ParsedText, TextCall, Tools
from permitry.messages.formats.marks import FORMATS
from permitry.messages.walk import Walk

__all__ = ["FORMATS", "Diagnostic", "ParsedText", "TextCall", "TextCallStream", "parse_text"]


def parse_text(
    text: str,
    tools: Iterable[Any] | None = None,
    format: str = "auto",  # noqa: A002 -- the word for it in every server's settings
    *,
    repair: bool = False,
    in_thinking: bool = False,
) -> ParsedText:
    """Return the calls in a model's `text`, and the text and the reasoning around them.

    `tools` are the declared ones: tool objects as OpenAI, Anthropic, Gemini or MCP have them, objects with `name` and
    `parameters`, names alone, or a mapping of names to JSON schemas. They decide the types of arguments that are
    written as text, and which names are known. `format` is one of `FORMATS`. With `repair`, some faults are mended, and
    the call says so. `in_thinking` is for models whose text begins inside their reasoning.

    Never raises because of the text. Raises: `CallError` for an unknown format.
    """
    walk = Walk(format, Tools(tools), is_repairing=repair, in_thinking=in_thinking)
    walk.run(text, is_open=False)
    return walk.result()


class TextCallStream:
    """Finds calls in a text that comes in pieces.

    `feed` returns the content and the reasoning that the piece made certain, `finish` what `parse_text` gives for all
    pieces together. Calls come with `finish`: up to the end of the text a `</think>`, or the end of a quotation, may
    tell that they are none. What may still become a call is held back, and so is the content behind one. One thing a
    stream learns too late: text before a `</think>` that nothing opened was given as content, and is reasoning in the
    end.
    """

    def __init__(
        self,
        tools: Iterable[Any] | None = None,
        format: str = "auto",  # noqa: A002 -- as in parse_text
        *,
        repair: bool = False,
        in_thinking: bool = False,
    ) -> None:
        self._walk = Walk(format, Tools(tools), is_repairing=repair, in_thinking=in_thinking)
        self._held = ""
        self._tail = ""
        self._pending: list[str] = []
        self._waiting = 0
        self._total = 0
        self._spent = 0
        self._is_finished = False

    def feed(self, chunk: str) -> ParsedText:
        """Return the content, reasoning and notes that are certain now and were not before.

        Raises: `CallError` after `finish`; `TypeError` for what is not text, and the stream goes on.
        """
        if self._is_finished:
            raise CallError("the stream is finished; begin a new one")
        if not isinstance(chunk, str):
            raise TypeError(f"a piece of the text is a string, not {type(chunk).__name__}; skip empty pieces")
        before, self._tail = self._tail, f"{self._tail}{chunk}"[-LOOK_BACK:]
        self._pending.append(chunk)
        self._waiting += len(chunk)
        self._total += len(chunk)
        if not chunk or not self._is_worthwhile(before, chunk):
            return ParsedText()
        text = self._held + "".join(self._pending)
        self._pending, self._waiting = [], 0
        self._spent += len(text)
        self._held = text[self._walk.run(text, is_open=True) :]
        return self._walk.certain()

    def finish(self) -> ParsedText:
        """Return the parsed whole, as `parse_text` does."""
        if not self._is_finished:
            self._is_finished = True
            self._walk.run(self._held + "".join(self._pending), is_open=False)
            self._held, self._pending = "", []
        return self._walk.result()

    def _is_worthwhile(self, before: str, chunk: str) -> bool:
        """Return whether to look at what is held again: work must not grow faster than the text."""
        size = len(self._held) + self._waiting
        if self._spent + size > _EFFORT * self._total + _ALWAYS and size < 2 * len(self._held):
            return False
        wanted = self._walk.wanted or ""
        return not self._held or wanted in f"{before[-len(wanted) :]}{chunk}"


_EFFORT: Final = 32
_ALWAYS: Final = 65_536
