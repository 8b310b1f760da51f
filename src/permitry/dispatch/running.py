"""One run of one tool: admission, waiting for its resource, time limit, and exactly one report to its observer.

Each step that waits exists twice: for a thread (`_wait`) and for an event loop (`_await`).
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import time
import traceback
from collections.abc import Awaitable, Hashable
from typing import Any, cast

import attrs

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult, clip
from permitry.dispatch.cancel import Cancellation, cancellable_by, cancellation_here
from permitry.dispatch.events import CURRENT_REPORTER, Reporter, ToolEventKind, kept
from permitry.dispatch.limits import Turn, holding, is_held, leading, leads
from permitry.dispatch.registered import Authorization, RegisteredTool, Shared, has_kind
from permitry.dispatch.scope import CallScope
from permitry.dispatch.telemetry import Outcome, ToolRun, ToolTelemetry
from permitry.dispatch.waiting import (
    GRACE,
    Work,
    ended,
    in_own_thread,
    loop_future,
    set_done,
    settle,
    start,
    waited_for,
)
from permitry.errors import FatalToolError, ToolError, safe_str

__all__ = ["Run"]

_SHORTEST_WAIT = 0.1


class _StoppedError(Exception):
    """Raised when a run ends before its tool does: cancelled or out of time. `so_far` is the output until then."""

    def __init__(self, outcome: Outcome, text: str) -> None:
        self.outcome = outcome
        self.so_far = ""
        super().__init__(text)


class _RefusedError(ToolError):
    """Raised when the tool is not run at all: called too often, or its resource was not free in time."""


_NOTHING = ToolResult(False, "The tool gave no result.")
_ANSWERS = frozenset({ToolResult, str, tuple})


@attrs.define(eq=False)
class Run:
    """One run of one tool. Whatever happens, `observer.finished` is called exactly once, with one outcome.

    `cancellation` stops the tool; `result` and `outcome` are final once the run has ended.
    """

    authorization: Authorization
    scope: object
    shared: Shared
    tool: RegisteredTool = attrs.field(init=False)
    call: ToolCall = attrs.field(init=False)
    result: ToolResult = attrs.field(default=_NOTHING, init=False)
    outcome: Outcome = attrs.field(default=Outcome.OK, init=False)
    cancellation: Cancellation = attrs.field(factory=Cancellation, init=False)
    _is_stopped: bool = attrs.field(default=False, init=False)
    _has_ended: bool = attrs.field(default=False, init=False)
    _at_work_since: float = attrs.field(default=0.0, init=False)
    _trace: str | None = attrs.field(default=None, init=False)
    _begun: float = attrs.field(default=0.0, init=False)
    _work: Work | None = attrs.field(default=None, init=False)
    _turn: Turn | None = attrs.field(default=None, init=False)
    _leads: Hashable = attrs.field(default=None, init=False)
    _outer: "contextlib.AbstractContextManager[None] | None" = attrs.field(default=None, init=False)
    _loop: asyncio.AbstractEventLoop | None = attrs.field(default=None, init=False)
    _reporter: Reporter | None = attrs.field(default=None, init=False)
    _reports: contextvars.Token[Reporter | None] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.tool, self.call = self.authorization.tool, self.authorization.call

    @property
    def caller(self) -> CallScope | None:
        """The scope of the caller, with the session in which the call was authorized; None if none was given."""
        # INVARIANT: law 4. The session is the one in which the call was decided, never one given for its dispatch.
        scope = self.scope
        return attrs.evolve(scope, session=self.authorization.session) if isinstance(scope, CallScope) else None

    def run(self) -> ToolResult:
        """Run the tool and return what the model is shown.

        Raises: `FatalToolError` from the tool; whatever the observer raises.
        """
        try:
            with self:
                self._check()
                self.result = self._run_shared() if self.tool.is_shareable else self._in_turn()
        finally:
            if self._reporter is not None and (delivered := self._reporter.delivered) is not None:
                concurrent.futures.wait([delivered], GRACE)
        return self.result

    async def arun(self) -> ToolResult:
        """Do what `run` does on the event loop; a tool that is not async runs in a thread."""
        self._loop = asyncio.get_running_loop()
        try:
            with self:
                self._check()
                self.result = await (self._arun_shared() if self.tool.is_shareable else self._ain_turn())
        finally:
            if self._reporter is not None and (delivered := self._reporter.delivered) is not None:
                await asyncio.wait({loop_future(delivered)}, timeout=GRACE)
        return self.result

    def cancel(self) -> None:
        """End the run as cancelled, unless it has ended; the tool is asked to stop."""
        if not self._has_ended:
            self._is_stopped = True
            self.cancellation.cancel()

    # Begin and end --------------------------------------------------------------------------------------------------

    def __enter__(self) -> None:
        self.authorization.observer.started(self.call)
        self._begun = time.perf_counter()
        self._reporter = self._new_reporter()
        self._reports = CURRENT_REPORTER.set(self._reporter)
        if self._reporter is not None:
            self._reporter.report(ToolEventKind.STARTED)
        self.shared.running.add(self)
        outer = cancellation_here()
        if outer is not None:
            # A run that a tool starts is cancelled with it.
            self._outer = outer.calling(self.cancel)
            self._outer.__enter__()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self._has_ended = True
        try:
            self._release(error)
            if error is None:
                self.outcome = Outcome.OK if self.result.ok else Outcome.FAILED
            else:
                self._set_outcome(error)
            if len(self.result.text) > self.tool.spec.output_limit:
                self.result = self._clipped(self.result)
        finally:
            CURRENT_REPORTER.reset(self._reports)
            self._report_end(time.perf_counter() - self._begun)
        # Only what a tool may raise is turned into a result; the end of the run and of the process go on.
        return isinstance(error, Exception) and not isinstance(error, FatalToolError)

    def _report_end(self, seconds: float) -> None:
        """Report the end to the observer, then to telemetry; close the event stream even if the observer fails."""
        try:
            self.authorization.observer.finished(
                self.call, self.result, outcome=self.outcome._value_, seconds=seconds, error=self._trace
            )
            if self.shared.telemetry is not None:
                self._count(self.shared.telemetry, seconds)
        finally:
            if self._reporter is not None:
                end = {"ok": self.result.ok, "outcome": self.outcome.value, "seconds": round(seconds, 6)}
                self._reporter.close(self.result.text, end)

    def _new_reporter(self) -> Reporter | None:
        scope, shared = self.scope, self.shared
        sink = scope.sink() if isinstance(scope, CallScope) else None
        outer = CURRENT_REPORTER.get()
        if outer is not None and (outer.receiver is None or sink not in (None, outer.receiver)):
            outer = None
        if outer is not None:
            sink = None
        elif sink is None:
            sink = shared.on_event
        if sink is None and outer is None and shared.artifacts is None:
            return None
        return Reporter(
            self.tool.spec.name,
            self.call.call_id,
            self.authorization.context.agent,
            sink,
            shared.artifacts,
            outer,
            self._loop,
        )

    def _release(self, error: BaseException | None) -> None:
        """Release what the run holds; work that is still going on releases its turn itself when it is done."""
        self.shared.running.discard(self)
        turn = self._turn
        if turn is not None and self._work is None:
            turn.turns.leave(turn)
        if self._leads is not None:
            self.shared.single_flight.complete(self._leads, self.result if error is None else None)
        if self._outer is not None:
            self._outer.__exit__(None, None, None)

    def _set_outcome(self, error: BaseException) -> None:
        """Set the outcome of an error, and the result that the model is shown."""
        name = self.tool.spec.name
        match error:
            case _StoppedError():
                self.outcome, text = error.outcome, f"{error}{error.so_far}"
            case ToolError():
                is_fatal, is_refused = isinstance(error, FatalToolError), isinstance(error, _RefusedError)
                self.outcome = Outcome.FATAL if is_fatal else Outcome.REFUSED if is_refused else Outcome.FAILED
                text = safe_str(error)
            case Exception():
                self.outcome, self._trace = Outcome.CRASHED, safe_str(error, _traced)
                text = f"The tool `{name}` crashed ({type(error).__name__}). Try another way."
            case _:
                # A thread cannot be stopped: the interrupted tool may still be running.
                self.outcome, self._trace = Outcome.CANCELLED, type(error).__name__
                written = self._written()
                text = f"The tool `{name}` was interrupted; it may have had effects.{written}"
                if written:
                    # The error is raised to the host, which does not receive the result.
                    error.add_note(written.strip())
        self.result = ToolResult(False, text)

    def _clipped(self, result: ToolResult) -> ToolResult:
        text = clip(result.text, self.tool.spec.output_limit, kept(self._reporter, result.text))
        # The structured form repeats the text, with what was left out.
        return attrs.evolve(result, text=text, structured=None)

    def _count(self, telemetry: ToolTelemetry, seconds: float) -> None:
        size = len(self.result.text.encode(errors="replace")) + sum(len(part.data) for part in self.result.parts)
        waiting = (self._at_work_since or self._begun + seconds) - self._begun
        run = ToolRun(self.tool.spec.name, self.outcome, seconds, len(self.call.canonical), size, waiting)
        with contextlib.suppress(Exception):
            telemetry.ran(run)

    # Admission ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        # Authorization checks this too: a call that does not fit here did not come through it.
        if not has_kind(self.call, self.tool.kinds):
            raise FatalToolError(safe_str(self.tool.misfit(self.call)))
        if self._is_stopped:
            raise self._over()
        bucket = self.tool.bucket
        if bucket is not None and (wait := bucket.take()):
            raise _RefusedError(
                f"The tool `{self.tool.spec.name}` was called too often and did not run; "
                f"wait {max(wait, _SHORTEST_WAIT):.1f} s before the next call."
            )

    def _check_stopped(self) -> None:
        if self._is_stopped:
            raise self._over()

    def _enter_turn(self) -> Turn | None:
        resource = self.tool.resource
        if resource is not None and not is_held(self.shared.turns):
            self._turn = self.shared.turns.enter(resource, is_shared=self.tool.only_reads)
        return self._turn

    def _check_granted(self, granted: "concurrent.futures.Future[None]") -> None:
        self._check_stopped()
        if not granted.done():
            raise _RefusedError(
                f"The tool `{self.tool.spec.name}` waited {self.tool.limits.wait:g} s for its turn and did not run; "
                "another call is still at work."
            )

    def _over(self, last: object = None) -> _StoppedError:
        """Return the error for a run that is stopped or out of time; `last` is what the tool returned on stopping."""
        stopped = self._stopped()
        if isinstance(last, ToolResult) and last.text:
            stopped.so_far = f" What it gave until then:\n{last.text}"
        else:
            stopped.so_far = self._written()
        return stopped

    def _written(self) -> str:
        """Return a sentence with the output reported before a run ended early; empty if there was none."""
        written = "" if self._reporter is None else self._reporter.written()
        return f" What it wrote until then:\n{written}" if written else ""

    def _stopped(self) -> _StoppedError:
        name, effects = self.tool.spec.name, "it may have had effects" if self._at_work_since else "it did not run"
        if self._is_stopped:
            return _StoppedError(Outcome.CANCELLED, f"The call of `{name}` was cancelled; {effects}.")
        return _StoppedError(
            Outcome.TIMED_OUT,
            f"The tool `{name}` did not finish within {self.tool.spec.timeout:g} s and was told to stop; {effects}.",
        )

    def _joined(self) -> "concurrent.futures.Future[ToolResult | None] | None":
        """Return the future of an identical call that already runs (the leader); None if this run is the first."""
        # A run that another one waits for must not wait for a third: this could be a deadlock.
        if leads():
            return None
        # The same call to another tool of that name, as after a reload, is not identical.
        key = (id(self.tool), self.call.digest)
        is_first, leader = self.shared.single_flight.join_run(key)
        if is_first:
            self._leads = key
            return None
        return leader

    # On a thread ----------------------------------------------------------------------------------------------------

    def _run_shared(self) -> ToolResult:
        while (leader := self._joined()) is not None:
            self._wait(leader, self.tool.limits.wait)
            self._check_stopped()
            if not leader.done():
                return self._in_turn()
            shared = leader.result()
            if shared is not None:
                return shared
        with leading():
            return self._in_turn()

    def _in_turn(self) -> ToolResult:
        turn = self._enter_turn()
        if turn is None:
            return self._in_time()
        if turn.granted is not None:
            self._wait(turn.granted, self.tool.limits.wait)
            self._check_granted(turn.granted)
        with holding(turn):
            return self._in_time()

    def _in_time(self) -> ToolResult:
        if self._is_stopped:
            raise self._over()
        self._at_work_since = time.perf_counter()
        with cancellable_by(self.cancellation):
            if self.tool.spec.timeout is None:
                return self._at_once()
        work: concurrent.futures.Future[object] = concurrent.futures.Future()
        self._keep_turn_for(work)
        try:
            with cancellable_by(self.cancellation):
                start(work, self._called)
            self._wait(work, self.tool.spec.timeout)
            if work.done() and not self._is_stopped:
                return _checked(work.result())
        finally:
            if not work.done():
                self.cancellation.cancel()
                concurrent.futures.wait([work], GRACE)
        raise self._over(_last(work))

    def _at_once(self) -> ToolResult:
        try:
            result = _checked(self._called())
        except (Exception, asyncio.CancelledError) as error:
            # An error of a tool that was asked to stop is not reported: it is likely caused by the stop.
            if self._is_stopped and not isinstance(error, FatalToolError):
                raise self._over() from error
            raise
        if self._is_stopped:
            raise self._over(result)
        return result

    def _called(self) -> object:
        outcome = self.tool.call(self.call.to_dict(), self)
        if type(outcome) in _ANSWERS or not inspect.isawaitable(outcome):
            return outcome
        return waited_for(outcome, self.cancellation)

    def _keep_turn_for(self, work: Work) -> None:
        """Release the turn when the work is done, not when this run stops waiting for it."""
        self._work, turn = work, self._turn
        if turn is not None:
            work.add_done_callback(lambda _: turn.leave())

    def _wait(self, work: "concurrent.futures.Future[Any]", seconds: float | None) -> None:
        """Wait until the work is done, the run is stopped, or `seconds` have passed."""
        if not work.done():
            stopped: concurrent.futures.Future[None] = concurrent.futures.Future()
            with self.cancellation.calling(lambda: settle(stopped)):
                concurrent.futures.wait([work, stopped], seconds, concurrent.futures.FIRST_COMPLETED)

    # On an event loop -----------------------------------------------------------------------------------------------

    async def _arun_shared(self) -> ToolResult:
        while (leader := self._joined()) is not None:
            await self._await(leader, self.tool.limits.wait)
            self._check_stopped()
            if not leader.done():
                return await self._ain_turn()
            shared = leader.result()
            if shared is not None:
                return shared
        with leading():
            return await self._ain_turn()

    async def _ain_turn(self) -> ToolResult:
        turn = self._enter_turn()
        if turn is None:
            return await self._ain_time()
        if turn.granted is not None:
            await self._await(turn.granted, self.tool.limits.wait)
            self._check_granted(turn.granted)
        with holding(turn):
            return await self._ain_time()

    async def _ain_time(self) -> ToolResult:
        self._check_stopped()
        self._at_work_since = time.perf_counter()
        with cancellable_by(self.cancellation):
            work: Work = asyncio.create_task(self._acalled()) if self.tool.is_async else in_own_thread(self._called)
        self._keep_turn_for(work)
        if isinstance(work, asyncio.Task):
            work.add_done_callback(_retrieve_exception)
        try:
            await self._await(work, self.tool.spec.timeout)
            is_over = not work.done() or self._is_stopped
        finally:
            if not work.done():
                self.cancellation.cancel()
                await ended(work)
        if is_over:
            raise self._over(_last(work))
        if work.cancelled():
            # The tool cancelled itself; this must not cancel the caller.
            text = f"The tool `{self.tool.spec.name}` was interrupted; it may have had effects.{self._written()}"
            raise _StoppedError(Outcome.CANCELLED, text)
        return _checked(work.result())

    async def _acalled(self) -> object:
        return await cast("Awaitable[object]", self.tool.call(self.call.to_dict(), self))

    async def _await(self, work: Work, seconds: float | None) -> None:
        """Do what `_wait` does, on the event loop."""
        if not work.done():
            loop = asyncio.get_running_loop()
            stopped: asyncio.Future[None] = loop.create_future()
            with self.cancellation.calling(lambda: loop.call_soon_threadsafe(set_done, stopped)):
                either = {loop_future(work), stopped}
                await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)


def _retrieve_exception(task: "asyncio.Task[Any]") -> None:
    """Retrieve the exception of a task, so that asyncio does not log that it was never retrieved."""
    if not task.cancelled():
        task.exception()


def _last(work: Work) -> ToolResult | None:
    """Return what a stopped tool returned in the end; None if it has not ended, failed, or returned no result."""
    if not work.done() or work.cancelled() or work.exception() is not None:
        return None
    with contextlib.suppress(TypeError):
        return _checked(work.result())
    return None


def _traced(error: object) -> str:
    return "".join(traceback.format_exception(cast("BaseException", error)))


def _checked(outcome: object) -> ToolResult:
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
