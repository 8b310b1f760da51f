"""A runner of agents that needs only a model: rounds, allowed tools, and claims on the files that siblings write."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import attrs

from permitry.port import (
    CallScope,
    ToolCall,
    ToolError,
    ToolEventKind,
    ToolRegistry,
    ToolResult,
    canonical_json,
    count,
    current_cancellation,
    paths_written,
    report,
)
from permitry_tools.delegate import AgentTask

__all__ = ["LoopRunner", "Think", "Turn", "WriteClaims"]

_MOST_ROUNDS = 100
Handle: TypeAlias = Callable[[ToolCall], ToolResult]


@attrs.frozen
class Turn:
    """One round of an agent: the calls it made, and what it was shown."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]


class Think(Protocol):
    """The model of an agent."""

    def __call__(self, task: AgentTask, turns: Sequence[Turn]) -> str | Sequence[ToolCall]:
        """Return the next calls, or the answer as text, which ends the work."""
        ...


@attrs.define
class WriteClaims:
    """Keeps siblings that work side by side from writing the same file: the first one has it until its work ends.

    A path counts as a call names it or a command shows it, links followed. What a command writes unseen is not
    claimed. Thread-safe.
    """

    registry: ToolRegistry
    workspace: str
    _owners: dict[str, str] = attrs.field(factory=dict, init=False)
    _count: int = attrs.field(default=0, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def open(self) -> str:
        """Return the number of a new task."""
        with self._lock:
            self._count += 1
            return str(self._count)

    def claim(self, task: str, call: ToolCall) -> None:
        """Claim all files that `call` writes or deletes for `task`, or none.

        Raises: `ToolError` when one is another's.
        """
        written = paths_written(call, self.workspace, self.registry.get(call.tool))
        with self._lock:
            for place in written:
                for name in place.real or place.names:
                    owner = self._owners.get(name, task)
                    if owner != task:
                        raise ToolError(
                            f"Parallel write conflict: '{place.text}' is already claimed by sibling task {owner}."
                        )
            self._owners.update((name, task) for place in written for name in place.real or place.names)

    def release(self, task: str) -> None:
        """Give back what `task` has claimed: its work has ended."""
        with self._lock:
            self._owners = {name: owner for name, owner in self._owners.items() if owner != task}


@attrs.frozen
class LoopRunner:
    """Runs an agent round by round: asks `think` for the next calls, and puts each of them to a handler of its own.

    `start` gives that handler for a task, as in
    `lambda task, scope: ToolHandler(scope.session.child(task.kind), ...).handle`: under the session of the caller,
    who may be an agent itself. A call of a tool that the task may not use never reaches it. It is the handler that
    decides all the others. `registry` is theirs, for the tools that its aliases name.
    """

    think: Think
    start: Callable[[AgentTask, CallScope], Handle]
    claims: WriteClaims | None = None
    registry: ToolRegistry | None = attrs.field(default=None, kw_only=True)

    def run(self, task: AgentTask, scope: CallScope) -> str:
        """Return the answer of the agent.

        Raises: `ToolError` when it gives none in its rounds or its time, or the user ends its work.
        """
        handle = self.start(task, scope)
        number = "" if self.claims is None else self.claims.open()
        turns: list[Turn] = []
        log = _StepLog(task)
        rounds = _MOST_ROUNDS if task.max_rounds is None else task.max_rounds
        try:
            for _ in range(rounds):
                _check_time(scope)
                log.begin_round()
                reply = self.think(task, tuple(turns))
                if isinstance(reply, str):
                    log.add_text("assistant", reply)
                    return reply
                turns.append(self._turn(task, tuple(reply), handle, number))
                log.add_turn(turns[-1])
        finally:
            log.end()
            if self.claims is not None:
                self.claims.release(number)
        raise ToolError(f"The agent gave no answer in {count(rounds, 'round')}.")

    def _turn(self, task: AgentTask, calls: tuple[ToolCall, ...], handle: Handle, number: str) -> Turn:
        results = []
        for call in calls:
            result = self._handle(task, call, handle, number)
            if result.ends_session:
                raise ToolError("The user has ended the work of the agent.")
            results.append(result)
        return Turn(calls, tuple(results))

    def _handle(self, task: AgentTask, call: ToolCall, handle: Handle, number: str) -> ToolResult:
        if not task.may_use(self._tool_of(call)):
            return ToolResult(False, f"Tool '{call.tool}' is not enabled.")
        if self.claims is not None:
            try:
                self.claims.claim(number, call)
            except ToolError as error:
                return ToolResult(False, str(error))
        return handle(call)

    def _tool_of(self, call: ToolCall) -> str:
        """Return the name of the tool that a call is for, whatever alias it comes under."""
        registry = self.claims.registry if self.registry is None and self.claims is not None else self.registry
        return call.tool if registry is None else registry.resolved(call).tool


@attrs.define
class _StepLog:
    """Reports the rounds of an agent, each with the messages since the last report, in the form of OpenAI's chat.

    Those of all its steps, in order, are a session that `permitry replay` reads.
    """

    task: AgentTask
    _round: int = attrs.field(default=0, init=False)
    _messages: list[dict[str, Any]] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self.add_text("user", self.task.objective)

    def begin_round(self) -> None:
        self._round += 1
        self._report(f"{self.task.kind}: round {self._round}")

    def end(self) -> None:
        """Report what no round has reported, such as the answer."""
        if self._messages:
            self._report(f"{self.task.kind}: end")

    def add_text(self, role: str, text: str) -> None:
        self._messages.append({"role": role, "content": text})

    def add_turn(self, turn: Turn) -> None:
        ids = [call.call_id or f"call_{self._round}_{at}" for at, call in enumerate(turn.calls)]
        called = [_tool_call(name, call) for name, call in zip(ids, turn.calls, strict=True)]
        self._messages.append({"role": "assistant", "content": None, "tool_calls": called})
        for name, result in zip(ids, turn.results, strict=True):
            self._messages.append({"role": "tool", "tool_call_id": name, "content": result.text})

    def _report(self, text: str) -> None:
        messages, self._messages = self._messages, []
        report(ToolEventKind.STEP, text, round=self._round, messages=messages)


def _tool_call(name: str, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.tool, "arguments": canonical_json(call.arguments)}
    return {"id": name, "type": "function", "function": function}


def _check_time(scope: CallScope) -> None:
    if current_cancellation().is_cancelled:
        raise ToolError("The work of the agent was cancelled.")
    if scope.deadline is not None and time.monotonic() >= scope.deadline:
        raise ToolError("The time of the agent is over.")
