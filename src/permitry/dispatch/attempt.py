"""Carrying out one call: admission, single flight, the lock of its resource, the time limit.

The steps are coroutines, and they wait only through `Attempt._wait`. On an event loop it suspends them; on a
thread it blocks instead, so that the same coroutines run without an event loop.
"""

import asyncio
import contextlib
import inspect
import time
from collections.abc import Awaitable, Hashable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import cast

import attrs

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.cancel import SIGNAL, Cancellation, SetFor
from permitry.dispatch.limits import Acquisition
from permitry.dispatch.registered import Authorization, RegisteredTool, Shared, has_kind
from permitry.dispatch.scope import Caller
from permitry.dispatch.telemetry import Outcome
from permitry.dispatch.waiting import GRACE, Wait, Work, block_until, start, wait_for_result
from permitry.errors import FatalToolError, ToolError, safe_str

__all__ = ["Attempt", "RefusedError", "StoppedError"]

_SHORTEST_WAIT = 0.1
_ANSWERS = frozenset({ToolResult, str, tuple})


class StoppedError(Exception):
    """Raised when a call ends before its tool does; `last` is what the tool returned on stopping."""

    def __init__(self, outcome: Outcome, text: str, last: str = "") -> None:
        self.outcome = outcome
        self.last = last
        super().__init__(text)


class RefusedError(ToolError):
    """Raised when the tool is not run: called too often, or its resource was not free in time."""


@attrs.define(eq=False)
class Attempt:
    """One attempt to carry out an authorized call; identical ones may wait for it under `led_key`."""

    authorization: Authorization
    scope: Caller | None
    shared: Shared
    tool: RegisteredTool = attrs.field(init=False)
    call: ToolCall = attrs.field(init=False)
    cancellation: Cancellation = attrs.field(factory=Cancellation, init=False)
    _wait: Wait = attrs.field(default=block_until, init=False)
    _loop: asyncio.AbstractEventLoop | None = attrs.field(default=None, init=False)
    _is_stopped: bool = attrs.field(default=False, init=False)
    _has_ended: bool = attrs.field(default=False, init=False)
    _at_work_since: float = attrs.field(default=0.0, init=False)
    _work: Work | None = attrs.field(default=None, init=False)
    acquisition: Acquisition | None = attrs.field(default=None, init=False)
    led_key: Hashable = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.tool, self.call = self.authorization.tool, self.authorization.call

    def cancel(self) -> None:
        """End the call as cancelled, unless it has ended; the tool is asked to stop."""
        if not self._has_ended:
            self._is_stopped = True
            self.cancellation.cancel()

    async def carry_out(self) -> ToolResult:
        """Return the result of the tool, or of an identical call that runs already."""
        self._check_admission()
        with SetFor(WITHIN, (*WITHIN.get(), self)):
            return await (self._share() if self.tool.is_shareable else self._run_locked())

    def release(self, result: ToolResult | None) -> None:
        """End the call: calls that wait get `result`, or run; work that goes on keeps the lock until it is done."""
        self._has_ended = True
        if self.acquisition is not None and self._work is None:
            self.shared.locks.release(self.acquisition)
        if self.led_key is not None:
            self.shared.single_flight.complete(self.led_key, result)

    def _check_admission(self) -> None:
        # Authorization checks this too: a call that does not fit here did not come through it.
        if not has_kind(self.call, self.tool.kinds):
            raise FatalToolError(safe_str(self.tool.misfit(self.call)))
        if self._is_stopped:
            raise self._over()
        bucket = self.tool.bucket
        if bucket is not None and (wait := bucket.take()):
            why = f"was called too often and did not run; wait {max(wait, _SHORTEST_WAIT):.1f} s before the next call"
            raise RefusedError(f"The tool `{self.tool.spec.name}` {why}.")

    async def _share(self) -> ToolResult:
        limit = self.tool.limits.wait
        while (leader := self._join()) is not None:
            await self._wait(leader, limit, self.cancellation)
            if self._is_stopped:
                raise self._over()
            if not leader.done():
                return await self._run_locked()
            if (shared := leader.result()) is not None:
                return shared
        return await self._run_locked()

    def _join(self) -> "Future[ToolResult | None] | None":
        """Return the future of an identical call that runs; None if this one runs, and others wait for it."""
        # A run whose result other runs wait for must not wait for another run itself: this could be a deadlock.
        if any(each.led_key is not None for each in WITHIN.get()):
            return None
        # The same call to another tool of that name, as after a reload, is not identical.
        key = (id(self.tool), self.call.digest)
        leader = self.shared.single_flight.join_run(key)
        if leader is None:
            self.led_key = key
        return leader

    async def _run_locked(self) -> ToolResult:
        resource, spec, locks = self.tool.limits.resource, self.tool.spec, self.shared.locks
        # A tool that spawns agents would wait for their calls.
        if resource is None or spec.traits.spawns_agent or self._is_locked():
            return await self._work_in_time()
        self.acquisition = acquisition = locks.acquire(resource, is_shared=spec.only_reads)
        if acquisition.granted is not None:
            await self._wait(acquisition.granted, self.tool.limits.wait, self.cancellation)
            if self._is_stopped:
                raise self._over()
            if not acquisition.granted.done():
                waited = f"waited {self.tool.limits.wait:g} s for its turn and did not run"
                raise RefusedError(f"The tool `{spec.name}` {waited}; another call is still at work.")
        return await self._work_in_time()

    def _is_locked(self) -> bool:
        """Return whether this code is part of a run that holds a lock of this registry: it would wait for itself."""
        return any(
            each.shared is self.shared and each.acquisition is not None and not each.acquisition.is_over
            for each in WITHIN.get()
        )

    async def _work_in_time(self) -> ToolResult:
        if self._is_stopped:
            raise self._over()
        self._at_work_since = time.perf_counter()
        with SetFor(SIGNAL, self.cancellation):
            if self._loop is None and self.tool.spec.timeout is None:
                return self._call_here()
            work = self._new_work()
            try:
                if not isinstance(work, asyncio.Task):
                    start(self._call_and_wait, work)
                await self._wait(work, self.tool.spec.timeout, self.cancellation)
                is_over = not work.done() or self._is_stopped
            finally:
                if not work.done():
                    await self._stop(work)
        if is_over:
            raise self._over(_last(work))
        if work.cancelled():
            # The tool cancelled itself; this must not cancel the caller.
            text = f"The tool `{self.tool.spec.name}` was interrupted; it may have had effects."
            raise StoppedError(Outcome.CANCELLED, text)
        return _as_result(work.result())

    def _call_here(self) -> ToolResult:
        """Return the result of a tool without a time limit, called on this thread."""
        try:
            result = _as_result(self._call_and_wait())
        except (Exception, asyncio.CancelledError) as error:
            # An error of a tool that was asked to stop is not reported: it is likely caused by the stop.
            if self._is_stopped and not isinstance(error, FatalToolError):
                raise self._over() from error
            raise
        if self._is_stopped:
            raise self._over(result.text)
        return result

    def _new_work(self) -> Work:
        """Return the task of an async tool on its loop, or the future of a thread that the caller starts."""
        work: Work
        if self._loop is not None and self.tool.is_async:
            work = asyncio.create_task(self._call_async())
            # So that asyncio does not log that its exception was never retrieved.
            work.add_done_callback(lambda task: task.cancelled() or task.exception())
        else:
            work = Future()
        self._work, acquisition = work, self.acquisition
        if acquisition is not None:
            # The lock is released when the work is done, not when this run stops waiting for it.
            work.add_done_callback(lambda _: self.shared.locks.release(acquisition))
        return work

    async def _stop(self, work: Work) -> None:
        """Ask work to stop, and wait a little for it."""
        self.cancellation.cancel()
        if isinstance(work, asyncio.Task):
            work.cancel()
        await self._wait(work, GRACE, None)

    def _call_and_wait(self) -> object:
        outcome = self.tool.call(self.call.to_dict(), self.authorization, self.scope)
        if type(outcome) in _ANSWERS or not inspect.isawaitable(outcome):
            return outcome
        return wait_for_result(outcome, self.cancellation)

    async def _call_async(self) -> object:
        return await cast("Awaitable[object]", self.tool.call(self.call.to_dict(), self.authorization, self.scope))

    def _over(self, last: str = "") -> StoppedError:
        """Return the error for a call that is stopped or late; `last` is what the tool returned on stopping."""
        name, effects = self.tool.spec.name, "it may have had effects" if self._at_work_since else "it did not run"
        if self._is_stopped:
            return StoppedError(Outcome.CANCELLED, f"The call of `{name}` was cancelled; {effects}.", last)
        late = f"The tool `{name}` did not finish within {self.tool.spec.timeout:g} s and was asked to stop; {effects}."
        return StoppedError(Outcome.TIMED_OUT, late, last)


WITHIN: ContextVar[tuple[Attempt, ...]] = ContextVar("permitry_runs", default=())
"""The runs that this code is part of, also in threads that copy its context."""


def _last(work: Work) -> str:
    """Return the text of what a stopped tool returned in the end, if it was a result."""
    if not work.done() or work.cancelled() or work.exception() is not None:
        return ""
    with contextlib.suppress(TypeError):
        return _as_result(work.result()).text
    return ""


def _as_result(outcome: object) -> ToolResult:
    match outcome:
        case ToolResult():
            # A copy without the other fields: a tool must not decide whether the session goes on.
            return ToolResult(outcome.ok, outcome.text, parts=outcome.parts, structured=outcome.structured)
        case str():
            return ToolResult(True, outcome)
        case (bool() as ok, str() as text):
            return ToolResult(ok, text)
        case _:
            # Not a dict: `{"ok": False}` would be shown as a success.
            raise TypeError(f"a tool returns (ok, text), text, or a ToolResult, not {type(outcome).__name__}")
