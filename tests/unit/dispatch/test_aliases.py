"""Aliases: another name for the same tool, which rules, record and tool do not see."""

import pytest

from permitry.audit.record import MemoryRecorder
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import RegistryError, UnknownToolError
from permitry.handler import ToolHandler
from permitry.session import Session


@pytest.mark.parametrize(
    ("alias", "of"), [("look", "view"), ("mcp__docs__search", "mcp:docs/search"), ("mcp:docs/view", "view")]
)
def test_a_call_of_an_alias_is_a_call_of_the_tool(
    registry: ToolRegistry, handler: ToolHandler, recorder: MemoryRecorder, alias: str, of: str
) -> None:
    """The record has the tool's own name, and its kind fits, too."""
    registry.register(ToolSpec(of), lambda _: "seen")
    registry.alias(alias, of)
    assert handler.handle(ToolCall(alias)).text == "seen"
    assert {each["tool"] for each in recorder.records} == {of}
    assert registry.resolved(ToolCall(alias)).digest == ToolCall(of).digest
    assert registry.resolved(ToolCall(of, kind=PayloadKind.CUSTOM)).kind is PayloadKind.CUSTOM


def test_an_alias_is_no_way_around_a_block(registry: ToolRegistry) -> None:
    """Plan mode blocks the tool, whatever it is called."""
    registry.register(ToolSpec("write"), lambda _: "wrote")
    registry.alias("look", "write")
    told = ToolHandler(Session(is_plan_mode=True), registry=registry).handle(ToolCall("look"))
    assert (told.ok, "plan" in told.text.lower()) == (False, True)


def test_a_taken_name_is_refused(registry: ToolRegistry) -> None:
    """Neither a tool's nor another alias's, in both directions."""
    for name in ("a", "b"):
        registry.register(ToolSpec(name), lambda _: "done")
    registry.alias("c", "a")
    for name in ("a", "c"):
        with pytest.raises(RegistryError, match=f"`{name}` is already registered"):
            registry.alias(name, "b")
    with pytest.raises(RegistryError, match="`c` is already registered"):
        registry.register(ToolSpec("c"), lambda _: "done", replace=True)
    with pytest.raises(UnknownToolError, match="no tool `x` is registered, for which `d` could stand"):
        registry.alias("d", "x")


def test_an_alias_goes_with_its_tool(registry: ToolRegistry) -> None:
    """Afterwards the name is free."""
    registry.register(ToolSpec("a"), lambda _: "done")
    registry.alias("c", "a")
    registry.unregister("a")
    registry.register(ToolSpec("c"), lambda _: "done")
    with pytest.raises(UnknownToolError):
        registry.unregister("a")
