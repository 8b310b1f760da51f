"""Calls and reasons as people say them."""

from typing import Any

from tests.tables import for_each

from permitry_ops.inbox.call_text import call_text, main_argument, sentence, short_session


@for_each("arguments, text, name", [
    ({"command": "ls -l", "description": "x"}, "ls -l", "command"),
    ({"cmd": ["git", "log", "-1", "a b"]}, "git log -1 'a b'", "cmd"),
    ({"file_path": "a.py", "content": "x"}, "t a.py", "file_path"),
    ({"url": "https://a"}, "t https://a", "url"),
    ({"to": "ann", "n": 1}, 't to="ann" n=1', None),
    ({"command": 3, "path": ""}, 't command=3 path=""', None),
    ({"command": []}, "t command=[]", None),
    ({}, "t", None),
])  # fmt: skip
def test_a_call_is_said_by_what_it_is_about(arguments: dict[str, Any], text: str, name: str | None) -> None:
    """A command alone; a tool with its file or address; or all that there is."""
    assert (call_text("t", arguments), main_argument(arguments)) == (text, name)


@for_each("reason, said", [
    ("deletes files", "Deletes files."), ("Really?", "Really?"), ("`x` is odd.", "`x` is odd."), ("", "."),
])  # fmt: skip
def test_a_reason_is_a_sentence(reason: str, said: str) -> None:
    """It begins with a capital letter, and ends."""
    assert sentence(reason) == said


def test_sessions_are_told_apart_by_their_beginning() -> None:
    """The host is named in full."""
    assert short_session("claude-code:0c1f2d3e-4a5b") == "claude-code:0c1f2d3e"
    assert short_session("0123456789abcdef0") == "0123456789abcdef"
