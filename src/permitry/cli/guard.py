"""A session being guarded by `permitry run`: each line in, one result out per call, in order."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from permitry.cli import render
from permitry.cli.answers import AnswersChannel
from permitry.cli.main import ExitCode
from permitry.cli.render import SummaryRow
from permitry.cli.story import last_lines, say, tell_counts
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.json_values import parse_json
from permitry.core.result import ToolResult
from permitry.core.texts import one_line, shorten
from permitry.dispatch.scope import CallScope
from permitry.errors import CallError, PermitryError, ToolError
from permitry.handler import Blocked, Cause, Pending, Ready, ToolHandler
from permitry.messages import IncomingCall, calls_in
from permitry.messages.said import user_text
from permitry.messages.text_calls import text_calls_and_broken

__all__ = ["SessionGuard"]

_BRIEF = 60
_BRIEF_RESULT = 300
_OVER = "the session is over"
_INTERRUPTED = "the session was interrupted"
_IN_PART = ToolResult(False, "The session was interrupted during this call; it may have run in part.")
_UNDECIDED = ToolResult(False, "The session was interrupted before this call was decided; it did not run.")
_UNASKED = ToolResult(False, "The session was interrupted at the question about this call; it did not run.")


@attrs.define
class SessionGuard:
    """Reads lines of messages, has each call decided and run, and prints its result before the next.

    `queues` leaves unanswered questions open. A quiet guard prints JSON only. `asks` says who is asked. `renew` is
    called before each decision.
    """

    handler: ToolHandler
    record: str
    rules: tuple[str, ...] = ()
    asks: str = "asked at the terminal"
    queues: bool = False
    is_quiet: bool = False
    prints: bool = True
    reads_text: bool = False
    is_over: Callable[[], bool] = lambda: False
    renew: Callable[[], object] = lambda: None
    interrupted: bool = False
    rows: list[SummaryRow] = attrs.field(factory=list, init=False)
    queued: list[ToolCall] = attrs.field(factory=list, init=False)
    bad_lines: list[int] = attrs.field(factory=list, init=False)
    failure: str | None = attrs.field(default=None, init=False)
    _ended: str | None = attrs.field(default=None, init=False)
    _has_run: bool = attrs.field(default=False, init=False)
    _seen: Counter[str] = attrs.field(factory=Counter, init=False)

    @property
    def exit_code(self) -> ExitCode:
        """What the process reports; calls that were blocked or declined are a session going its way."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if self.failure:
            return ExitCode.FAILED
        if self.bad_lines:
            return ExitCode.INVALID
        return ExitCode.NEEDS_CONFIRMATION if self.queued else ExitCode.OK

    def line(self, number: int, line: str | CallError) -> None:
        """Guard the calls of one line; one that cannot be read is reported. Raises: `KeyboardInterrupt`."""
        try:
            if isinstance(line, CallError):
                raise line
            message = parse_json(line)
            if text := user_text(message):
                self.handler.session.heard(text)
            calls, broken = self._calls(message)
        except CallError as error:
            calls, broken = [], [str(error)]
        for message in broken:
            self._refuse_line(number, message)
        if calls:
            self._begin_turn()
        follow_ups = [self._call(incoming, f"{number}.{index}") for index, incoming in enumerate(calls, 1)]
        for follow_up in filter(None, follow_ups):
            self._print(follow_up)
        if self._has_run:
            self._has_run = False
            self._show_diff(number)
        if self._ended == _INTERRUPTED:
            raise KeyboardInterrupt

    def _calls(self, message: object) -> tuple[list[IncomingCall], list[str]]:
        """Return the calls of a message, or of its text if that is read; and why others are none."""
        calls = calls_in(message)
        if calls or not self.reads_text:
            return calls, []
        found, broken = text_calls_and_broken(message, self.handler.registry)
        return found, [f"a call in the text was not understood: {each.message}" for each in broken]

    def _begin_turn(self) -> None:
        try:
            self.handler.begin_turn()
        except KeyboardInterrupt:
            # Every call of the line still has its result: that nothing runs any more.
            self._ended = _INTERRUPTED

    def _show_diff(self, number: int) -> None:
        text = self.handler.turn_diff()
        if text and self.is_quiet:
            _print({"diff": {"line": number, "text": text}})
        elif text:
            render.diff(render.console_on(sys.stderr), text)

    def _refuse_line(self, number: int, message: str) -> None:
        if number not in self.bad_lines[-1:]:
            self.bad_lines.append(number)
        say(f"permitry: line {number}: {one_line(message)}")
        self._print({"error": {"line": number, "message": message}})

    def _print(self, message: Mapping[str, object]) -> None:
        if self.prints:
            _print(message)

    def summarize(self) -> None:
        """Print how many calls went which way, or all of them as one JSON object."""
        channel = self.handler.channel
        unused = channel.spare_lines if isinstance(channel, AnswersChannel) else ()
        if self.is_quiet:
            summary = {
                "verdicts": Counter(row.verdict for row in self.rows),
                "calls": [attrs.asdict(row) for row in self.rows],
                "queued": [{"call_id": each.call_id, "tool": each.tool, "digest": each.digest} for each in self.queued],
                "bad_lines": self.bad_lines,
                "unused_answers": unused,
                "failure": self.failure,
                "rules": self.rules,
                "record": self.record,
            }
            _print({"summary": summary})
            return
        self._tell_of_calls()
        for line in last_lines(self.record, self.rules, self.asks, prints=self.prints):
            say(line)

    def _tell_of_calls(self) -> None:
        tell_counts(self.rows)
        for call in self.queued:
            answer = json.dumps({"digest": call.digest, "approved": True})
            say(f"queued: {one_line(call.tool)} ({call.call_id}) {shorten(call.canonical, 200)}")
            say(f"        to approve it, run this call alone again, with --answers and this line: {answer}")
        if self.bad_lines:
            say(f"lines that could not be read: {', '.join(map(str, self.bad_lines))}")
        channel = self.handler.channel
        if isinstance(channel, AnswersChannel) and channel.spare_lines:
            spare = ", ".join(map(str, channel.spare_lines))
            say(f"answers that no question asked for: lines {spare}")
        if self.failure:
            say(f"the session ended early: {self.failure}")

    def _call(self, incoming: IncomingCall, place: str) -> dict[str, Any] | None:
        begun = time.perf_counter()
        call = incoming.call if isinstance(incoming.call, CallError) else self._identify(incoming.call, place)
        try:
            result, row = self._result(attrs.evolve(incoming, call=call))
        except KeyboardInterrupt:
            # Between the steps, where nothing is known of how far it went.
            self._ended = _INTERRUPTED
            result, row = _IN_PART, SummaryRow(None, incoming.name, "block", None, "interrupted")
        except PermitryError as error:
            # A fatal tool error, or a record that cannot be written: whatever follows does not run.
            self.failure, self._ended = str(error), _OVER
            result, row = _refuse(incoming, _last_words(error), "failed")
        call_id = None if isinstance(call, CallError) else call.call_id
        row = attrs.evolve(row, call_id=call_id, seconds=round(time.perf_counter() - begun, 6))
        self.rows.append(row)
        # Printed and flushed before the next call is looked at: what is printed is never lost.
        self._print(incoming.reply(result))
        if not self.is_quiet:
            self._report(incoming, row, result)
        return incoming.follow_up(result)

    def _report(self, incoming: IncomingCall, row: SummaryRow, result: ToolResult) -> None:
        why = f"{row.rule or 'no rule'}: {one_line(row.reason)}" if row.rule and row.reason else row.rule or "no rule"
        say(f"{row.verdict:<8}{one_line(row.tool)} {_brief(incoming)} [{why}] {row.outcome}")
        if not row.has_run:
            say(f"        shown to the model: {shorten(' '.join(result.text.split()), _BRIEF_RESULT)}")

    def _result(self, incoming: IncomingCall) -> tuple[ToolResult, SummaryRow]:
        if isinstance(incoming.call, CallError):
            return _refuse(incoming, f"The call was not understood: {incoming.call}.", "not understood")
        if self._ended is not None:
            return _refuse(incoming, f"Nothing runs any more: {self._ended}.", "session over")
        return self._guard_call(incoming.call)

    def _identify(self, call: ToolCall, place: str) -> ToolCall:
        """Return the call with a new id: some models number their calls from 0 in every message."""
        call_id = wanted = call.call_id or place
        while call_id in self._seen:
            self._seen[wanted] += 1
            call_id = f"{wanted[:200]}#{self._seen[wanted]}"
        self._seen[call_id] = 1
        return call.with_id(call_id)

    def _guard_call(self, call: ToolCall) -> tuple[ToolResult, SummaryRow]:
        begun: Ready | Blocked | Pending | None = None
        try:
            self.renew()
            begun = self.handler.begin(call)
            outcome = self._confirm(begun) if isinstance(begun, Pending) else begun
        except KeyboardInterrupt:
            self._ended = _INTERRUPTED
            if begun is None:
                return _UNDECIDED, SummaryRow(call.call_id, call.tool, "block", None, "interrupted")
            return _UNASKED, _row(begun.call, begun.decision, "interrupted at the question")
        if isinstance(outcome, Pending):
            self.queued.append(outcome.call)
            return _wait_result(outcome), _row(outcome.call, begun.decision, "queued")
        result, became = self._run(outcome)
        row = _row(begun.call, begun.decision, became)
        if isinstance(outcome, Ready):
            row = attrs.evolve(row, outcome=f"{_approval(begun, outcome)}{became}", has_run=True)
        return result, row

    def _confirm(self, pending: Pending) -> Ready | Blocked | Pending:
        if not self.queues:
            return self.handler.ask(pending)
        response = self.handler.channel.ask(pending.request)
        return pending if response is None else self.handler.resolve(pending.pending_id, response)

    def _run(self, outcome: Ready | Blocked) -> tuple[ToolResult, str]:
        self._has_run = self._has_run or isinstance(outcome, Ready)
        try:
            result = self.handler.run(outcome, CallScope(step=len(self.rows)))
        except PermitryError as error:
            # A fatal tool error, or an end that cannot be recorded: whatever follows does not run.
            self.failure, self._ended = str(error), _OVER
            return ToolResult(False, _last_words(error)), "failed"
        except KeyboardInterrupt as error:
            self._ended = _INTERRUPTED
            # What the tool wrote until then.
            notes: list[str] = getattr(error, "__notes__", [])
            return attrs.evolve(_IN_PART, text=" ".join([_IN_PART.text, *notes])), "interrupted"
        if result.ends_session or self.is_over():
            self.interrupted = True
            self._ended = "the user ended the session"
        if isinstance(outcome, Ready):
            return result, "ran" if result.ok else "ran, failed"
        if outcome.cause is Cause.NOT_RECORDED:
            self.failure, self._ended = "the record cannot be written", _OVER
        return result, outcome.cause.value


def _row(call: ToolCall, decision: Decision, outcome: str) -> SummaryRow:
    reason = decision.reason
    return SummaryRow(call.call_id, call.tool, decision.verdict.value, decision.rule_id, outcome, reason=reason)


def _approval(begun: Ready | Blocked | Pending, outcome: Ready) -> str:
    if not isinstance(begun, Pending):
        return ""
    return "approved, " if outcome.call.digest == begun.call.digest else "approved as edited, "


def _refuse(incoming: IncomingCall, text: str, outcome: str) -> tuple[ToolResult, SummaryRow]:
    return ToolResult(False, text), SummaryRow(None, incoming.name, "block", None, outcome)


def _wait_result(pending: Pending) -> ToolResult:
    return ToolResult(
        False,
        f"The call of `{pending.call.tool}` waits for the user's confirmation (pending id {pending.pending_id}) and "
        "did not run. Do not repeat it; go on with what does not depend on it.",
    )


def _last_words(error: PermitryError) -> str:
    # A tool's own error is for the model; where the record lies is not.
    cause = f": {error}" if isinstance(error, ToolError) else ""
    return f"The session cannot go on{cause}."


def _brief(incoming: IncomingCall) -> str:
    arguments = {} if isinstance(incoming.call, CallError) else incoming.call.arguments
    return shorten(next((value for value in arguments.values() if isinstance(value, str)), ""), _BRIEF)


def _print(message: Mapping[str, object]) -> None:
    print(json.dumps(message), flush=True)
