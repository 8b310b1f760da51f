"""The middleware for servers of FastMCP, with real servers and clients of both eras in one process."""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import mcp_types
import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import MiddlewareContext
from mcp import MCPError
from tests.adapters.cases import INSTEAD
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.session import Session
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools
from permitry_hosts.adapters.fastmcp import CAPABILITIES, GuardMiddleware


def _server(guard: Guard, *functions: Any, **rest: Any) -> FastMCP:  # noqa: ANN401 -- any function is a tool
    server = FastMCP("files", middleware=[GuardMiddleware(guard, **rest)])
    for function in functions:
        server.tool(function)
    return server


@attrs.define
class _Host:
    """A server whose client asks the channel of the guard, as if that were its user."""

    mode: str
    capabilities: Capabilities = CAPABILITIES

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return Progress(tuple(asyncio.run(self._run(guard, tools, calls))))

    async def _run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> list[str]:
        async def answer(message: str, *_: object) -> ElicitResult[Any]:
            request = ToolConfirmationRequest(ToolCall("write", json.loads(message[message.index("{") :])))
            response = guard.channel.ask(request)
            assert response is not None
            if not response.is_approval:
                words = {"result": response.result} if response.result else {"instructions": response.instructions}
                content = {"approved": False, **words}
                return ElicitResult(action="accept", content=content)
            edited = {} if response.arguments is None else {"arguments": json.dumps(response.arguments)}
            return ElicitResult(action="accept", content={"approved": True, **edited})

        server = _server(guard, tools.look, tools.write)
        async with Client(server, mode=self.mode, elicitation_handler=answer) as client:
            return [await self._call(client, made) for made in calls]

    async def _call(self, client: Any, made: Made) -> str:  # noqa: ANN401 -- a client
        try:
            arguments = json.loads(made.json)
        except ValueError:
            return "the client cannot send this"
        result = await client.call_tool(made.tool, arguments, raise_on_error=False)
        return str(result.content[0].text)

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Do nothing: a server that waits is never resumed."""
        raise NotImplementedError


@for_each("mode", ["legacy", "auto"])
@for_each("case", [*conformance.CASES, INSTEAD], ids=str)
def test_the_server_keeps_what_the_guard_says(case: conformance.Case, mode: str) -> None:
    """In every case that it can be asked, in both eras of the protocol."""
    if case.needs(CAPABILITIES):
        conformance.check(case, _Host(mode))
    else:
        with pytest.raises(LookupError):
            conformance.check(case, _Host(mode))


_MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
_YOLO = Session(yolo_mode=True)


async def _yes(*_: object) -> ElicitResult[Any]:
    return ElicitResult(action="accept", content={"approved": True})


def _called(server: FastMCP, mode: str, *made: Made, answer: Any = None) -> list[str]:  # noqa: ANN401 -- a handler
    """Return what the client is shown of calls that it makes at the same time."""

    async def main() -> list[str]:
        async with Client(server, mode=mode, elicitation_handler=answer) as client:
            calls = [client.call_tool(each.tool, json.loads(each.json), raise_on_error=False) for each in made]
            return [str(result.content[0].text) for result in await asyncio.gather(*calls)]

    return asyncio.run(main())


@_MODES
def test_what_is_blocked_whatever_the_arguments_is_hidden(mode: str) -> None:
    """From lists, and a call of it is one of an unknown tool."""
    rules = "schema = 1\n[[rule]]\nid = 'no-write'\neffect = 'block'\ntools = ['mcp:files/write']\n"
    tools = Tools()
    server = _server(Guard(load_policy(rules)), tools.look, tools.write, server="files")

    async def main() -> list[str]:
        async with Client(server, mode=mode) as client:
            return [tool.name for tool in await client.list_tools()]

    assert asyncio.run(main()) == ["look"]
    hidden, unknown = _called(server, mode, Made("write", "a"), Made("steal", "a"))
    assert hidden == unknown.replace("steal", "write") == "Unknown tool: 'write'"
    assert not tools.ran


@_MODES
@for_each(
    "result",
    [
        ElicitResult(action="accept", content={"approved": False}),
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
    ],
    ids=["no", "declined", "cancelled"],
)
def test_only_a_yes_is_a_yes(mode: str, result: ElicitResult[Any]) -> None:
    """Not a form that is sent off as it is."""
    tools = Tools()

    async def answer(*_: object) -> ElicitResult[Any]:
        return result

    (shown,) = _called(_server(Guard(), tools.write), mode, Made("write", "a"), answer=answer)
    assert "The user declined the call" in shown
    assert not tools.ran


@_MODES
@for_each("edited", ['{"path"', '["b"]', '"b"', '{"path": "b", "path": "c"}', "null", "no", "  "])
def test_an_edit_that_cannot_be_read_is_a_no(mode: str, edited: str) -> None:
    """What the user wanted is not known, so that the call does not run as it was either."""
    tools = Tools()

    async def answer(*_: object) -> ElicitResult[Any]:
        return ElicitResult(action="accept", content={"approved": True, "arguments": edited})

    (shown,) = _called(_server(Guard(), tools.write), mode, Made("write", "a"), answer=answer)
    assert "The edited arguments could not be read." in shown
    assert not tools.ran


@_MODES
@for_each("more", [{"approved": True}, {"instructions": "Leave it."}, {"arguments": "{}"}], ids=str)
def test_a_result_goes_with_nothing_else(mode: str, more: dict[str, Any]) -> None:
    """What the user wanted is not known, so that nothing runs."""
    tools = Tools()

    async def answer(*_: object) -> ElicitResult[Any]:
        return ElicitResult(action="accept", content={"approved": False, "result": "by hand", **more})

    (shown,) = _called(_server(Guard(), tools.write), mode, Made("write", "a"), answer=answer)
    assert "two answers at once" in shown
    assert not tools.ran


@_MODES
def test_a_form_whose_field_is_left_empty_is_no_edit(mode: str) -> None:
    """Some clients send every field."""
    tools = Tools(started=[("write", "a")])

    async def answer(*_: object) -> ElicitResult[Any]:
        return ElicitResult(action="accept", content={"approved": True, "instructions": "", "arguments": ""})

    assert _called(_server(Guard(), tools.write), mode, Made("write", "a"), answer=answer) == ["wrote a"]


@_MODES
def test_a_client_that_cannot_ask_runs_nothing(mode: str) -> None:
    """It has no way of showing a question."""
    tools = Tools()
    server = _server(Guard(), tools.write)
    if mode == "legacy":
        (shown,) = _called(server, mode, Made("write", "a"))
        assert "The client could not ask its user." in shown
    else:
        with pytest.raises(Exception, match="Elicitation not supported"):
            _called(server, mode, Made("write", "a"))
    assert not tools.ran


@_MODES
def test_calls_at_the_same_time_are_decided_each(mode: str) -> None:
    """With a record of its own for each."""
    guard, meeting = Guard(session=_YOLO), asyncio.Barrier(4)

    async def meet(path: str) -> str:
        """Wait for all others."""
        await asyncio.wait_for(meeting.wait(), 20)
        return path

    shown = _called(_server(guard, meet), mode, *[Made("meet", str(number)) for number in range(4)])
    assert shown == ["0", "1", "2", "3"]
    assert isinstance(guard.recorder, MemoryRecorder)
    assert len(guard.recorder.records) == 12


@_MODES
def test_a_tool_that_fails_is_recorded_as_such(mode: str) -> None:
    """The client is shown what the framework shows of it."""
    guard = Guard(session=_YOLO)

    def fail() -> None:
        """Fail."""
        raise ToolError("gone")

    assert _called(_server(guard, fail), mode, Made("fail", "", text="{}")) == ["gone"]
    assert isinstance(guard.recorder, MemoryRecorder)
    assert guard.recorder.records[-1]["outcome"] in ("failed", "crashed")


async def _leg(client: Any, path: str = "a", **rest: Any) -> Any:  # noqa: ANN401 -- those of the client
    """Make a call as a client of the modern era does, and return the result as it comes."""
    return await client.session.call_tool("write", {"path": path}, allow_input_required=True, **rest)


def test_an_answer_is_for_the_call_that_was_asked_about() -> None:
    """Not for other arguments, not twice, and not for a question that was never asked."""
    tools = Tools(started=[("write", "a")] * 2)
    yes = {"permitry": mcp_types.ElicitResult(action="accept", content={"approved": True})}

    async def main() -> list[Any]:
        async with Client(_server(Guard(), tools.write), elicitation_handler=_yes) as client:
            asked = await _leg(client)
            state = asked.request_state
            results = []
            for path, given in [("b", state), ("a", "permitry:made-up"), ("a", state), ("a", state)]:
                try:
                    result = await _leg(client, path, input_responses=yes, request_state=given)
                except MCPError as error:
                    results.append(str(error))
                else:
                    results.append("".join(each.text for each in result.content))
            return results

    other, made_up, first, second = asyncio.run(main())
    assert "wrote" not in other + made_up + second
    assert first == "wrote a"
    assert tools.ran == [("write", "a")]


@_MODES
def test_an_empty_form_runs_nothing(mode: str) -> None:
    """Whether the client refuses to send it, as newer ones do, or the server reads it as a no."""
    tools = Tools()

    async def answer(*_: object) -> ElicitResult[Any]:
        return ElicitResult(action="accept", content={})

    with contextlib.suppress(MCPError):
        (shown,) = _called(_server(Guard(), tools.write), mode, Made("write", "a"), answer=answer)
        assert "The user declined the call" in shown
    assert not tools.ran


@for_each("content", [None, {}, {"approved": "true"}, {"approved": 1}])
def test_what_is_not_a_yes_on_the_wire_is_a_no(content: dict[str, Any] | None) -> None:
    """The client comes back with the state alone, or with a form that no checking client would send."""
    tools = Tools()
    sent: dict[str, Any] = {}
    if content is not None:
        sent = {"input_responses": {"permitry": mcp_types.ElicitResult(action="accept", content=content)}}

    async def main() -> str:
        async with Client(_server(Guard(), tools.write), elicitation_handler=_yes) as client:
            asked = await _leg(client)
            result = await _leg(client, request_state=asked.request_state, **sent)
            return str(result.content[0].text)

    assert "The user declined the call" in asyncio.run(main())
    assert not tools.ran


@_MODES
def test_each_session_has_its_guard(mode: str) -> None:
    """The server says which it is."""
    tools = Tools(started=[("write", "a")])
    guards = [Guard(session=_YOLO), Guard(conformance.CASES[0].policy)]
    server = FastMCP("files", middleware=[GuardMiddleware(lambda _: guards[0])])
    server.tool(tools.write)
    assert _called(server, mode, Made("write", "a")) == ["wrote a"]
    guards.pop(0)
    assert "Secrets are" in _called(server, mode, Made("write", "secret"))[0]


@_MODES
def test_a_guard_that_fails_runs_nothing(mode: str) -> None:
    """Whatever it raises."""
    tools = Tools()

    def fail(_: object) -> Guard:
        raise OSError("gone")

    server = FastMCP("files", middleware=[GuardMiddleware(fail)])
    server.tool(tools.write)
    with pytest.raises(MCPError):
        _called(server, mode, Made("write", "a"))
    with pytest.raises(MCPError):
        _called(_server(Guard(unmatched="silence"), tools.write), mode, Made("write", "a"))
    assert not tools.ran


@_MODES
def test_the_hints_of_a_tool_only_make_it_worse(mode: str) -> None:
    """One that says that it reads is not believed."""
    rules = "schema = 1\n[[rule]]\nid = 'reads'\neffect = 'allow'\ntools = ['@reads']\n"
    tools = Tools()
    server = _server(Guard(load_policy(rules)))
    server.tool(tools.write, annotations={"readOnlyHint": True})
    (shown,) = _called(server, mode, Made("write", "a"), answer=None if mode == "legacy" else _no)
    assert "The user declined" in shown
    assert not tools.ran


async def _no(*_: object) -> ElicitResult[Any]:
    return ElicitResult(action="decline")


def test_a_call_without_a_request_is_refused() -> None:
    """There is no server that could say what the tool is."""
    middleware = GuardMiddleware(Guard())
    context: MiddlewareContext[Any] = MiddlewareContext(message=None)
    with pytest.raises(RuntimeError, match="without a request"):
        asyncio.run(middleware.on_call_tool(context, _never))


async def _never(context: object) -> Any:  # noqa: ANN401 -- it is never called
    raise NotImplementedError(context)
