"""The walk through a text: what is certain on the way, and what in the end."""

import pytest

from permitry.errors import CallError
from permitry.messages.formats.cursor import Tools
from permitry.messages.walk import Walk

CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'


def walk(format_name: str = "auto") -> Walk:
    """Return a walk that begins."""
    return Walk(format_name, Tools(None), is_repairing=False, in_thinking=False)


def test_what_is_certain_is_given_once() -> None:
    """Content up to the first call, reasoning and notes; the rest is known in the end."""
    one = walk()
    end = one.run(f"<think>a</think>b `{CALL}` c {CALL} d", is_open=True)
    first = one.certain()
    assert (first.content, first.reasoning, first.calls, len(first.diagnostics)) == (f"b `{CALL}` c ", "a", (), 1)
    assert one.certain().content == ""
    one.run(f"<think>a</think>b `{CALL}` c {CALL} d"[end:], is_open=False)
    assert (len(one.result().calls), one.result().content) == (1, f"b `{CALL}` c  d")


def test_the_notes_are_in_the_order_of_the_text() -> None:
    """A quotation is seen only behind its end."""
    one = walk()
    one.run(f'<code>{CALL} <tool_call>{{"name": 1}}</tool_call></code>', is_open=False)
    places = [note.start for note in one.result().diagnostics]
    assert places == sorted(places)
    assert len(places) == 2


def test_notes_are_bounded() -> None:
    """The last one says that there are more."""
    one = walk()
    one.run(f"`{CALL}` " * 100, is_open=False)
    assert len(one.result().diagnostics) == 64
    assert "no further notes" in one.result().diagnostics[-1].message


def test_a_format_is_known() -> None:
    """Or it is refused."""
    with pytest.raises(CallError, match="unknown format"):
        walk("nothing")


def test_quotations_are_seen_in_every_format() -> None:
    """Backticks and fences are no marks of a format."""
    for text in (f"```python\n{CALL}\n```", f"Final Answer: {CALL}", f"> {CALL}"):
        one = walk("tool_call_json")
        one.run(text, is_open=False)
        assert one.result().calls == ()
