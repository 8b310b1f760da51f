"""A runner of agents that needs only a model: rounds, allowed tools, and claims on the files that siblings write."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import attrs

from permitry.port import (
    CallScope,
    ToolCall,
    ToolError,
    ToolEventKind,
    ToolRegistry,
    ToolResult,
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
        rounds = _MOST_ROUNDS if task.max_rounds is None else task.max_rounds
        try:
            for number_of_round in range(1, rounds + 1):
                _check_time(scope)
                report(ToolEventKind.STEP, f"{task.kind}: round {number_of_round}", round=number_of_round)
                reply = self.think(task, tuple(turns))
                if isinstance(reply, str):
                    return reply
                turns.append(self._turn(task, tuple(reply), handle, number))
        finally:
            if self.claims is not None:
                self.claims.release(number)
        raise ToolError(f"The agent gave no answer in {count(rounds, 'round')}.")

    def _turn(self, task: AgentTask, calls: tuple[ToolCall, ...], handle: Handle, number: str) -> Turn:
        results = []
        for call in calls:
            result = self._handled(task, call, handle, number)
            if result.ends_session:
                raise ToolError("The user has ended the work of the agent.")
            results.append(result)
        return Turn(calls, tuple(results))

    def _handled(self, task: AgentTask, call: ToolCall, handle: Handle, number: str) -> ToolResult:
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


def _check_time(scope: CallScope) -> None:
    if current_cancellation().is_cancelled:
        raise ToolError("The work of the agent was cancelled.")
    if scope.deadline is not None and time.monotonic() >= scope.deadline:
        raise ToolError("The time of the agent is over.")
