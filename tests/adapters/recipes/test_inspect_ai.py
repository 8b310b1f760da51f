"""The recipe for Inspect AI."""

import asyncio
import json
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("inspect_ai", reason="an environment of its own: tests/adapters/run_all.sh")

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput, get_model
from inspect_ai.tool import ToolCall, tool
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "Inspect AI"
CAPABILITIES = Capabilities(asks="inline", sees_text=False)
CASES = cases(CAPABILITIES)
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has some


def _guarded(guard: Guard, tools: Tools) -> list[Foreign]:
    @tool
    def look() -> Foreign:
        async def execute(path: str) -> str:
            """Show a file.

            Args:
                path: the file
            """
            return tools.look(path)

        return execute

    @tool
    def write() -> Foreign:
        async def execute(path: str) -> str:
            """Write a file.

            Args:
                path: the file
            """
            return tools.write(path)

        return execute

    return [RECIPE.guard_tool(guard, each) for each in (look(), write())]


def _made(made: Made) -> ToolCall:
    try:
        return ToolCall(id=made.call_id, function=made.tool, arguments=json.loads(made.json))
    except ValueError as error:
        return ToolCall(id=made.call_id, function=made.tool, arguments={}, parse_error=str(error))


async def _no_tokens(_: str) -> int:
    return 1


@attrs.define
class _Host:
    """A model that makes its calls, and gets the results."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        message = ChatMessageAssistant(content="", tool_calls=[_made(each) for each in calls])
        output = ModelOutput(model="fake", choices=[{"message": message, "stop_reason": "tool_calls"}])
        model = get_model("mockllm/model", custom_outputs=[output, ModelOutput.from_content("fake", "done")])
        model.api.count_text_tokens = _no_tokens  # else it downloads a table
        messages, _ = asyncio.run(model.generate_loop("go", tools=_guarded(guard, tools)))
        results = [each for each in messages if isinstance(each, ChatMessageTool)]
        return Progress(tuple(each.error.message if each.error else each.text for each in results))

    resume: Foreign = None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    conformance.check(case, _Host())


def test_nothing_runs_by_mistake() -> None:
    """An error that is not for the model ends the sample."""
    check_that_nothing_runs_by_mistake(_Host())
