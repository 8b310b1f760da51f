"""Payload and kind of a call must fit its tool."""

from collections.abc import Callable
from typing import Any

import pytest

from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import FatalToolError
from permitry.guard.session import Session
from permitry.handler import Ready, ToolHandler

FITS: list[tuple[PayloadKind, dict[str, Any]]] = [
    (PayloadKind.FUNCTION, {"x": 1}), (PayloadKind.CUSTOM, {"input": "text"}),
    (PayloadKind.LOCAL_SHELL, {"command": ["ls"]}), (PayloadKind.UNIFIED_EXEC, {"cmd": "ls"}),
    (PayloadKind.UNIFIED_EXEC, {"session_id": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "arguments"), FITS)
def test_a_call_that_fits_runs(
    registry: ToolRegistry, handler: ToolHandler, kind: PayloadKind, arguments: dict[str, Any]
) -> None:
    """Each kind in its shape."""
    registry.register(ToolSpec("tool", kinds={kind}), lambda _: "done")
    assert handler.handle(ToolCall("tool", arguments, kind=kind)).ok


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (PayloadKind.CUSTOM, {}),
        (PayloadKind.CUSTOM, {"input": 1}),
        (PayloadKind.CUSTOM, {"input": "x", "y": 1}),
        (PayloadKind.LOCAL_SHELL, {"command": "ls"}),
        (PayloadKind.UNIFIED_EXEC, {}),
        (PayloadKind.MCP, {}),
    ],
)
def test_a_call_that_does_not_fit_is_an_error(
    registry: ToolRegistry,
    handler: ToolHandler,
    outcomes: Callable[[], list[object]],
    kind: PayloadKind,
    arguments: dict[str, Any],
) -> None:
    """A wrong payload, or a kind the tool does not take: it does not run, and the model is shown what to do instead."""
    kinds = {PayloadKind.FUNCTION} if kind is PayloadKind.MCP else {kind}
    ran: list[object] = []

    def tool(_: dict[str, Any]) -> str:
        ran.append(1)
        return "done"

    registry.register(ToolSpec("tool", kinds=kinds), tool)
    result = handler.handle(ToolCall("tool", arguments, kind=kind))
    told = {
        PayloadKind.CUSTOM: "a custom call has one text, `input`, and nothing else.",
        PayloadKind.LOCAL_SHELL: "`command` must be a list: the program and its arguments.",
        PayloadKind.UNIFIED_EXEC: "`cmd` or `session_id` must be there.",
        PayloadKind.MCP: "this one is of kind mcp.",
    }
    assert result.text.endswith(told[kind])
    assert (result.ok, ran, outcomes()) == (False, [], [])


def test_a_call_that_does_not_fit_never_reaches_a_tool(registry: ToolRegistry) -> None:
    """Not even where something else than the handler of this package authorized it."""
    registry.register(ToolSpec("tool", kinds={PayloadKind.CUSTOM}), lambda _: "done")
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    outcome = handler.begin(ToolCall("tool", {"input": "x"}, kind=PayloadKind.CUSTOM))
    assert isinstance(outcome, Ready)
    outstanding: Any = registry._outstanding  # noqa: SLF001 -- as if
    kept = outstanding._kept  # noqa: SLF001 -- as if
    object.__setattr__(kept[id(outcome.authorized)][-1], "call", ToolCall("tool"))
    with pytest.raises(FatalToolError, match="takes calls of kind custom"):
        handler.run(outcome)


def test_the_tool_of_a_server_takes_calls_of_that_server() -> None:
    """Unless it says otherwise."""
    assert ToolSpec("mcp:docs/search").kinds == {PayloadKind.MCP}
    assert ToolSpec("search").kinds == {PayloadKind.FUNCTION}
