"""The guard around tools of the OpenAI Agents SDK, with the real SDK and the model that it ships for tests."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from tests.adapters.cases import INSTEAD

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.session import Session
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("agents", reason="an environment of its own: tests/adapters/run_all.sh")

from agents import Agent, RunConfig, Runner, RunState, function_tool
from agents.exceptions import ModelBehaviorError, UserError
from agents.mcp import MCPServerStdio
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from permitry_hosts.adapters.openai_agents import CAPABILITIES, answer_all, guarded, guarded_server

_CONFIG = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")


def _agent(guard: Guard, functions: Sequence[Any], *turns: Sequence[Made]) -> Any:  # noqa: ANN401 -- the SDK's
    """Return an agent whose model makes the calls of each turn, and then ends."""
    steps = [[function_call(made.tool, made.json, call_id=made.call_id) for made in calls] for calls in turns]
    tools = [guarded(function_tool(function), guard) for function in functions]
    return Agent(
        "a", model=ScriptedModel([ModelStep(output) for output in [*steps, [assistant_message("done")]]]), tools=tools
    )


def _run(agent: Any, given: Any) -> Any:  # noqa: ANN401 -- the SDK's
    return asyncio.run(Runner.run(agent, given, run_config=_CONFIG))


def _shown(result: Any) -> tuple[str, ...]:  # noqa: ANN401 -- the SDK's
    items = result.to_input_list()
    return tuple(str(item["output"]) for item in items if item.get("type") == "function_call_output")


@attrs.define
class _Host:
    """An agent of the SDK, resumed from the JSON of its state."""

    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        agent = _agent(guard, [tools.look, tools.write], calls)
        return self._progress(agent, _run(agent, "go"))

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        agent = _agent(guard, [tools.look, tools.write])
        state = asyncio.run(RunState.from_string(agent, progress.state))
        answer_all(state, lambda request: answers[str(request.arguments["path"])])
        return self._progress(agent, _run(agent, state))

    def _progress(self, agent: Any, result: Any) -> Progress:  # noqa: ANN401 -- the SDK's
        asked = tuple(_path(item.arguments) for item in result.interruptions)
        if asked and not any(asked):
            # Arguments that are no JSON: the SDK asks about them, and the guard refuses them.
            state = result.to_state()
            answer_all(state, _never)
            return self._progress(agent, _run(agent, state))
        return Progress(_shown(result), asked, result.to_state().to_string())


def _path(text: str) -> str:
    try:
        return str(json.loads(text)["path"])
    except ValueError:
        return ""


def _never(_: object) -> ToolConfirmationResponse:
    raise NotImplementedError


@pytest.mark.parametrize("case", [*conformance.CASES, INSTEAD], ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case) -> None:
    """In every case that it can be asked."""
    if case.needs(CAPABILITIES):
        conformance.check(case, _Host())
    else:
        with pytest.raises(LookupError):
            conformance.check(case, _Host())


_POLICY = conformance.CASES[0].policy


def _yes(_: object) -> ToolConfirmationResponse:
    return ToolConfirmationResponse(approved=True)


def _look_and_write() -> tuple[Tools, list[Any]]:
    tools = Tools(started=[("write", "a"), ("look", "a")])
    return tools, [tools.look, tools.write]


@pytest.mark.parametrize("always", [False, True])
def test_an_approval_that_the_guard_does_not_know_lets_nothing_run(*, always: bool) -> None:
    """One for all calls of the tool would be for a call that no human has seen."""
    tools, functions = _look_and_write()
    result = _run(_agent(Guard(), functions, [Made("write", "a", "c1"), Made("write", "b", "c2")]), "go")
    state = result.to_state()
    state.approve(result.interruptions[0], always_approve=always)
    shown = _shown(_run(result.last_agent, state))
    assert "needs the user's confirmation" in shown[0]
    assert not tools.ran


def test_an_approval_of_all_calls_of_a_tool_lifts_no_rule() -> None:
    """Neither a question nor a block."""
    tools, functions = _look_and_write()
    then = [Made("write", "b", "c2"), Made("write", "secret", "c3")]
    agent = _agent(Guard(_POLICY), functions, [Made("write", "a", "c1")], then)
    state = _run(agent, "go").to_state()
    state.approve(state.get_interruptions()[0], always_approve=True)
    shown = _shown(_run(agent, state))
    assert ["needs the user's confirmation" in text for text in shown] == [True, True, False]
    assert "Secrets are off limits." in shown[2]
    assert not tools.ran


def test_an_edited_call_does_not_run_unedited_in_another_process() -> None:
    """The state of the SDK holds the arguments of the model."""
    tools, functions = _look_and_write()
    guard = Guard()
    state = _run(_agent(guard, functions, [Made("write", "a")]), "go").to_state()
    answer_all(state, lambda _: ToolConfirmationResponse(approved=True, arguments={"path": "b"}))
    agent = _agent(Guard(), functions)
    shown = _shown(_run(agent, asyncio.run(RunState.from_string(agent, state.to_string()))))
    assert "needs the user's confirmation" in shown[0]
    assert not tools.ran


def test_two_calls_with_one_id_do_not_run() -> None:
    """The SDK refuses the message, as it could not tell their answers apart."""
    tools, functions = _look_and_write()
    agent = _agent(Guard(), functions, [Made("write", "a", "c1"), Made("write", "b", "c1")])
    with pytest.raises(ModelBehaviorError, match="reused a tool call ID"):
        _run(agent, "go")
    assert not tools.ran


def test_a_call_that_leaves_out_a_default_is_decided_as_written() -> None:
    """A callable `needs_approval` of the SDK's own tools is not even asked about such a call."""
    ran = []

    def look(path: str, depth: int = 3) -> str:
        """Look."""
        ran.append((path, depth))
        return "seen"

    assert _shown(_run(_agent(Guard(_POLICY), [look], [Made("look", "a")]), "go")) == ("seen",)
    assert ran == [("a", 3)]


def test_a_tool_keeps_its_own_approvals() -> None:
    """They are asked for where the rules allow the call, and go through the guard all the same."""
    tools = Tools(started=[("look", "a")])
    guard = Guard(_POLICY)
    agent = _agent(guard, [], [Made("look", "a")])
    agent.tools.append(guarded(function_tool(tools.look, needs_approval=True), guard))
    state = _run(agent, "go").to_state()
    assert len(state.get_interruptions()) == 1
    answer_all(state, _yes)
    assert _shown(_run(agent, state)) == ("looked at a",)


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """Each with a decision and a record of its own."""
    guard, meeting = Guard(session=Session(yolo_mode=True)), asyncio.Barrier(4)

    async def meet(path: str) -> str:
        """Wait for all others."""
        await asyncio.wait_for(meeting.wait(), 20)
        return path

    calls = [Made("meet", str(number), f"c{number}") for number in range(4)]
    assert _shown(_run(_agent(guard, [meet], calls), "go")) == ("0", "1", "2", "3")
    assert isinstance(guard.recorder, MemoryRecorder)
    assert len(guard.recorder.records) == 12


def test_a_guard_that_leaves_calls_to_its_host_runs_nothing() -> None:
    """Nothing else asks here."""
    tools, functions = _look_and_write()
    with pytest.raises(UserError, match="nothing else asks"):
        _run(_agent(Guard(unmatched="silence"), functions, [Made("look", "a")]), "go")
    assert not tools.ran


_SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("docs")

@server.tool()
def look(path: str) -> str:
    return f"looked at {path}"

@server.tool()
def write(path: str) -> str:
    return f"wrote {path}"

server.run("stdio")
"""


def test_the_tools_of_a_server_are_known_by_its_name() -> None:
    """They are allowed, blocked and asked about like others."""
    rules = "schema = 1\n[[rule]]\nid = 'look'\neffect = 'allow'\ntools = ['mcp:docs/look']\n"
    guard = Guard(load_policy(rules))

    async def main() -> tuple[str, ...]:
        calls = [Made("look", "a", "c1"), Made("write", "a", "c2"), Made("write", "b", "c3")]
        async with MCPServerStdio({"command": sys.executable, "args": ["-c", _SERVER]}) as server:
            agent = _agent(guard, [], calls)
            agent.tools = await guarded_server(server, guard, agent, name="docs")
            result = await Runner.run(agent, "go", run_config=_CONFIG)
            state = result.to_state()
            answer_all(state, lambda request: ToolConfirmationResponse(approved=request.arguments["path"] == "a"))
            return _shown(await Runner.run(agent, state, run_config=_CONFIG))

    looked, wrote, declined = sorted(asyncio.run(main()), key=len)
    assert ("looked at a" in wrote, "wrote a" in looked) == (True, True)
    assert "The user declined the call of `mcp:docs/write`" in declined
