"""Law 5, before the decision: what is written in a shape of messages is read from it as the same call."""

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import for_each

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.result import MediaPart, ToolResult
from permitry.errors import CallError
from permitry.messages import SHAPES, call_message, calls_in, result_message

_SERVER = "docs"
_IS_READ_AS = {PayloadKind.UNIFIED_EXEC: PayloadKind.FUNCTION}
_KEEPS = {
    "anthropic": (PayloadKind.FUNCTION, PayloadKind.MCP),
    "gemini": (PayloadKind.FUNCTION, PayloadKind.MCP),
    "mcp": (PayloadKind.MCP,),
    "openai-chat": (PayloadKind.FUNCTION, PayloadKind.MCP, PayloadKind.CUSTOM),
    "openai-responses": (PayloadKind.FUNCTION, PayloadKind.MCP, PayloadKind.CUSTOM, PayloadKind.LOCAL_SHELL),
    "plain": tuple(PayloadKind),
}

_texts = st.text(max_size=8)
_numbers = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
_values = st.recursive(
    st.one_of(st.none(), st.booleans(), _numbers, _texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_texts, inner, max_size=3)),
    max_leaves=6,
)
_arguments = st.one_of(st.dictionaries(_texts, _values, max_size=3), st.fixed_dictionaries({"input": _texts}))
_names = st.one_of(
    st.sampled_from(("look", "local_shell", "apply_patch", "a/b", "mcp__docs__look", "functionCall", "é", "x" * 250)),
    st.text(min_size=1, max_size=12),
)
_ids = st.one_of(st.none(), st.sampled_from(("c1", "1", "call 1", "é")))


@st.composite
def _calls(draw: st.DrawFn) -> ToolCall:
    """Return any call that there can be, of every kind, with and without a server."""
    server = draw(st.sampled_from((None, None, _SERVER)))
    rest: dict[str, Any] = {"call_id": draw(_ids), "kind": draw(st.sampled_from(PayloadKind)), "server": server}
    try:
        return ToolCall(draw(_names), draw(_arguments), **rest)
    except CallError:
        return ToolCall("look", draw(_arguments), **rest)


_results = st.builds(
    ToolResult,
    st.booleans(),
    _texts,
    parts=st.lists(
        st.builds(
            MediaPart,
            st.binary(max_size=4),
            st.sampled_from(("image/png", "image/gif", "image/svg+xml", "image/webp", "audio/wav")),
        ),
        max_size=3,
    ),
    structured=st.one_of(st.none(), st.dictionaries(_texts, _values, max_size=2)),
)


def _through_text(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message as it comes out of a line of JSON."""
    read: dict[str, Any] = json.loads(json.dumps(message, allow_nan=False))
    return read


def _read(message: dict[str, Any]) -> ToolCall:
    [incoming] = calls_in(_through_text(message), server=_SERVER)
    assert isinstance(incoming.call, ToolCall), incoming.call
    return incoming.call


@for_each("shape", SHAPES)
@given(call=_calls())
def test_a_call_that_is_written_is_read_as_the_same_call(shape: str, call: ToolCall) -> None:
    """Name, server, arguments, id and kind come back, or the shape refuses the call."""
    try:
        message = call_message(call, shape)
    except CallError:
        return
    kind = call.kind if shape == "plain" else _IS_READ_AS.get(call.kind, call.kind)
    assert _read(message) == attrs.evolve(call, kind=kind, origin=shape)


@for_each(("shape", "kind"), [(shape, kind) for shape in SHAPES for kind in _KEEPS[shape]])
@given(name=st.sampled_from(("look", "a/b", "é")), text=_texts)
def test_every_shape_carries_its_kinds(shape: str, kind: PayloadKind, name: str, text: str) -> None:
    """A shape does not refuse a call the shape has fields for."""
    server = _SERVER if kind is PayloadKind.MCP else None
    own = "local_shell" if kind is PayloadKind.LOCAL_SHELL else name
    call = ToolCall(own, {"input": text}, call_id="c1", kind=kind, server=server, origin=shape)
    assert _read(call_message(call, shape)) == call


@for_each("shape", SHAPES)
@given(call=_calls(), result=_results)
def test_a_result_is_a_message_without_calls(shape: str, call: ToolCall, result: ToolResult) -> None:
    """What goes back is never run, whatever it quotes, and is JSON."""
    try:
        message = result_message(result, call, shape)
    except CallError:
        assert call.call_id is None
        return
    assert calls_in(_through_text(message), server=_SERVER) == []


@for_each("shape", SHAPES)
@given(call=_calls(), result=_results)
def test_a_result_goes_back_the_way_the_call_came(shape: str, call: ToolCall, result: ToolResult) -> None:
    """The reply to a message is what is written for its call."""
    try:
        message = call_message(call, shape)
    except CallError:
        return
    [incoming] = calls_in(_through_text(message), server=_SERVER)
    assert incoming.reply(result) == result_message(result, call, shape)


@for_each("shape", SHAPES)
@given(call=_calls(), result=_results)
def test_what_a_result_holds_is_carried_or_named(shape: str, call: ToolCall, result: ToolResult) -> None:
    """No part of a result gets lost without a word."""
    written = json.dumps(result_message(result, attrs.evolve(call, call_id="c1"), shape))
    assert json.dumps(result.text)[1:-1] in written
    carried = sum(written.count(f'"{key}": ') for key in ("data", "image_url"))
    named = sum(written.count(text) for text in ("[left out: ", ": in a message of the user that follows]"))
    assert carried + named >= len(result.parts)


@given(call=_calls(), result=_results)
def test_a_result_for_mcp_is_one_to_its_own_types(call: ToolCall, result: ToolResult) -> None:
    """The types of the protocol's own package read what is written, and read the same."""
    types = pytest.importorskip("mcp_types")
    message = result_message(result, attrs.evolve(call, call_id="c1"), "mcp")
    assert types.JSONRPCResponse.model_validate(message).id == "c1"
    read = types.CallToolResult.model_validate(message["result"], extra="forbid")
    assert read.is_error is not result.ok
    shown = [(each.mime_type, each.type) for each in read.content if each.type != "text"]
    assert shown == [(part.media_type, part.media_type[:5]) for part in result.parts]


@given(call=_calls())
def test_a_call_for_mcp_is_one_to_its_own_types(call: ToolCall) -> None:
    """The types of the protocol's own package read the request."""
    types = pytest.importorskip("mcp_types")
    own = attrs.evolve(call, call_id="c1", server=_SERVER, kind=PayloadKind.MCP)
    message = call_message(own, "mcp")
    params = types.CallToolRequest.model_validate({key: message[key] for key in ("method", "params")}).params
    assert (params.name, repr(params.arguments)) == (own.name, repr(own.to_dict()))
