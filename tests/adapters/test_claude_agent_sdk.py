"""The hooks for the Claude Agent SDK, with the Claude Code that comes with it and a model on loopback."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.adapters.cases import INSTEAD

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.session import Session
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("claude_agent_sdk", reason="an environment of its own: tests/adapters/run_all.sh")

from claude_agent_sdk import AgentDefinition, ClaudeAgentOptions, ClaudeSDKClient, create_sdk_mcp_server, tool

from permitry_hosts.adapters.claude_agent_sdk import CAPABILITIES, guard_hooks

_TASK = "Look into it."


def _events(calls: Sequence[Made]) -> Iterator[dict[str, Any]]:
    """Yield the stream of a message with the calls, or of the end."""
    start: dict[str, Any] = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    yield {"type": "message_start", "message": start}
    blocks: list[tuple[Any, Any]] = [
        (
            {"type": "tool_use", "id": f"toolu_{made.call_id}", "name": _shown(made.tool), "input": {}},
            {"type": "input_json_delta", "partial_json": made.json},
        )
        for made in calls
    ] or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})]
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def _shown(tool: str) -> str:
    return tool if tool == "Agent" else f"mcp__t__{tool}"


@contextmanager
def _model(calls: Sequence[Made], shown: list[str], helps: Sequence[Made] = ()) -> Iterator[str]:
    """Serve a model that makes the calls, notes what it is shown of them, and ends; a sub-agent's makes `helps`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Answer with a stream."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            parts = [part for each in body["messages"] if isinstance(each["content"], list) for part in each["content"]]
            results = [part for part in parts if part["type"] == "tool_result"]
            made = helps if _TASK in json.dumps(body["messages"][0]) else calls
            if results and made is (helps or calls):
                shown[:] = [json.dumps(result["content"]) for result in results]
            is_first = body.get("tools") and not results
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in _events(made if is_first else ()):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _tool(function: Any) -> Any:  # noqa: ANN401 -- the SDK's
    @tool(function.__name__, function.__doc__, {"path": str})
    async def run(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": function(arguments["path"])}]}

    return run


@attrs.define
class _Host:
    """Claude Code, whose hooks wait for the channel of the guard."""

    home: Path
    capabilities: Capabilities = CAPABILITIES
    timeout: float = 60
    helps: Sequence[Made] = ()

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        shown: list[str] = []
        with _model(calls, shown, self.helps) as url:
            asyncio.run(asyncio.wait_for(self._run(guard, tools, url), 60))
        return Progress(tuple(shown))

    async def _run(self, guard: Guard, tools: Tools, url: str) -> None:
        options = ClaudeAgentOptions(
            hooks=guard_hooks(guard, names={"mcp__t__look": "look", "mcp__t__write": "write"}, timeout=self.timeout),
            # Claude Code itself lets all of them run: whatever the guard does not stop would.
            allowed_tools=["mcp__t__look", "mcp__t__write", "Agent"],
            agents={"helper": AgentDefinition("helps", "You help.")},
            mcp_servers={"t": create_sdk_mcp_server("t", tools=[_tool(tools.look), _tool(tools.write)])},
            model="claude-sonnet-4-5",
            setting_sources=[],
            cwd=self.home,
            env={
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "x",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                "HOME": str(self.home),
                "CLAUDE_CONFIG_DIR": str(self.home),
                "no_proxy": "127.0.0.1",
            },
        )
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            async for _ in client.receive_response():
                pass

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        """Do nothing: hooks that wait are never resumed."""
        raise NotImplementedError


@pytest.mark.parametrize("case", [*conformance.CASES, INSTEAD], ids=str)
def test_claude_code_keeps_what_the_guard_says(case: conformance.Case, tmp_path: Path) -> None:
    """In every case that it can be asked."""
    if case.needs(CAPABILITIES):
        conformance.check(case, _Host(tmp_path))
    else:
        with pytest.raises(LookupError):
            conformance.check(case, _Host(tmp_path))


_YES, _NO = ToolConfirmationResponse(approved=True), ToolConfirmationResponse(approved=False)


def _played(guard: Guard, home: Path, *calls: Made, **rest: Any) -> tuple[Tools, tuple[str, ...]]:  # noqa: ANN401
    tools = Tools(started=[("look", "a"), ("write", "a"), ("write", "b")])
    return tools, _Host(home, **rest).run(guard, tools, calls).shown


def test_a_no_is_not_taken_for_the_other_call_with_its_id(tmp_path: Path) -> None:
    """Claude Code shows the model one result for both."""
    channel = CallbackChannel(lambda request: _YES if request.arguments["path"] == "b" else _NO)
    tools, _ = _played(Guard(channel=channel), tmp_path, Made("write", "a", "c1"), Made("write", "b", "c1"))
    assert tools.ran == [("write", "b")]


def test_a_guard_that_fails_runs_nothing(tmp_path: Path) -> None:
    """The hook blocks what it cannot decide."""
    tools, shown = _played(Guard(unmatched="silence"), tmp_path, Made("look", "a"))
    assert (tools.ran, len(shown)) == ([], 1)


def test_a_guard_that_takes_too_long_runs_nothing(tmp_path: Path) -> None:
    """Neither at once nor when the answer comes."""

    class Slow:
        def ask(self, _: object) -> ToolConfirmationResponse:
            raise NotImplementedError

        async def aask(self, _: object) -> ToolConfirmationResponse:
            await asyncio.sleep(3)
            return _YES

    tools, shown = _played(Guard(channel=Slow()), tmp_path, Made("write", "a"), timeout=1)
    assert (tools.ran, len(shown)) == ([], 1)


def test_the_calls_of_a_sub_agent_are_guarded(tmp_path: Path) -> None:
    """Although their ids are those of the main agent's calls."""
    task = json.dumps({"description": "help", "prompt": _TASK, "subagent_type": "helper", "run_in_background": False})
    helps = (Made("look", "a", "c1"), Made("look", "secret", "c2"))
    guard = Guard(conformance.CASES[0].policy, channel=CallbackChannel(lambda _: _YES))
    tools, shown = _played(guard, tmp_path, Made("Agent", "", "c1", text=task), helps=helps)
    assert tools.ran == [("look", "a")]
    assert "looked at a" in shown[0]
    assert "Secrets are off limits." in shown[1]


def _before(guard: Guard, **given: object) -> Any:  # noqa: ANN401 -- the output of a hook
    (matcher,) = guard_hooks(guard)["PreToolUse"]
    (hook,) = matcher.hooks
    return asyncio.run(hook({"tool_name": "Read", "tool_input": {"path": "a"}, **given}, None, {}))


def _decision(output: Any) -> str:  # noqa: ANN401 -- the output of a hook
    return str(output["hookSpecificOutput"]["permissionDecision"])


def test_the_ids_of_sub_agents_are_their_own() -> None:
    """They repeat those of the main agent; the same id of the same agent is the same call."""
    guard = Guard(session=Session(yolo_mode=True))
    given = [{"tool_use_id": "c1"}, {"tool_use_id": "c1", "agent_id": "helper"}, {"tool_use_id": "c1"}]
    assert [_decision(_before(guard, **each)) for each in given] == ["allow", "allow", "deny"]


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Read", "Read"),
        ("mcp__docs__find", "mcp:docs/find"),
        ("mcp__docs__find__all", "mcp:docs/find__all"),
        ("mcp__odd", "mcp__odd"),
    ],
)
def test_rules_know_the_server_of_a_tool(name: str, known: str) -> None:
    """As `mcp:server/tool`, where Claude Code says so."""
    guard = Guard()
    assert _decision(_before(guard, tool_name=name, tool_use_id="c1")) == "deny"
    assert isinstance(guard.recorder, MemoryRecorder)
    assert guard.recorder.records[0]["tool"] == known
