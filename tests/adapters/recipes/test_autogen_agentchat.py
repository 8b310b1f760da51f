"""The recipe for AutoGen."""

import asyncio
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("autogen_agentchat", reason="an environment of its own: tests/adapters/run_all.sh")

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage
from autogen_core.tools import FunctionTool, StaticStreamWorkbench, StaticWorkbench
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "AutoGen"
CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False)
CASES = cases(CAPABILITIES)
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has some


class _Model(ChatCompletionClient):
    """Makes the given calls in one message, and then ends."""

    def __init__(self, calls: Sequence[Made]) -> None:
        self.turns: list[Foreign] = [[FunctionCall(each.call_id, each.json, each.tool) for each in calls]]

    async def create(self, *_: Foreign, **__: Foreign) -> CreateResult:
        """Answer."""
        content = self.turns.pop() if self.turns else "done"
        return CreateResult(finish_reason="stop", content=content, usage=RequestUsage(0, 0), cached=False)

    @property
    def model_info(self) -> Foreign:
        """Say that it can make calls."""
        return dict.fromkeys(("vision", "json_output", "structured_output"), False) | {
            "function_calling": True,
            "family": "unknown",
        }

    async def close(self) -> None:
        """Do nothing."""

    def _none(self, *_: Foreign, **__: Foreign) -> Foreign:
        raise NotImplementedError

    create_stream = actual_usage = total_usage = count_tokens = remaining_tokens = capabilities = _none


@attrs.define
class _Host:
    """An agent with a workbench, which may be one that streams."""

    workbench: type = StaticWorkbench
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Let the agent make the calls."""
        known = [FunctionTool(each, description="x", name=each.__name__) for each in (tools.look, tools.write)]
        workbench = RECIPE.guard_workbench(guard, self.workbench(known))
        agent = AssistantAgent("agent", _Model(calls), workbench=workbench)
        result = asyncio.run(agent.run(task="go"))
        events = [each for each in result.messages if isinstance(each, ToolCallExecutionEvent)]
        return Progress(tuple(str(each.content) for event in events for each in event.content))

    resume: Foreign = None


@pytest.mark.parametrize("host", [_Host(), _Host(StaticStreamWorkbench)], ids=["plain", "streams"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case, host: _Host) -> None:
    """Whichever workbench it has."""
    conformance.check(case, host)


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())
