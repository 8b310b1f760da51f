"""Recorded calls by what they would do."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.audit.redaction import redacted
from permitry.config.acting import Acting, workspaces_in
from permitry.errors import ConfigError


def _holds(tool: str, arguments: object, key: str, pattern: str) -> bool:
    acting = Acting.of(key, pattern, {"s": "/w"})
    return acting.holds({"session": "s", "tool": tool, "arguments": arguments})


@for_each(("command", "is_asked_for"))
def test_a_command_is_known_by_the_paths_it_touches(command: str, *, is_asked_for: bool) -> None:
    """In the workspace of its session; what may be such a path counts."""
    assert _holds("run_shell", {"command": command}, "path", "src/**") is is_asked_for


@for_each(("command", "is_asked_for"))
def test_what_changes_a_path_is_known(command: str, *, is_asked_for: bool) -> None:
    """Reading it is something else; what a program does that is not known may change it."""
    assert _holds("run_shell", {"command": command}, "changing", "src/**") is is_asked_for


def test_what_may_be_hidden_counts() -> None:
    """Where more than a secret was left out of the record."""
    kept = redacted({"command": "echo cookie: ; rm src/a.py", "token": "x"})
    assert _holds("run_shell", kept, "changing", "src/**")
    assert not _holds("run_shell", redacted({"command": "echo cookie: a=b"}), "changing", "src/**")


def test_tools_of_hosts_are_known() -> None:
    """By their declarations."""
    assert _holds("Write", {"file_path": "/w/src/a.py", "content": ""}, "path", "src/**")
    assert _holds("WebFetch", {"url": "https://docs.example.com/a"}, "host", "*.example.com")
    assert not _holds("WebFetch", {"url": "https://example.org/a"}, "host", "*.example.com")


def test_what_has_no_call_does_nothing() -> None:
    """Events without arguments, and broken ones."""
    assert not _holds("Write", None, "path", "src/**")
    assert not _holds("", {}, "path", "src/**")


def test_a_bad_pattern_is_an_error() -> None:
    """As in a rule file."""
    with pytest.raises(ConfigError):
        _holds("Write", {}, "path", "")


def test_the_workspace_is_that_of_the_session() -> None:
    """Of the event with which it began."""
    events: list[dict[str, Any]] = [{"session": "a", "workspace": "/w"}, {"session": "b", "workspace": None}]
    assert workspaces_in(events) == {"a": "/w"}
