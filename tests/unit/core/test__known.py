"""Stand-ins: they know what they know, and everything else is noticed."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.core._known import Unresolved, call_of_tool, key_of, note_fields, read_nothing
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.template import Template

_CALL = ToolCall("mcp:docs/search", {"n": 1})


def test_a_call_that_is_not_known_still_has_its_tool() -> None:
    """Name, server, kind and what the name may mean."""
    call = call_of_tool(_CALL)
    assert (call.tool, call.name, call.server, call.kind) == (_CALL.tool, "search", "docs", _CALL.kind)
    assert call.readings == _CALL.readings


@for_each(
    "look",
    [
        lambda call: call.arguments,
        lambda call: call.digest,
        lambda call: call.call_id,
        lambda call: call.repaired,
        lambda call: call == _CALL,
        lambda call: {call},
        lambda call: isinstance(call, ToolCall),
        lambda call: f"{call}",
        lambda call: read_nothing(call, AuthContext(), None),
    ],
)
def test_what_else_is_asked_of_it_is_not_known(look: Callable[[ToolCall], object]) -> None:
    """Its arguments, what is made of them, and whether it is some other call."""
    with pytest.raises(Unresolved) as raised:
        look(call_of_tool(_CALL))
    assert not raised.value.is_of_context


def test_a_context_notes_what_is_read_of_it() -> None:
    """And the ignore list as a fact about the tool."""
    noted: set[str] = set()
    context = note_fields(AuthContext(yolo_mode=True, tool_ignore_list=("a",)), "a", noted)
    assert (context.yolo_mode, context.mode, context.ignores("a")) == (True, "yolo", True)
    assert noted == {"yolo_mode", "mode", "ignores"}


class _Likeness(Template):
    """A template that may equal one that allows less."""


@for_each(("template", "is_read"), [(None, True), (Template("a"), True), (_Likeness("a"), False)])
def test_only_a_plain_template_is_read(template: Template | None, is_read: bool) -> None:  # noqa: FBT001 -- a table
    """What was found out for one would be taken for what equals it."""
    context = note_fields(AuthContext(active_template=template), "a", set())
    if is_read:
        assert context.active_template == template
    else:
        with pytest.raises(Unresolved):
            _ = context.active_template


@for_each("context", [None, AuthContext()])
@for_each(
    "look",
    [
        lambda context: context == AuthContext(),
        lambda context: context != AuthContext(),
        lambda context: {context},
        lambda context: isinstance(context, AuthContext),
        lambda context: f"{context}",
    ],
)
def test_a_context_is_not_known_as_a_whole(look: Callable[[AuthContext], object], context: AuthContext | None) -> None:
    """What compares or shows it reads all of its fields, and none of them by its name."""
    with pytest.raises(Unresolved) as raised:
        look(note_fields(context, "a", set()))
    assert raised.value.is_of_context is (context is None)


@for_each("name", ["history", "now", "counts", "parent", "tool_ignore_list", "child"])
def test_what_is_never_remembered_cannot_be_read(name: str) -> None:
    """Neither by a field nor by a method."""
    with pytest.raises(Unresolved):
        getattr(note_fields(AuthContext(), "a", set()), name)


def test_the_ignore_list_is_not_known_for_another_tool() -> None:
    """It is not a part of the key."""
    with pytest.raises(Unresolved):
        note_fields(AuthContext(), "a", set()).ignores("b")


def test_of_a_context_that_is_not_known_nothing_is() -> None:
    """Which is reported apart, as the context alone would say it."""
    with pytest.raises(Unresolved) as raised:
        assert note_fields(None, "a", set()).yolo_mode
    assert raised.value.is_of_context


@for_each(
    ("fields", "key"),
    [
        ((), None),
        (("agent",), "main"),
        (("mode", "agent"), ("main", "default")),
        (("ignores",), (None, True)),
        (("agent", "ignores"), ("main", True)),
    ],
)
def test_a_key_has_the_values_of_its_fields(fields: tuple[str, ...], key: object) -> None:
    """In the order of their names."""
    assert key_of(fields, "a")(AuthContext(tool_ignore_list=("a",))) == key
