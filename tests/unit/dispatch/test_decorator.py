"""`@registry.tool`: a function as a tool."""

import asyncio
from collections.abc import Awaitable

import pytest

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolTraits
from permitry.dispatch.limits import RateLimit, ToolLimits
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import RegistryError
from permitry.handler import ToolHandler


def test_a_bare_decorator_registers_the_function(registry: ToolRegistry, handler: ToolHandler) -> None:
    """And leaves it as it is."""

    @registry.tool
    def double(number: int) -> int:
        """Double a number."""
        return number * 2

    assert (double(2), handler.handle(ToolCall("double", {"number": 4})).text) == (4, "8")
    assert handler.handle(ToolCall("double", {"number": "4"})).text.startswith("The arguments do not fit: `number`")


def test_a_decorator_takes_what_registering_takes(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Name, traits, preview, contexts, limits, and the keywords of a spec; for two functions the same."""
    decorate = registry.tool(
        traits=ToolTraits(read_only=True), version="2", preview=lambda _: "seen",
        limits=ToolLimits(rate=RateLimit(1, 60)),
        enabled=lambda context: context.mode == "yolo",
    )  # fmt: skip

    @decorate  # type: ignore[untyped-decorator]  # it is one of two forms
    def one() -> None:
        """Be one."""

    @decorate  # type: ignore[untyped-decorator]  # as above
    def two() -> None:
        """Be two."""

    for name in ("one", "two"):
        spec = registry.get(name)
        assert spec is not None
        assert (spec.version, spec.traits.read_only, registry.preview(ToolCall(name))) == ("2", True, "seen")
        assert not registry.is_enabled(name, AuthContext())
        assert [handler.handle(ToolCall(name)).text[:5] for _ in range(2)] == ["Done.", "The t"]


def test_async_functions_are_awaited(registry: ToolRegistry, handler: ToolHandler) -> None:
    """Also where a function only returns an awaitable."""

    @registry.tool
    async def plain(n: int) -> int:
        """Wait."""
        return n

    @registry.tool
    def wrapped(n: int) -> Awaitable[int]:
        """Wait, too."""
        return plain(n)  # type: ignore[no-any-return]  # the decorator is untyped

    for name in ("plain", "wrapped"):
        call = ToolCall(name, {"n": 3})
        assert (handler.handle(call).text, asyncio.run(handler.ahandle(call)).text) == ("3", "3")


def test_a_name_is_given_once(registry: ToolRegistry) -> None:
    """Unless it is to be replaced."""
    registry.tool(name="tool")(lambda: "first")
    with pytest.raises(RegistryError, match="already registered"):
        registry.tool(name="tool")(lambda: "second")
    registry.tool(name="tool", replace=True)(lambda: "third")
    assert len(registry) == 1
