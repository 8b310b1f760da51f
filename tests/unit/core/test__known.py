"""Stand-ins: they know what they know, and everything else is noticed."""

from collections.abc import Callable

import pytest
from tests.tables import for_each

from permitry.core._known import Unresolved, call_of_tool, read_nothing, unknown_context
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext

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


@for_each(
    "look",
    [
        lambda context: context == AuthContext(),
        lambda context: context != AuthContext(),
        lambda context: {context},
        lambda context: isinstance(context, AuthContext),
        lambda context: f"{context}",
        lambda context: context.yolo_mode,
        lambda context: context.ignores("b"),
        lambda context: context.history,
    ],
)
def test_of_a_context_that_is_not_known_nothing_is(look: Callable[[AuthContext], object]) -> None:
    """Which is reported apart, as the context alone would say it."""
    with pytest.raises(Unresolved) as raised:
        look(unknown_context())
    assert raised.value.is_of_context
