"""Tools that are there in some contexts only."""

import pytest

from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.handler import Blocked, ToolHandler


@pytest.fixture
def ran(registry: ToolRegistry) -> list[object]:
    """Return the runs of the tool `tool`, which is there for the agent `child` only."""
    runs: list[object] = []
    registry.register(ToolSpec("always"), lambda _: "done")

    def tool(_: object) -> str:
        runs.append(1)
        return "done"

    registry.register(ToolSpec("tool"), tool, enabled=lambda context: context.agent == "child")
    return runs


def test_a_tool_that_is_not_enabled_is_refused_though_its_name_is_known(
    handler: ToolHandler, ran: list[object]
) -> None:
    """Nothing runs; the model is shown which tools there are."""
    outcome = handler.begin(ToolCall("tool"))
    assert isinstance(outcome, Blocked)
    assert outcome.decision.reason == "the tool `tool` is not enabled in this context"
    assert handler.run(outcome).text.endswith("There is no tool `tool`. Tools: always.")
    assert ran == []


def test_where_it_is_enabled_it_runs(handler: ToolHandler, ran: list[object]) -> None:
    """The context of the very call counts."""
    handler.session.agent = "child"
    assert handler.handle(ToolCall("tool")).ok
    assert ran == [1]


def test_only_what_is_enabled_is_listed(registry: ToolRegistry, handler: ToolHandler, ran: list[object]) -> None:
    """Without a context all are; with a policy only those that could run."""
    child = AuthContext(agent="child")
    assert [spec.name for spec in registry.specs()] == ["always", "tool"]
    assert [spec.name for spec in registry.specs(AuthContext())] == ["always"]
    assert [spec.name for spec in registry.specs(child)] == ["always", "tool"]
    assert [spec.name for spec in handler.visible_tools()] == ["always"]

    policy = load_rules('schema = 1\n[[rule]]\nid = "no"\neffect = "block"\ntools = ["always"]\nreason = "no"').policy()
    assert [spec.name for spec in registry.specs(child, policy)] == ["tool"]
    assert ran == []


@pytest.mark.parametrize("enabled", [lambda _: 1 / 0, lambda _: "yes", lambda _: None])
def test_what_does_not_say_yes_is_not_enabled(registry: ToolRegistry, enabled: object) -> None:
    """A failure is not a yes, and neither is anything but True."""
    registry.register(ToolSpec("tool"), lambda _: "done", enabled=enabled)  # type: ignore[arg-type]  # wrong on purpose
    assert not registry.is_enabled("tool", AuthContext())
    assert not registry.is_enabled("unknown", AuthContext())
