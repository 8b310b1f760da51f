"""Output that is too long for the model: head and tail, a visible marker, and the whole as an artifact."""

import errno

import pytest

from permitry.core.call import ToolCall
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler


class Text:
    """A text that is kept."""

    note = "the whole is the artifact a1"

    def __init__(self, kept: list[tuple[str, str, str]], tool: str, agent: str) -> None:
        self.kept, self.tool, self.agent = kept, tool, agent

    def write(self, text: str) -> None:
        """Keep it."""
        self.kept.append((self.tool, text, self.agent))

    def close(self) -> None:
        """Do nothing more."""


class Keeper:
    """Keeps texts, or fails."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.kept: list[tuple[str, str, str]] = []
        self.error = error

    def open(self, tool: str, agent: str) -> Text:
        """Begin one."""
        if self.error is not None:
            raise self.error
        return Text(self.kept, tool, agent)


@pytest.fixture
def tool(registry: ToolRegistry) -> ToolRegistry:
    """Return the registry with a tool that says too much."""
    registry.register(ToolSpec("tool", output_limit=30), lambda _: "a" * 50 + "z" * 50)
    return registry


def test_the_whole_is_kept(tool: ToolRegistry, handler: ToolHandler) -> None:
    """The model sees both ends, and by which id the rest can be read."""
    tool.artifacts = keeper = Keeper()
    told = handler.handle(ToolCall("tool")).text
    assert told == f"{'a' * 20}\n...[70 characters left out; the whole is the artifact a1]...\n{'z' * 10}"
    assert keeper.kept == [("tool", "a" * 50 + "z" * 50, "main")]


def test_it_is_kept_for_the_agent_that_called(tool: ToolRegistry) -> None:
    """Another one may not be allowed to see it."""
    tool.artifacts = keeper = Keeper()
    ToolHandler(Session(yolo_mode=True).child("helper"), registry=tool).handle(ToolCall("tool"))
    assert [agent for _, _, agent in keeper.kept] == ["helper"]


def test_a_short_answer_is_not_kept(registry: ToolRegistry, handler: ToolHandler) -> None:
    """It is all there."""
    registry.artifacts = keeper = Keeper()
    registry.register(ToolSpec("tool", output_limit=4), lambda _: "done")
    assert (handler.handle(ToolCall("tool")).text, keeper.kept) == ("done", [])


def test_a_full_disk_takes_nothing_that_fits(tool: ToolRegistry, handler: ToolHandler) -> None:
    """The marker then says why there is no artifact."""
    tool.artifacts = Keeper(OSError(errno.ENOSPC, "No space left on device"))
    told = handler.handle(ToolCall("tool")).text
    assert "...[70 characters left out; the whole could not be kept: No space left on device]..." in told


def test_an_interrupt_while_keeping_leaves_one_end(tool: ToolRegistry, handler: ToolHandler, outcomes: object) -> None:
    """The tool did what it did, and that is on record."""
    assert callable(outcomes)
    tool.artifacts = Keeper(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        handler.handle(ToolCall("tool"))
    assert outcomes() == ["ok"]
