"""The recipe for Agno."""

import asyncio
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("agno", reason="an environment of its own: tests/adapters/run_all.sh")

from agno.models.base import Model
from agno.models.response import ModelResponse
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "Agno"
CAPABILITIES = Capabilities(asks="inline", sees_text=False)
CASES = cases(CAPABILITIES)
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has some


class _Model(Model):
    """Makes the given calls in one message, and then ends."""

    def __init__(self, calls: Sequence[Made]) -> None:
        super().__init__(id="fake")
        functions = [(each.call_id, {"name": each.tool, "arguments": each.json}) for each in calls]
        self.turns = [[{"id": key, "type": "function", "function": function} for key, function in functions]]

    def invoke(self, *_: Foreign, **__: Foreign) -> ModelResponse:
        """Answer."""
        if self.turns:
            return ModelResponse(role="assistant", tool_calls=self.turns.pop())
        return ModelResponse(role="assistant", content="done")

    async def ainvoke(self, *_: Foreign, **__: Foreign) -> ModelResponse:
        """Answer."""
        return self.invoke()

    def _none(self, *_: Foreign, **__: Foreign) -> Foreign:
        raise NotImplementedError

    invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = _none


@attrs.define
class _Host:
    """An agent that is run as it is, or with `await` and async tools."""

    is_async: bool = False
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        """Let the agent make the calls."""

        async def look(path: str) -> str:
            """Show a file."""
            return tools.look(path)

        async def write(path: str) -> str:
            """Write a file."""
            return tools.write(path)

        functions: Foreign = [look, write] if self.is_async else [tools.look, tools.write]
        agent = RECIPE.guarded_agent(guard, functions, model=_Model(calls), telemetry=False)
        result = asyncio.run(agent.arun("go")) if self.is_async else agent.run("go")
        return Progress(tuple(str(each.content) for each in result.messages if each.role == "tool"))

    resume: Foreign = None


@pytest.mark.parametrize("host", [_Host(), _Host(is_async=True)], ids=["plain", "async"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case, host: _Host) -> None:
    """Whichever way it is run: a hook would be left out of one of them."""
    conformance.check(case, host)


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())


def test_a_function_that_wants_more_than_the_model_writes_is_refused() -> None:
    """Rules cannot see an agent, so that it does not get one."""
    ran = []

    def look(path: str, agent: Foreign) -> str:
        """Show a file."""
        ran.append((path, agent))
        return "seen"

    guard = Guard(conformance.CASES[0].policy)
    agent = RECIPE.guarded_agent(guard, [look], model=_Model([Made("look", "a")]), telemetry=False)
    result = agent.run("go")
    assert [each.content for each in result.messages if each.role == "tool"] != ["seen"]
    assert ran == []
