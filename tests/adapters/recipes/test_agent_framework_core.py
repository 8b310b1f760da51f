"""The recipe for Microsoft Agent Framework."""

import asyncio
from collections.abc import Mapping, Sequence

import attrs
import pytest

from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("agent_framework", reason="an environment of its own: tests/adapters/run_all.sh")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)
from tests.adapters.recipe import Foreign, cases, check_that_nothing_runs_by_mistake, recipe

SECTION = "Microsoft Agent Framework"
CAPABILITIES = Capabilities(
    asks="suspend", edits=False, outlives=True, in_parallel=True, sees_text=False, repeats_ids=False
)
# Of a human's no the framework shows a text of its own.
CASES = [
    attrs.evolve(case, shown=()) if any(not answer.is_approval for answer in case.answers.values()) else case
    for case in cases(CAPABILITIES)
]
RECIPE = recipe(SECTION)
pytestmark = pytest.mark.filterwarnings("default")  # the framework has some


class _Model(FunctionInvocationLayer, BaseChatClient):
    """Makes the given calls in one message, and then ends; keeps what it was shown."""

    def __init__(self, calls: Sequence[Made]) -> None:
        super().__init__()
        contents = [Content.from_function_call(each.call_id, each.tool, arguments=each.json) for each in calls]
        self.turns = [contents] if calls else []
        self.shown: tuple[str, ...] = ()

    def _inner_get_response(self, *, messages: Foreign, **_: Foreign) -> Foreign:
        return self._answer(messages)

    async def _answer(self, messages: Foreign) -> ChatResponse:
        results = [each for message in messages for each in message.contents if each.type == "function_result"]
        self.shown = tuple(str(each.result) for each in results)
        contents = self.turns.pop() if self.turns else [Content.from_text("done")]
        return ChatResponse(messages=Message("assistant", contents))


def _go_on(guard: Guard, tools: Tools, session: Foreign, given: Foreign, calls: Sequence[Made] = ()) -> Progress:
    model = _Model(calls)
    known = [FunctionTool(name=each.__name__, description="x", func=each) for each in (tools.look, tools.write)]
    agent = Agent(model, tools=known, middleware=[RECIPE.GuardMiddleware(guard)])
    result = asyncio.run(agent.run(given, session=session))
    asked = {str(each.function_call.parse_arguments()["path"]): each for each in result.user_input_requests}
    return Progress(() if asked else model.shown, tuple(asked), (session.to_dict(), asked))


@attrs.define
class _Host:
    """An agent that is resumed from a session of plain JSON."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return _go_on(guard, tools, AgentSession(), "go", calls)

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        session, asked = progress.state
        middleware = RECIPE.GuardMiddleware(guard)
        given = [middleware.answered(asked[path], answer) for path, answer in answers.items()]
        return _go_on(guard, tools, AgentSession.from_dict(session), Message("user", given))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    conformance.check(case, _Host())


def test_nothing_runs_by_mistake() -> None:
    """The framework makes a result of an error, and goes on."""
    check_that_nothing_runs_by_mistake(_Host())


def test_a_no_is_shown_as_one() -> None:
    """In the words of the framework, which does not carry those of the human."""
    tools, guard, host = Tools(), Guard(), _Host()
    progress = host.run(guard, tools, [Made("write", "a")])
    progress = host.resume(guard, tools, progress, {"a": ToolConfirmationResponse(approved=False)})
    assert progress.shown == ("Error: Tool call invocation was rejected by user.",)
    assert tools.ran == []


def test_an_answer_to_another_question_permits_nothing() -> None:
    """The client that answers cannot change the call that was shown."""
    tools, guard, host = Tools(), Guard(), _Host()
    progress = host.run(guard, tools, [Made("write", "a")])
    session, asked = progress.state
    other = Content.from_function_call("c1", "write", arguments={"path": "b"})
    forged = Content.from_function_approval_response(approved=True, id=asked["a"].id, function_call=other)
    _go_on(guard, tools, AgentSession.from_dict(session), Message("user", [forged]))
    assert ("write", "b") not in tools.ran
