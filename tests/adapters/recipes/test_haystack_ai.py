"""The recipe for Haystack."""

import asyncio
import json
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("haystack", reason="an environment of its own: tests/adapters/run_all.sh")

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "Haystack"
CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False)
# A call is an object: a generator that gets broken JSON makes no call of it.
CASES = cases(CAPABILITIES, "broken JSON does not run")
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has some


@component
class _Model:
    """Makes the given calls in one message, and then ends."""

    def __init__(self, calls: Sequence[Made]) -> None:
        made = [ToolCall(each.tool, json.loads(each.json), id=each.call_id) for each in calls]
        self.turns = [ChatMessage.from_assistant(tool_calls=made)]

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Foreign = None, **_: Foreign) -> Foreign:
        """Answer."""
        del messages, tools
        return {"replies": [self.turns.pop() if self.turns else ChatMessage.from_assistant("done")]}


def _agent(guard: Guard, tools: Tools, calls: Sequence[Made]) -> Foreign:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    known = [Tool(each.__name__, "x", schema, function=each) for each in (tools.look, tools.write)]
    return Agent(chat_generator=_Model(calls), tools=[RECIPE.guard_tool(guard, each) for each in known])


@attrs.define
class _Host:
    """An agent that is run as it is, or with `await`."""

    is_async: bool = False
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Let the agent make the calls."""
        agent, messages = _agent(guard, tools, calls), [ChatMessage.from_user("go")]
        result = asyncio.run(agent.run_async(messages)) if self.is_async else agent.run(messages)
        results = [each for message in result["messages"] for each in message.tool_call_results]
        return Progress(tuple(str(each.result) for each in results))

    resume: Foreign = None


@pytest.mark.parametrize("host", [_Host(), _Host(is_async=True)], ids=["plain", "async"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case, host: _Host) -> None:
    """Whichever way it is run."""
    conformance.check(case, host)


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())
