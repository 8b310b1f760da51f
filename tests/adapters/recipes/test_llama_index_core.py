"""The recipe for LlamaIndex."""

import asyncio
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("llama_index.core", reason="an environment of its own: tests/adapters/run_all.sh")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "LlamaIndex"
CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False)
# The framework asks for fields that are deprecated.
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")
CASES = cases(CAPABILITIES, "broken JSON does not run")
RECIPE = recipe(SECTION)


def _guarded(guard: Guard, tools: Tools) -> list[Foreign]:
    known = [FunctionTool.from_defaults(tools.look, name="look"), FunctionTool.from_defaults(tools.write, name="write")]
    return [RECIPE.GuardedTool(guard, tool) for tool in known]


@attrs.define
class _Host:
    """An agent whose tools are guarded."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return asyncio.run(self._run(guard, tools, calls))

    async def _run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        blocks = [
            ToolCallBlock(tool_name=each.tool, tool_kwargs=each.json, tool_call_id=each.call_id) for each in calls
        ]
        turns = [ChatMessage(role="assistant", blocks=blocks)]

        def answer(*_: object, **__: object) -> ChatMessage:
            return turns.pop() if turns else ChatMessage("done", role="assistant")

        model = MockFunctionCallingLLM(response_generator=answer)
        agent = FunctionAgent(tools=_guarded(guard, tools), llm=model, streaming=False)
        handler = agent.run("go")
        result = await handler
        # In the order in which they have ended.
        done = sorted(result.tool_calls, key=lambda call: (call.tool_id, str(call.tool_kwargs)))
        return Progress(tuple(str(call.tool_output.content) for call in done))

    resume: Foreign = None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    conformance.check(case, _Host())


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())


def test_broken_json_is_decided_as_it_was_mended() -> None:
    """The framework completes it, so that the guard sees the arguments that the tool would get."""
    tools = Tools()
    made = [Made("look", "", "c1", text='{"path": "secret"'), Made("look", "", "c2", text='{"path": "b"')]
    progress = _Host().run(Guard(conformance.CASES[0].policy), tools, made)
    assert "Secrets are off limits." in progress.shown[0]
    assert tools.ran == [("look", "b")]
