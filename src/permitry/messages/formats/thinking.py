"""What is not said to the user: reasoning, in which nothing is a call; and results of tools, which are only text."""

from typing import Final

from permitry.messages.formats.call import Block
from permitry.messages.formats.cursor import Cursor
from permitry.messages.formats.mark import Mark, Reader

__all__ = ["CLOSERS", "MARKS", "STRAY"]

_PAIRS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),
    ("<mm:think>", "</mm:think>"),
    ("<ifm|think>", "</ifm|think>"),
    ("<ifm|think_fast>", "</ifm|think_fast>"),
    ("<ifm|think_faster>", "</ifm|think_faster>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|content_thinking|>", "<|end_message|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|channel>", "<channel|>"),
)
# No model's tokens, but words that models are instructed to think in; they count only where they are closed.
_SPOKEN: Final = (
    *(
        (f"<{word}>", f"</{word}>")
        for word in (
            "Think", "THINK", "Thinking", "THINKING", "thought", "thoughts", "reasoning", "reflection", "analysis",
            "scratchpad", "scratch_pad", "antThinking", "inner_monologue",
        )
    ),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<unused94>", "<unused95>"),
)  # fmt: skip
_RESULTS: Final = (
    ("<tool_response>", "</tool_response>"),
    ("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),  # noqa: RUF001 -- DeepSeek's own characters
    ("<|tool_output_begin|>", "<|tool_output_end|>"),
)
_DROPPED: Final = (
    "<|message_model|>", "<|content_text|>",
    "<|end_message|>", "<|content_model_end_sampling|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>",
    "<｜end▁of▁sentence｜>", "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>",  # noqa: RUF001 -- DeepSeek's own
)  # fmt: skip

CLOSERS: Final = tuple(dict.fromkeys(closer for _, closer in _PAIRS))
# This one ends other messages as well.
_COMMON: Final = "<|end_message|>"
STRAY: Final = tuple(closer for closer in CLOSERS if closer != _COMMON)


def _thinking(closer: str) -> Reader:
    def read(cur: Cursor) -> Block:
        return Block(cur.pos, until=(closer,), is_thinking=True)

    return read


def _spoken(closer: str) -> Reader:
    def read(cur: Cursor) -> Block | None:
        is_closed = cur.scan.find(closer, cur.pos) >= 0
        return Block(cur.pos, until=(closer,), is_thinking=True) if is_closed else None

    return read


def _result(closer: str) -> Reader:
    def read(cur: Cursor) -> Block:
        return Block(cur.pos, until=(closer,))

    return read


def _stray(cur: Cursor) -> Block:
    return Block(cur.pos, is_stray=True)


def _ends(cur: Cursor) -> Block:
    return Block(cur.pos, content=cur.text, ends=cur.text)


def _dropped(cur: Cursor) -> Block:
    return Block(cur.pos)


MARKS: Final = (
    *(Mark(opener, _thinking(closer)) for opener, closer in _PAIRS),
    *(Mark(opener, _spoken(closer)) for opener, closer in _SPOKEN),
    *(Mark(opener, _result(closer)) for opener, closer in _RESULTS),
    *(Mark(closer, _stray) for closer in STRAY),
    *(Mark(closer, _ends) for _, closer in _SPOKEN),
    *(Mark(token, _dropped) for token in _DROPPED),
)
