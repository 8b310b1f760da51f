"""The capability for Pydantic AI, with the real framework and a model that says what the test says."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import attrs
import pytest
from tests.adapters.cases import INSTEAD

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.session import Session
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("pydantic_ai", reason="an environment of its own: tests/adapters/run_all.sh")

from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    Tool,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from permitry_hosts.adapters.pydantic_ai import CAPABILITIES, GuardCapability, answered


def _agent(guard: Guard, tools: Sequence[Any], calls: Sequence[Made] = (), **rest: Any) -> Any:  # noqa: ANN401
    """Return an agent whose model makes the calls, and then ends."""
    turns = [ModelResponse([ToolCallPart(made.tool, made.json, made.call_id) for made in calls])] if calls else []

    def answer(*_: object) -> ModelResponse:
        return turns.pop() if turns else ModelResponse([TextPart("done")])

    return Agent(
        FunctionModel(answer), tools=tools, output_type=[str, DeferredToolRequests],
        capabilities=[*rest.get("others", ()), GuardCapability(guard)],
    )  # fmt: skip


def _shown(messages: Sequence[Any]) -> tuple[str, ...]:
    return tuple(
        part.model_response_str() if isinstance(part, ToolReturnPart) else str(part.content)
        for message in messages
        for part in message.parts
        if part.part_kind in ("tool-return", "retry-prompt")
    )


@attrs.define
class _Host:
    """An agent of Pydantic AI, resumed from the JSON of its messages."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return self._go_on(_agent(guard, [tools.look, tools.write], calls), "go")

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        history, requests = progress.state
        results = answered(guard, requests, lambda request: answers[str(request.arguments["path"])])
        agent = _agent(guard, [tools.look, tools.write])
        return self._go_on(
            agent, None, message_history=ModelMessagesTypeAdapter.validate_json(history), deferred_tool_results=results
        )

    def _go_on(self, agent: Any, prompt: str | None, **rest: Any) -> Progress:  # noqa: ANN401
        result = agent.run_sync(prompt, **rest)
        if not isinstance(result.output, DeferredToolRequests):
            return Progress(_shown(result.all_messages()))
        asked = tuple(part.args_as_dict()["path"] for part in result.output.approvals)
        return Progress((), asked, (result.all_messages_json(), result.output))


@pytest.mark.parametrize("case", [*conformance.CASES, INSTEAD], ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    if case.needs(CAPABILITIES):
        conformance.check(case, _Host())
    else:
        with pytest.raises(LookupError):
            conformance.check(case, _Host())


def _asked(agent: Any) -> Any:  # noqa: ANN401 -- a result of the framework
    result = agent.run_sync("go")
    assert isinstance(result.output, DeferredToolRequests)
    return result


def _go_on(agent: Any, asked: Any, answer: Any) -> tuple[str, ...]:  # noqa: ANN401 -- those of the framework
    results = DeferredToolResults(approvals={"c1": answer})
    return _shown(agent.run_sync(message_history=asked.all_messages(), deferred_tool_results=results).new_messages())


def _look_and_write() -> tuple[Tools, list[Any]]:
    tools = Tools(started=[("write", "a"), ("write", "b"), ("look", "a")])
    return tools, [tools.look, tools.write]


_POLICY = conformance.CASES[0].policy


def test_the_answers_of_the_framework_count() -> None:
    """In another process as well, where the guard knows of no question."""
    tools, functions = _look_and_write()
    asked = _asked(_agent(Guard(), functions, [Made("write", "a")]))
    assert asked.output.metadata["c1"]["arguments"] == {"path": "a"}
    assert _go_on(_agent(Guard(), functions), asked, ToolDenied("Leave it.")) == ("Leave it.",)
    assert not tools.ran
    assert _go_on(_agent(Guard(), functions), asked, True) == ("wrote a",)


def test_arguments_that_the_framework_edits_are_decided_again() -> None:
    """A yes to them lifts no block."""
    tools, functions = _look_and_write()
    asked = _asked(_agent(Guard(_POLICY), functions, [Made("write", "a")]))
    shown = _go_on(_agent(Guard(_POLICY), functions), asked, ToolApproved(override_args={"path": "secret"}))
    assert "Secrets are off limits." in shown[0]
    assert _go_on(_agent(Guard(_POLICY), functions), asked, ToolApproved(override_args={"path": "b"})) == ("wrote b",)
    assert tools.ran == [("write", "b")]


def test_two_calls_with_one_id_do_not_run() -> None:
    """The framework refuses the message, as it could not tell their answers apart."""
    tools, functions = _look_and_write()
    with pytest.raises(UnexpectedModelBehavior, match="unique"):
        _agent(Guard(), functions, [Made("write", "a", "c1"), Made("write", "b", "c1")]).run_sync("go")
    assert not tools.ran


class _Edits(AbstractCapability[Any]):
    """Another capability, that changes arguments right before the tool runs."""

    async def before_tool_execute(self, *_: object, **__: object) -> dict[str, Any]:
        """Look at another file."""
        return {"path": "secret"}


def test_what_hooks_make_of_a_call_is_what_is_decided() -> None:
    """Those of the capabilities around the guard, and those behind it in the list."""
    tools, functions = _look_and_write()
    agent = _agent(Guard(_POLICY), functions, [Made("look", "a")], others=[_Edits()])
    assert "Secrets are off limits." in _shown(agent.run_sync("go").all_messages())[0]
    assert not tools.ran


def test_rules_see_the_json_of_what_the_framework_has_read() -> None:
    """Defaults included; the tool gets what the framework has read."""
    seen: list[object] = []

    def book(day: date, room: int = 7) -> str:
        """Book a room."""
        seen.append((day, room))
        return "booked"

    guard = Guard()
    asked = _asked(_agent(guard, [book], [Made("book", "", text='{"day": "2026-01-02"}')]))
    assert asked.output.metadata["c1"]["arguments"] == {"day": "2026-01-02", "room": 7}
    results = answered(guard, asked.output, lambda _: ToolConfirmationResponse(approved=True))
    _agent(guard, [book]).run_sync(message_history=asked.all_messages(), deferred_tool_results=results)
    assert seen == [(date(2026, 1, 2), 7)]


def test_what_cannot_be_json_is_refused() -> None:
    """Rules could not see it."""

    class Opaque:
        pass

    class Fills(AbstractCapability[Any]):
        async def before_tool_execute(self, *_: object, **__: object) -> dict[str, Any]:
            """Put in what is no JSON."""
            return {"path": Opaque()}

    tools, functions = _look_and_write()
    agent = _agent(Guard(), functions, [Made("look", "a")], others=[Fills()])
    assert "was not understood" in _shown(agent.run_sync("go").all_messages())[0]
    assert not tools.ran


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """Each with a decision and a record of its own."""
    guard, meeting = Guard(session=Session(yolo_mode=True)), asyncio.Barrier(4)

    async def meet(path: str) -> str:
        """Wait for all others."""
        await asyncio.wait_for(meeting.wait(), 20)
        return path

    calls = [Made("meet", str(number), f"c{number}") for number in range(4)]
    shown = _shown(_agent(guard, [meet], calls).run_sync("go").all_messages())
    assert shown == ("0", "1", "2", "3")
    assert isinstance(guard.recorder, MemoryRecorder)
    assert len(guard.recorder.records) == 12


def test_a_tool_that_asks_by_itself_does_not_run_twice() -> None:
    """Its second run would be one that was never permitted."""
    ran = []

    def order(path: str) -> str:
        """Order something."""
        ran.append(path)
        raise ApprovalRequired

    guard = Guard(session=Session(yolo_mode=True))
    asked = _asked(_agent(guard, [order], [Made("order", "tea")]))
    assert "already been handled" in _go_on(_agent(guard, [order]), asked, True)[0]
    assert ran == ["tea"]


def test_a_tool_that_is_declared_to_need_approval_keeps_to_the_rules() -> None:
    """They are asked once the framework's own question is answered."""
    tools = Tools()
    guard = Guard(_POLICY)
    asked = _asked(_agent(guard, [Tool(tools.look, requires_approval=True)], [Made("look", "secret")]))
    results = answered(guard, asked.output, _never)
    assert "Secrets are off limits." in results.approvals["c1"].message
    shown = _go_on(_agent(guard, [Tool(tools.look, requires_approval=True)]), asked, True)
    assert "Secrets are off limits." in shown[0]
    assert not tools.ran


def _never(_: object) -> ToolConfirmationResponse:
    raise NotImplementedError


def test_a_guard_that_leaves_calls_to_its_host_runs_nothing() -> None:
    """Nothing else asks here."""
    tools, functions = _look_and_write()
    with pytest.raises(ValueError, match="nothing else asks"):
        _agent(Guard(unmatched="silence"), functions, [Made("look", "a")]).run_sync("go")
    assert not tools.ran
