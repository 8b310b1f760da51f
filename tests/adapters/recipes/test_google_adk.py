"""The recipe for Google ADK."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("google.adk", reason="an environment of its own: tests/adapters/run_all.sh")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "Google ADK"
CAPABILITIES = Capabilities(
    asks="suspend", edits=False, outlives=True, in_parallel=True, sees_text=False, repeats_ids=False
)
CASES = cases(CAPABILITIES, "broken JSON does not run", "an unknown tool does not run")
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has many


class _Model(BaseLlm):
    """Makes the given calls in one message, and then ends."""

    turns: list[Foreign]

    async def generate_content_async(self, *_: Foreign, **__: Foreign) -> AsyncIterator[LlmResponse]:
        yield LlmResponse(
            content=types.Content(role="model", parts=self.turns.pop() if self.turns else [_text("done")])
        )


def _text(text: str) -> Foreign:
    return types.Part(text=text)


def _call(made: Made) -> Foreign:
    return types.Part(function_call=types.FunctionCall(name=made.tool, args=json.loads(made.json), id=made.call_id))


def _runner(guard: Guard, tools: Tools, sessions: Foreign, calls: Sequence[Made] = ()) -> Runner:
    model = _Model(model="fake", turns=[[_call(made) for made in calls]] if calls else [])
    agent = LlmAgent(name="agent", model=model, tools=[tools.look, tools.write])
    app = App(name="app", root_agent=agent, plugins=[RECIPE.GuardPlugin(guard)])
    return Runner(app=app, session_service=sessions, auto_create_session=True)


async def _events(runner: Runner, parts: Sequence[Foreign]) -> list[Foreign]:
    message = types.Content(role="user", parts=[*parts])
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]


def _go_on(runner: Runner, sessions: Foreign, parts: Sequence[Foreign]) -> Progress:
    asked: dict[str, str] = {}
    shown = []
    for event in asyncio.run(_events(runner, parts)):
        for each in event.get_function_calls():
            if each.name == "adk_request_confirmation":
                asked[each.args["originalFunctionCall"]["args"]["path"]] = each.id
        shown += [json.dumps(each.response) for each in event.get_function_responses()]
    return Progress(() if asked else tuple(shown), tuple(asked), (sessions, asked))


@attrs.define
class _Host:
    """A runner over a session that outlives it."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        sessions = InMemorySessionService()
        return _go_on(_runner(guard, tools, sessions, calls), sessions, [_text("go")])

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        sessions, ids = progress.state
        parts = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=ids[path], name="adk_request_confirmation",
                    response={"confirmed": answer.is_approval, "payload": {"instructions": answer.instructions}},
                )
            )
            for path, answer in answers.items()
        ]  # fmt: skip
        return _go_on(_runner(guard, tools, sessions), sessions, parts)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    conformance.check(case, _Host())


def test_nothing_runs_by_mistake() -> None:
    """An error in a plugin ends the run."""
    check_that_nothing_runs_by_mistake(_Host())


def test_an_unknown_tool_does_not_run() -> None:
    """It is asked about, and the framework does not take the answer."""
    tools, guard = Tools(), Guard()
    progress = _Host().run(guard, tools, [Made("steal", "a")])
    assert progress.asked == ("a",)
    with pytest.raises(ValueError, match="not registered"):
        _Host().resume(guard, tools, progress, {"a": ToolConfirmationResponse(approved=True)})
    assert tools.ran == []


def test_a_tool_that_fails_has_an_end_in_the_record() -> None:
    """Otherwise its outcome would be unknown."""
    recorder = MemoryRecorder()
    with pytest.raises(KeyError):
        _Host().run(Guard(conformance.CASES[0].policy, recorder=recorder), _Failing(), [Made("look", "a")])
    assert [each["outcome"] for each in recorder.records if each["event"] == "finished"] == ["failed"]


class _Failing(Tools):
    def look(self, path: str) -> str:
        """Show a file."""
        raise KeyError(path)
