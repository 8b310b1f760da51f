"""The guard around tools of the Anthropic SDK, with its real tool runner and answers that the test makes up."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
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

pytest.importorskip("anthropic", reason="an environment of its own: tests/adapters/run_all.sh")

import httpx2
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

from permitry_hosts.adapters.anthropic import CAPABILITIES, guarded


def _input(made: Made) -> Any:  # noqa: ANN401 -- any JSON
    try:
        return json.loads(made.json)
    except ValueError:
        return made.json


def _transport(calls: Sequence[Made], shown: list[str]) -> httpx2.MockTransport:
    """Return a model that makes the calls, notes what it is shown of them, and ends."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        last = json.loads(request.content)["messages"][-1]["content"]
        content: list[Any] = [{"type": "text", "text": "done"}]
        if last == "go":
            content = [
                {"type": "tool_use", "id": made.call_id, "name": made.tool, "input": _input(made)} for made in calls
            ]
        else:
            shown.extend(str(result["content"]) for result in last)
        message = {
            "id": f"m{len(shown)}", "type": "message", "role": "assistant", "model": "fake", "content": content,
            "stop_reason": "end_turn" if content[0]["type"] == "text" else "tool_use", "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }  # fmt: skip
        return httpx2.Response(200, json=message)

    return httpx2.MockTransport(respond)


_REQUEST: Any = {"max_iterations": 5, "max_tokens": 9, "model": "fake", "messages": [{"role": "user", "content": "go"}]}


def _shown(tools: Sequence[Any], calls: Sequence[Made]) -> tuple[str, ...]:
    shown: list[str] = []
    with httpx2.Client(transport=_transport(calls, shown)) as http:
        Anthropic(api_key="x", http_client=http).beta.messages.tool_runner(tools=tools, **_REQUEST).until_done()
    return tuple(shown)


async def _ashown(tools: Sequence[Any], calls: Sequence[Made]) -> tuple[str, ...]:
    shown: list[str] = []
    async with httpx2.AsyncClient(transport=_transport(calls, shown)) as http:
        client = AsyncAnthropic(api_key="x", http_client=http)
        await client.beta.messages.tool_runner(tools=tools, **_REQUEST).until_done()
    return tuple(shown)


def _asynchronous(function: Callable[[str], str]) -> Any:  # noqa: ANN401 -- a tool
    async def run(path: str) -> str:
        return function(path)

    return beta_async_tool(run, name=function.__name__, description="It looks, or writes.")


@attrs.define
class _Host:
    """The tool runner, which waits for the channel of the guard."""

    is_async: bool
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        functions = [tools.look, tools.write]
        if self.is_async:
            return Progress(asyncio.run(_ashown([guarded(_asynchronous(each), guard) for each in functions], calls)))
        return Progress(_shown([guarded(beta_tool(each), guard) for each in functions], calls))

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Do nothing: a runner that waits is never resumed."""
        raise NotImplementedError


@pytest.mark.filterwarnings("ignore:Tool 'steal' not found:UserWarning")
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning")
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("case", [*conformance.CASES, INSTEAD], ids=str)
def test_the_runner_keeps_what_the_guard_says(case: conformance.Case, *, is_async: bool) -> None:
    """In every case that it can be asked."""
    if case.needs(CAPABILITIES):
        conformance.check(case, _Host(is_async))
    else:
        with pytest.raises(LookupError):
            conformance.check(case, _Host(is_async))


def _look(path: str) -> str:
    """Look."""
    return f"looked at {path}"


def test_the_tool_itself_stays_as_it_was() -> None:
    """What is guarded is a copy, with the same declaration."""
    tool = beta_tool(_look)
    copied = guarded(tool, Guard())
    assert copied.to_dict() == tool.to_dict()
    assert tool.call({"path": "a"}) == "looked at a"
    assert "needs the user's confirmation" in _shown([copied], [Made("_look", "a")])[0]


def test_what_the_runner_does_not_call_cannot_be_guarded() -> None:
    """A declaration of a tool that runs at the provider, for one."""
    with pytest.raises(TypeError, match="a dict cannot be guarded"):
        guarded({"type": "web_search_20250305", "name": "web_search"}, Guard())


def test_a_guard_that_leaves_calls_to_its_host_runs_nothing() -> None:
    """Nothing else asks here; the runner makes a result of every error."""
    shown = _shown([guarded(beta_tool(_look), Guard(unmatched="silence"))], [Made("_look", "a")])
    assert "nothing else asks" in shown[0]


def test_a_tool_that_fails_is_recorded_as_such() -> None:
    """The model is shown what the SDK shows of it."""

    @beta_tool
    def fail(path: str) -> str:
        """Fail."""
        raise OSError(path)

    guard = Guard(session=Session(yolo_mode=True))
    assert "OSError" in _shown([guarded(fail, guard)], [Made("fail", "a")])[0]
    assert isinstance(guard.recorder, MemoryRecorder)
    assert guard.recorder.records[-1]["outcome"] == "crashed"


def test_rules_know_the_server_of_a_tool() -> None:
    """As `mcp:server/tool`."""
    guard = Guard()
    _shown([guarded(beta_tool(_look), guard, server="docs")], [Made("_look", "a")])
    assert isinstance(guard.recorder, MemoryRecorder)
    assert guard.recorder.records[0]["tool"] == "mcp:docs/_look"
