"""The middleware for LangChain, with the real framework and a model that says what the test says."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.adapters.cases import INSTEAD

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.errors import ForgottenSessionError
from permitry.guard.capabilities import Capabilities
from permitry.guard.guard import Guard
from permitry.guard.guards import Guards
from permitry.guard.session import Session
from permitry.testing import conformance
from permitry.testing.conformance import Made, Progress, Tools

pytest.importorskip("langchain", reason="an environment of its own: tests/adapters/run_all.sh")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from permitry_hosts.adapters.langchain import CAPABILITIES, GuardMiddleware

_WRITES = "schema = 1\n[[rule]]\nid = 'write'\neffect = 'allow'\ntools = ['write']\n"


class _Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> "_Model":  # noqa: ANN401 -- LangChain's
        return self


def _message(calls: Sequence[Made]) -> AIMessage:
    """Return what a chat model makes of a response: arguments that are no JSON are no calls."""
    made: list[Any] = []
    broken: list[Any] = []
    for call in calls:
        try:
            made.append({"name": call.tool, "args": json.loads(call.json), "id": call.call_id, "type": "tool_call"})
        except ValueError:
            broken.append({"name": call.tool, "args": call.json, "id": call.call_id, "error": None})
    return AIMessage("", tool_calls=made, invalid_tool_calls=broken)


def _agent(guard: Guard | Guards, tools: Sequence[Any], *turns: Sequence[Made], saver: Any = None) -> Any:  # noqa: ANN401
    """Return an agent whose model makes the calls of each turn, and then ends."""
    model = _Model(messages=iter([*map(_message, turns), *(AIMessage("done") for _ in range(10))]))
    return create_agent(model, list(tools), middleware=[GuardMiddleware(guard)], checkpointer=saver or InMemorySaver())


@attrs.define
class _Host:
    """An agent of LangChain, in one process or resumed from its checkpoints by a new agent."""

    is_async: bool = False
    capabilities: Capabilities = CAPABILITIES
    saver: Any = attrs.field(factory=InMemorySaver)

    def run(self, guard: Guard, tools: Tools, calls: Sequence[Made]) -> Progress:
        return self._go_on(guard, tools, {"messages": [("user", "go")]}, calls)

    def resume(
        self, guard: Guard, tools: Tools, progress: Progress, answers: Mapping[str, ToolConfirmationResponse]
    ) -> Progress:
        values = {
            progress.state[path]: {**attrs.asdict(answer), "arguments": answer.arguments}
            for path, answer in answers.items()
        }
        return self._go_on(guard, tools, Command(resume=values))

    def _go_on(self, guard: Guard, tools: Tools, given: Any, *turns: Sequence[Made]) -> Progress:  # noqa: ANN401
        agent = _agent(guard, [tools.look, tools.write], *turns, saver=self.saver)
        config = {"configurable": {"thread_id": "t"}}
        state = asyncio.run(agent.ainvoke(given, config)) if self.is_async else agent.invoke(given, config)
        ids = {each.value["arguments"]["path"]: each.id for each in state.get("__interrupt__", ())}
        shown = tuple(str(each.content) for each in state["messages"] if isinstance(each, ToolMessage))
        return Progress(shown, tuple(ids), ids)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("case", [*conformance.CASES, INSTEAD], ids=str)
def test_the_agent_keeps_what_the_guard_says(case: conformance.Case, *, is_async: bool) -> None:
    """In every case that it can be asked."""
    if case.needs(CAPABILITIES):
        conformance.check(case, _Host(is_async))
    else:
        with pytest.raises(LookupError):
            conformance.check(case, _Host(is_async))


def _records(guard: Guard, event: str) -> list[Any]:
    assert isinstance(guard.recorder, MemoryRecorder)
    return [record for record in guard.recorder.records if record["event"] == event]


def _config(thread: str = "t") -> Any:  # noqa: ANN401 -- LangChain's
    return {"configurable": {"thread_id": thread}}


def test_calls_of_one_message_run_at_the_same_time() -> None:
    """On threads of LangChain, each with a decision and a record of its own."""
    guard, meeting = Guard(session=Session(yolo_mode=True)), threading.Barrier(4, timeout=20)

    def meet(number: int) -> str:
        """Wait for all others."""
        meeting.wait()
        return f"met {number}"

    calls = [Made("meet", "", f"c{number}", text=json.dumps({"number": number})) for number in range(4)]
    state = _agent(guard, [meet], calls).invoke({"messages": []}, _config())
    assert [each.content for each in state["messages"][1:-1]] == [f"met {number}" for number in range(4)]
    assert [len(_records(guard, event)) for event in ("decided", "started", "finished")] == [4, 4, 4]


def test_what_may_run_does_not_wait_for_the_answer_and_runs_once() -> None:
    """The answer resumes the call that it is about."""
    guard, tools = Guard(load_policy(_WRITES)), Tools(started=[("", "")] * 9)
    agent = _agent(guard, [tools.look, tools.write], [Made("write", "a", "c1"), Made("look", "b", "c2")])
    state = agent.invoke({"messages": []}, _config())
    assert tools.ran == [("write", "a")]
    agent.invoke(Command(resume={state["__interrupt__"][0].id: True}), _config())
    assert tools.ran == [("write", "a"), ("look", "b")]


_PROCESS = '''
import sys
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from permitry import Guard, load_policy
from permitry_hosts.adapters.langchain import GuardMiddleware

class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self

def write(path: str) -> str:
    """Write a file."""
    open(path, "w").close()
    return "written"

store, rules, *answers = sys.argv[1:]
calls = [{"name": "write", "args": {"path": f"{store}.{n}"}, "id": f"c{n}"} for n in range(3)]
model = Model(messages=iter([AIMessage("done")] if answers else [AIMessage("", tool_calls=calls)]))
with SqliteSaver.from_conn_string(store) as saver:
    agent = create_agent(model, [write], middleware=[GuardMiddleware(Guard(load_policy(rules)))], checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}}
    given = {"messages": [("user", "go")]}
    if answers:
        no = {"approved": False, "instructions": "Leave it."}
        waiting = agent.get_state(config).interrupts
        given = Command(resume={each.id: answer == "yes" or no for each, answer in zip(waiting, answers)})
    state = agent.invoke(given, config)
print(len(state.get("__interrupt__", ())), sum("Leave it." in str(each.content) for each in state["messages"]))
'''


def _process(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", _PROCESS, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_no_holds_in_a_fresh_process_whose_rules_allow_the_call(tmp_path: Path) -> None:
    """Where the question is asked within the tool's node, all three writes ran."""
    store = str(tmp_path / "graph.sqlite")
    (tmp_path / "asks.toml").write_text("schema = 1\n")
    (tmp_path / "allows.toml").write_text(_WRITES)
    assert _process(store, str(tmp_path / "asks.toml")) == "3 0"
    assert _process(store, str(tmp_path / "allows.toml"), "no", "yes", "no") == "0 2"
    assert [path.name for path in tmp_path.glob("*.sqlite.[0-9]")] == ["graph.sqlite.1"]


def test_a_question_that_the_graph_does_not_know_is_not_asked() -> None:
    """Rules that ask only since the tool's node began: the call is not run, and the model may make it again."""
    guard, tools = Guard(load_policy(_WRITES)), Tools()
    agent = _agent(guard, [tools.write], [Made("write", "a")])
    assert agent.invoke({"messages": []}, _config(), interrupt_before=["tools"])["messages"][-1].tool_calls
    other = _agent(Guard(), [tools.write], saver=agent.checkpointer)
    state = other.invoke(None, _config())
    assert "The rules have changed" in state["messages"][-2].content
    assert not tools.ran


class _Edits(AgentMiddleware[Any, Any, Any]):
    """Another middleware, outside of the guard, that changes what the model wrote."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:  # noqa: ANN401 -- LangChain's
        """Look at another file."""
        return handler(request.override(tool_call={**request.tool_call, "args": {"path": "secret"}}))


def test_what_other_middleware_makes_of_a_call_is_decided_again() -> None:
    """Rules see what would run."""
    tools = Tools()
    model = _Model(messages=iter([_message([Made("look", "a")]), AIMessage("done")]))
    guard = Guard(conformance.CASES[0].policy)
    agent = create_agent(model, [tools.look], middleware=[_Edits(), GuardMiddleware(guard)])
    assert "Secrets are off limits." in agent.invoke({"messages": []})["messages"][-2].content
    assert not tools.ran


def test_a_tool_that_asks_by_itself_does_not_run_twice() -> None:
    """Its second run would be one that was never permitted."""
    ran = []

    def order(item: str) -> str:
        """Order something."""
        ran.append(item)
        return str(interrupt("how many?"))

    guard = Guard(session=Session(yolo_mode=True))
    agent = _agent(guard, [order], [Made("order", "", text='{"item": "tea"}')])
    agent.invoke({"messages": []}, _config())
    state = agent.invoke(Command(resume="three"), _config())
    assert ran == ["tea"]
    assert "already been handled" in state["messages"][-2].content


def test_the_end_of_a_session_ends_the_run() -> None:
    """The model is not asked again."""
    agent = _agent(Guard(), [Tools().write], [Made("write", "a")])
    agent.invoke({"messages": []}, _config())
    state = agent.invoke(Command(resume={"approved": False, "abort": True}), _config())
    assert isinstance(state["messages"][-1], ToolMessage)


def test_a_failing_tool_is_recorded_as_such() -> None:
    """Whether it raises, or LangChain makes a message of its error."""

    @tool
    def fail(path: str) -> str:
        """Fail."""
        raise ToolException(path)

    fail.handle_tool_error = True
    guard = Guard(session=Session(yolo_mode=True))
    _agent(guard, [fail], [Made("fail", "a")]).invoke({"messages": []}, _config())
    assert _records(guard, "finished")[0]["outcome"] == "failed"


@pytest.mark.parametrize("answer", ["yes", 1, {"approved": "yes"}, {"yes": True}, None, [True]])
def test_what_is_not_an_answer_is_a_no(answer: object) -> None:
    """Only a response or a bool can be a yes."""
    tools = Tools()
    agent = _agent(Guard(), [tools.write], [Made("write", "a")])
    waiting = agent.invoke({"messages": []}, _config())["__interrupt__"]
    state = agent.invoke(Command(resume={waiting[0].id: answer}), _config())
    assert "The answer could not be read." in state["messages"][-2].content
    assert not tools.ran


def test_each_thread_of_the_graph_has_its_guard() -> None:
    """And one whose guard is gone runs nothing."""
    made: dict[Any, Guard] = {}
    guards = Guards(lambda key: made.setdefault(key, Guard(session=Session(yolo_mode=True))), most=1)
    tools = Tools(started=[("look", "a")] * 2)
    agent = _agent(guards, [tools.look], *[[Made("look", "a")], []] * 3)
    for thread in ("one", "two"):
        agent.invoke({"messages": []}, _config(thread))
        assert len(_records(made[thread], "finished")) == 1
    with pytest.raises(ForgottenSessionError):
        agent.invoke({"messages": []}, _config("one"))
    assert len(tools.ran) == 2


def test_a_guard_that_leaves_calls_to_its_host_runs_nothing() -> None:
    """Nothing else asks here."""
    agent = _agent(Guard(unmatched="silence"), [Tools().look], [Made("look", "a")])
    with pytest.raises(ValueError, match="nothing else asks"):
        agent.invoke({"messages": []}, _config())
