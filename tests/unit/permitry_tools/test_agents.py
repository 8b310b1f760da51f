"""A runner with rounds, and claims on files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.cancel import SIGNAL, Cancellation, SetFor
from permitry.dispatch.events import ToolEvent
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.errors import ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.messages import calls_in
from permitry_tools.agents import LoopRunner, Turn, WriteClaims
from permitry_tools.delegate import AgentTask

Rounds = list[str | Sequence[ToolCall]]


def _write(path: str) -> ToolCall:
    return ToolCall("write_file", {"path": path, "content": ""})


def _handle(call: ToolCall) -> ToolResult:
    return ToolResult(True, f"{call.tool} ran")


def _runner(
    rounds: Rounds,
    handle: Callable[[ToolCall], ToolResult] = _handle,
    claims: WriteClaims | None = None,
    seen: list[Turn] | None = None,
) -> LoopRunner:
    left = list(rounds)

    def think(task: AgentTask, turns: Sequence[Turn]) -> str | Sequence[ToolCall]:
        assert task.objective == "x"
        if seen is not None:
            seen[:] = turns
        return left.pop(0)

    return LoopRunner(think, lambda _, __: handle, claims)


@pytest.fixture
def claims(registry: ToolRegistry, root: Path) -> WriteClaims:
    """Return claims on the files of the workspace."""
    return WriteClaims(registry, str(root))


def test_an_agent_works_until_it_answers() -> None:
    """It is shown the result of each call, in order."""
    seen: list[Turn] = []
    calls = (ToolCall("a"), ToolCall("b"))
    assert _runner([calls, "done"], seen=seen).run(AgentTask("x"), CallScope()) == "done"
    assert seen == [Turn(calls, (ToolResult(True, "a ran"), ToolResult(True, "b ran")))]


@pytest.mark.parametrize("rounds", [[(ToolCall("a", call_id="x"), ToolCall("b")), "done"], [(ToolCall("a"),)]])
def test_the_steps_of_an_agent_make_a_session(registry: ToolRegistry, rounds: Rounds) -> None:
    """All messages, each once, also of an agent that gives no answer: `permitry replay` reads them."""
    events: list[ToolEvent] = []
    runner = _runner(list(rounds))

    def delegate(_: dict[str, Any], scope: CallScope) -> str:
        return runner.run(AgentTask("x", max_rounds=len(rounds)), scope)

    registry.register_call_time(ToolSpec("delegate"), delegate)
    ToolHandler(Session(yolo_mode=True), registry=registry).handle(
        ToolCall("delegate"), CallScope(on_step=events.append)
    )
    assert [event.data["round"] for event in events] == [*range(1, len(rounds) + 1), len(rounds)]
    messages = [message for event in events for message in event.data["messages"]]
    calls = [each.call for message in messages for each in calls_in(message)]
    made = [call for each in rounds if not isinstance(each, str) for call in each]
    assert [getattr(call, "tool", call) for call in calls] == [call.tool for call in made]
    assert [message["content"] for message in messages if message["role"] == "assistant"][-1:] == [
        each if isinstance(each, str) else None for each in rounds[-1:]
    ]


@pytest.mark.parametrize("knows", ["registry", "claims"])
def test_a_tool_of_others_is_one_under_an_alias_too(registry: ToolRegistry, root: Path, knows: str) -> None:
    """`run` is a tool that the task leaves out, `note` one that it may use."""
    registry.alias("run", "run_shell")
    registry.alias("note", "think")
    seen: list[Turn] = []
    claims = WriteClaims(registry, str(root)) if knows == "claims" else None
    runner = _runner([[ToolCall("run"), ToolCall("note")], "done"], claims=claims, seen=seen)
    if knows == "registry":
        runner = attrs.evolve(runner, registry=registry)
    runner.run(AgentTask("x", tools=("think", "run_shell"), without=("run_shell",)), CallScope())
    assert [each.text for each in seen[0].results] == ["Tool 'run' is not enabled.", "note ran"]


def test_each_task_gets_a_handler_of_its_own() -> None:
    """Made for the task and its scope."""
    started = []

    def start(task: AgentTask, scope: CallScope) -> Callable[[ToolCall], ToolResult]:
        started.append((task, scope))
        return _handle

    runner = LoopRunner(lambda *_: "done", start)
    for number in range(2):
        runner.run(AgentTask(str(number)), CallScope(number))
    assert started == [(AgentTask("0"), CallScope(0)), (AgentTask("1"), CallScope(1))]


def test_a_tool_of_others_does_not_reach_the_handler() -> None:
    """It is refused like any tool that is not enabled."""
    seen: list[Turn] = []
    ran: list[str] = []

    def handle(call: ToolCall) -> ToolResult:
        ran.append(call.tool)
        return ToolResult(True, "ran")

    task = AgentTask("x", tools=("a", "b"), without=("b",))
    _runner([[ToolCall("a"), ToolCall("b"), ToolCall("c")], "done"], handle, seen=seen).run(task, CallScope())
    assert ran == ["a"]
    assert [each.text for each in seen[0].results] == [
        "ran",
        "Tool 'b' is not enabled.",
        "Tool 'c' is not enabled.",
    ]


@for_each(("most", "expected"), [(0, "0 rounds"), (1, "1 round"), (2, "2 rounds"), (None, "100 rounds")])
def test_rounds_are_counted(most: int | None, expected: str) -> None:
    """An agent that never answers ends."""
    rounds: Rounds = [[ToolCall("a")]] * 101
    with pytest.raises(ToolError, match=f"The agent gave no answer in {expected}."):
        _runner(rounds).run(AgentTask("x", max_rounds=most), CallScope())


def test_the_user_can_end_the_work_of_an_agent() -> None:
    """Nothing more is called."""
    ran: list[str] = []

    def handle(call: ToolCall) -> ToolResult:
        ran.append(call.tool)
        return ToolResult(False, "enough", ends_session=True)

    with pytest.raises(ToolError, match="The user has ended the work of the agent"):
        _runner([[ToolCall("a"), ToolCall("b")], "done"], handle).run(AgentTask("x"), CallScope())
    assert ran == ["a"]


def test_a_cancelled_agent_ends() -> None:
    """Between its rounds."""
    cancellation = Cancellation()

    def handle(_: ToolCall) -> ToolResult:
        cancellation.cancel()
        return ToolResult(True, "ran")

    runner = _runner([[ToolCall("a")], "done"], handle)
    with pytest.raises(ToolError, match="was cancelled"), SetFor(SIGNAL, cancellation):
        runner.run(AgentTask("x"), CallScope())


def test_an_agent_ends_when_its_time_is_over() -> None:
    """On the clock of its caller."""
    with pytest.raises(ToolError, match="The time of the agent is over"):
        _runner(["done"]).run(AgentTask("x"), CallScope(deadline=0.0))


# Claims -----------------------------------------------------------------------------------------------------------


def test_the_first_writer_has_the_file(claims: WriteClaims) -> None:
    """It may write again; a sibling may not."""
    one, other = claims.open(), claims.open()
    claims.claim(one, _write("a.txt"))
    claims.claim(one, _write("a.txt"))
    with pytest.raises(ToolError) as caught:
        claims.claim(other, _write("sub/../a.txt"))
    assert str(caught.value) == f"Parallel write conflict: 'sub/../a.txt' is already claimed by sibling task {one}."


@pytest.mark.parametrize(
    "call",
    [
        _write("b.txt"),
        ToolCall("read_file", {"path": "a.txt"}),
        ToolCall("list_files", {}),
        ToolCall("run_shell", {"command": "cat a.txt > b.txt"}),
        ToolCall("unheard-of", {"path": "a.txt"}),
    ],
)
def test_what_does_not_write_the_file_is_no_conflict(claims: WriteClaims, call: ToolCall) -> None:
    """Reading it, or writing another."""
    claims.claim(claims.open(), _write("a.txt"))
    claims.claim(claims.open(), call)


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("run_shell", {"command": "echo x > a.txt"}),
        ToolCall("run_shell", {"command": "rm a.txt"}),
        ToolCall("edit_file", {"path": "link", "old_text": "a", "new_text": "b"}),
    ],
)
def test_a_file_is_the_same_by_every_way(claims: WriteClaims, root: Path, call: ToolCall) -> None:
    """A command or a link writes it as well."""
    (root / "link").symlink_to("a.txt")
    claims.claim(claims.open(), _write("a.txt"))
    with pytest.raises(ToolError, match="Parallel write conflict"):
        claims.claim(claims.open(), call)


def test_a_call_claims_all_its_files_or_none(claims: WriteClaims) -> None:
    """What was refused holds up no one."""
    one, other = claims.open(), claims.open()
    claims.claim(one, _write("a.txt"))
    with pytest.raises(ToolError, match=r"'a.txt'"):
        claims.claim(other, ToolCall("run_shell", {"command": "rm b.txt a.txt"}))
    claims.claim(one, _write("b.txt"))


def test_a_task_gives_its_files_back(claims: WriteClaims) -> None:
    """Its own, and no others."""
    one, other, third = claims.open(), claims.open(), claims.open()
    claims.claim(one, _write("a.txt"))
    claims.claim(other, _write("b.txt"))
    claims.release(one)
    claims.claim(third, _write("a.txt"))
    with pytest.raises(ToolError, match=f"claimed by sibling task {other}"):
        claims.claim(third, _write("b.txt"))


def test_siblings_do_not_write_the_same_file(claims: WriteClaims) -> None:
    """The second is refused, and its call does not reach the handler; when it ends, its files are free."""
    seen: list[Turn] = []
    ran: list[str] = []

    def outer(call: ToolCall) -> ToolResult:
        ran.append("outer")
        _runner([[call], "done"], lambda _: pytest.fail("it ran"), claims, seen).run(AgentTask("x"), CallScope())
        return ToolResult(True, "ran")

    _runner([[_write("a.txt")], "done"], outer, claims).run(AgentTask("x"), CallScope())
    assert seen[0].results[0].text == "Parallel write conflict: 'a.txt' is already claimed by sibling task 1."
    claims.claim(claims.open(), _write("a.txt"))
    assert ran == ["outer"]


def test_an_agent_that_fails_gives_its_files_back(claims: WriteClaims) -> None:
    """Whatever ends it."""
    runner = _runner([[_write("a.txt")]], claims=claims)
    with pytest.raises(ToolError, match="no answer"):
        runner.run(AgentTask("x", max_rounds=1), CallScope())
    claims.claim(claims.open(), _write("a.txt"))
