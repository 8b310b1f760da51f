"""One run of one tool, from the record of its start to the one report of its end."""

import asyncio
import contextlib
import contextvars
import logging
import time
import traceback
from concurrent.futures import Future

import attrs

from permitry.audit.recorder import waits_for_disk
from permitry.core.result import ToolResult
from permitry.dispatch.apart import without_suspending
from permitry.dispatch.attempt import Attempt, RefusedError, StoppedError
from permitry.dispatch.cancel import SIGNAL
from permitry.dispatch.clip import clip
from permitry.dispatch.events import CURRENT_REPORTER, Reporter, ToolEventKind, kept
from permitry.dispatch.telemetry import Outcome, ToolRun, ToolTelemetry
from permitry.dispatch.waiting import GRACE, await_thread, await_until, start
from permitry.errors import FatalToolError, ToolError, safe_str

__all__ = ["Run"]

_LOG = logging.getLogger("permitry.dispatch")
_NOTHING = ToolResult(False, "The tool gave no result.")


@attrs.define(eq=False)
class Run(Attempt):
    """One run of one tool: whatever happens, `record.finished` is called exactly once."""

    result: ToolResult = attrs.field(default=_NOTHING, init=False)
    outcome: Outcome = attrs.field(default=Outcome.OK, init=False)
    _trace: str | None = attrs.field(default=None, init=False)
    _begun: float = attrs.field(default=0.0, init=False)
    _outer: "contextlib.AbstractContextManager[None] | None" = attrs.field(default=None, init=False)
    _reporter: Reporter | None = attrs.field(default=None, init=False)
    _reports: contextvars.Token[Reporter | None] = attrs.field(init=False)
    _seconds: float = attrs.field(default=0.0, init=False)
    # Whether the record waits for a disk, and this is an event loop, which must not.
    _is_apart: bool = attrs.field(default=False, init=False)

    def run(self) -> ToolResult:
        """Run the tool and return what the model is shown; raise what is fatal, and what the record raises."""
        return without_suspending(self._steps())

    async def arun(self) -> ToolResult:
        """Do what `run` does on the event loop; a tool that is not async runs in a thread."""
        self._loop, self._wait = asyncio.get_running_loop(), await_until
        self._is_apart = waits_for_disk(self.authorization.record.recorder)
        if self._is_apart:
            await self._start_apart()
        return await self._steps()

    async def _steps(self) -> ToolResult:
        try:
            try:
                with self:
                    self.result = await self.carry_out()
            except GeneratorExit:
                # The event loop is gone, and there is no more waiting.
                self._is_apart = False
                raise
            finally:
                if self._begun:
                    await self._report_end()
        finally:
            if self._reporter is not None and (delivered := self._reporter.delivered) is not None:
                await self._wait(delivered, GRACE, None)
        return self.result

    async def _start_apart(self) -> None:
        """Have the start recorded in a thread; if this is cancelled meanwhile, the end too, and nothing runs."""
        work = start(lambda: self.authorization.record.started(self.call))
        try:
            await self._wait(work, None, None)
        except BaseException as error:
            self._set_outcome(error)

            def end(work: Future[None]) -> None:
                if work.exception() is None:
                    self._record_end()

            work.add_done_callback(end)
            raise
        work.result()

    def __enter__(self) -> None:
        if not self._is_apart:
            self.authorization.record.started(self.call)
        self._begun = time.perf_counter()
        self._reporter = self._new_reporter()
        self._reports = CURRENT_REPORTER.set(self._reporter)
        if self._reporter is not None:
            self._reporter.report(ToolEventKind.STARTED)
        self.shared.running[self.authorization] = self.cancel
        outer = SIGNAL.get()
        if outer is not None:
            # A run that a tool starts is cancelled with it.
            self._outer = outer.calling(self.cancel)
            self._outer.__enter__()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.release(self.result if error is None else None)
        try:
            self.shared.running.pop(self.authorization, None)
            if self._outer is not None:
                self._outer.__exit__(None, None, None)
            if error is None:
                self.outcome = Outcome.OK if self.result.ok else Outcome.FAILED
            else:
                self._set_outcome(error)
            limit, result = self.tool.spec.output_limit, self.result
            if len(result.text) > limit:
                text = clip(result.text, limit, kept(self._reporter, result.text))
                # The structured form repeats the text, with what was left out.
                self.result = attrs.evolve(result, text=text, structured=None)
        finally:
            CURRENT_REPORTER.reset(self._reports)
            self._seconds = time.perf_counter() - self._begun
        # Only what a tool may raise is turned into a result; the end of the run and of the process go on.
        return isinstance(error, Exception) and not isinstance(error, FatalToolError)

    def _new_reporter(self) -> Reporter | None:
        scope, shared = self.scope, self.shared
        sink = None if scope is None else scope.sink()
        outer = CURRENT_REPORTER.get()
        if outer is not None and (outer.receiver is None or sink not in (None, outer.receiver)):
            outer = None
        if outer is not None:
            sink = None
        elif sink is None:
            sink = shared.on_event
        if sink is None and outer is None and shared.artifacts is None:
            return None
        name, agent = self.tool.spec.name, self.authorization.context.agent
        return Reporter(name, self.call.call_id, agent, sink, shared.artifacts, outer, self._loop)

    def _set_outcome(self, error: BaseException) -> None:
        """Set the outcome of an error, and the result that the model is shown."""
        name = self.tool.spec.name
        match error:
            case StoppedError():
                self.outcome = error.outcome
                so_far = f" What it gave until then:\n{error.last}" if error.last else self._quote_output()
                text = f"{error}{so_far}"
            case ToolError():
                kinds = (FatalToolError, Outcome.FATAL), (RefusedError, Outcome.REFUSED)
                found = (outcome for kind, outcome in kinds if isinstance(error, kind))
                self.outcome = next(found, Outcome.FAILED)
                text = safe_str(error)
            case Exception():
                self.outcome = Outcome.CRASHED
                self._trace = safe_str(error, lambda _: "".join(traceback.format_exception(error)))
                text = f"The tool `{name}` crashed ({type(error).__name__}). Try another way."
                with contextlib.suppress(Exception):
                    _LOG.error("the tool `%s` crashed:\n%s", name, self._trace)
            case _:
                # A thread cannot be stopped: the interrupted tool may still be running.
                self.outcome, self._trace = Outcome.CANCELLED, type(error).__name__
                written = self._quote_output()
                text = f"The tool `{name}` was interrupted; it may have had effects.{written}"
                if written:
                    # The error is raised to the host, which does not receive the result.
                    error.add_note(written.strip())
        self.result = ToolResult(False, text)

    def _quote_output(self) -> str:
        """Return a sentence with the output before a run ended early; empty if there was none."""
        written = "" if self._reporter is None else self._reporter.tail()
        return f" What it wrote until then:\n{written}" if written else ""

    async def _report_end(self) -> None:
        """Report the end to the record, then to telemetry; close the stream even if the record fails."""
        try:
            if self._is_apart:
                await await_thread(start(self._record_end))
            else:
                self._record_end()
            if self.shared.telemetry is not None:
                self._count(self.shared.telemetry, self._seconds)
        finally:
            if self._reporter is not None:
                last = {"ok": self.result.ok, "outcome": self.outcome.value, "seconds": round(self._seconds, 6)}
                self._reporter.close(self.result.text, last)

    def _record_end(self) -> None:
        self.authorization.record.finished(
            self.call, self.result, outcome=self.outcome._value_, seconds=self._seconds, error=self._trace
        )

    def _count(self, telemetry: ToolTelemetry, seconds: float) -> None:
        size = len(self.result.text.encode(errors="replace")) + sum(len(part.data) for part in self.result.parts)
        waiting = (self._at_work_since or self._begun + seconds) - self._begun
        run = ToolRun(self.tool.spec.name, self.outcome, seconds, len(self.call.canonical), size, waiting)
        with contextlib.suppress(Exception):
            telemetry.ran(run)
