"""The recipe for CrewAI."""

import os
from collections.abc import Sequence

import attrs
import pytest

from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("crewai", reason="an environment of its own: tests/adapters/run_all.sh")
os.environ.update(OTEL_SDK_DISABLED="true", CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false")

from crewai import Agent
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "CrewAI"
CAPABILITIES = Capabilities(asks="inline", in_parallel=True, sees_text=False)
CASES = cases(CAPABILITIES)
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has many


class _Model(BaseLLM):
    """Makes the given calls in one message, and then ends; keeps what it was shown."""

    turns: list[Foreign]
    calls_functions: bool = True
    shown: list[str]

    def call(self, messages: Foreign, *_: Foreign, **__: Foreign) -> Foreign:
        shown = [str(each["content"]) for each in messages if each["role"] == "tool" or not self.calls_functions]
        self.shown[:] = shown
        return self.turns.pop(0) if self.turns else "Thought: I am done\nFinal Answer: done"

    def supports_function_calling(self) -> bool:
        return self.calls_functions


def _guarded(guard: Guard, tools: Tools) -> list[Foreign]:
    return [RECIPE.guard_tool(guard, tool(each.__name__)(each)) for each in (_plain(tools.look), _plain(tools.write))]


def _plain(method: Foreign) -> Foreign:
    def function(path: str) -> str:
        """Work on a file."""
        return str(method(path))

    function.__name__ = method.__name__
    return function


@attrs.define
class _Host:
    """An agent whose tools are guarded."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return Progress(_run(guard, tools, [_message(calls)]))

    resume: Foreign = None


def _message(calls: Sequence[Made]) -> list[Foreign]:
    functions = [(each.call_id, {"name": each.tool, "arguments": each.json}) for each in calls]
    return [{"id": call_id, "type": "function", "function": function} for call_id, function in functions]


def _run(guard: Guard, tools: Tools, turns: list[Foreign], **rest: Foreign) -> tuple[str, ...]:
    """Return what the model was shown."""
    model = _Model(model="fake", turns=turns, shown=[], **rest)
    known = _guarded(guard, tools)
    Agent(role="a", goal="b", backstory="c", llm=model, tools=known, verbose=False, cache=True).kickoff("go")
    return tuple(model.shown)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    conformance.check(case, _Host())


def test_nothing_runs_by_mistake() -> None:
    """A hook of the framework would let the tool run."""
    check_that_nothing_runs_by_mistake(_Host())


def test_a_result_is_not_kept_for_the_next_call() -> None:
    """The framework would answer the second of two equal calls by itself, whatever the rules say by then."""
    tools, (made, *_) = Tools(), conformance.CASES[0].calls
    guard = Guard(conformance.CASES[0].policy)
    _run(guard, tools, [_message([made]), _message([made])])
    assert tools.ran == [("look", "a")] * 2


def test_calls_that_are_written_as_text_are_guarded() -> None:
    """A model without functions writes them so."""
    tools, guard = Tools(), Guard(conformance.CASES[0].policy)
    turns = [f'Thought: I look\nAction: look\nAction Input: {{"path": "{path}"}}' for path in ("a", "secret")]
    shown = _run(guard, tools, turns, calls_functions=False)
    assert tools.ran == [("look", "a")]
    assert "Secrets are off limits." in "".join(shown)
