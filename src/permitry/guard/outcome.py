"""What becomes of a call once it is decided: it may run, it waits for a human, or it does not run.

`Ready`, `Blocked` and `Pending` are what a `ToolHandler` gives; a host that runs its tools itself gets `Permit`,
`Refusal`, `Ask` and `Silence` from its `Guard`.
"""

import enum
import json
import time
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, Self, TypeAlias

import attrs

from permitry.audit.recorder import RunRecord
from permitry.channels.request import ToolConfirmationRequest
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.result import ToolResult
from permitry.dispatch.authorized import AuthorizedCall
from permitry.dispatch.telemetry import Outcome
from permitry.errors import RegistryError

__all__ = ["Ask", "Blocked", "Cause", "Decided", "Pending", "Permit", "Ready", "Redeemed", "Refusal", "Silence"]


class _Outcome:
    """What becomes of a call: never a condition, as a call that is refused would be as true as one that may run."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} is not a yes or no; compare its type, as in `match outcome:`")


@attrs.frozen
class Ready(_Outcome):
    """A call that may run now: hand the outcome to `ToolHandler.run`. `is_approved` says that a human was asked.

    `approved_by` is who answered from elsewhere, as the store knows it.
    """

    call: ToolCall
    decision: Decision
    authorized: AuthorizedCall
    is_approved: bool = False
    approved_by: str | None = None


class Cause(enum.Enum):
    """Why a call does not run."""

    POLICY = "blocked"
    DECLINED = "declined"
    RESPONDED = "responded"
    UNANSWERED = "not answered"
    BAD_EDIT = "edited into no call"
    BAD_CALL = "not a call"
    MISFIT = "arguments do not fit"
    UNAVAILABLE = "not available here"
    NOT_RECORDED = "not recorded"
    NOT_ASKED = "no such question"
    HANDLED = "handled before"
    QUESTIONS = "too many questions"


@attrs.frozen
class Blocked(_Outcome):
    """A call that does not run, and why; `result` is what is shown to the model."""

    call: ToolCall
    decision: Decision
    result: ToolResult
    cause: Cause


@attrs.frozen
class Pending(_Outcome):
    """A call that waits for a human: answer it with `ToolHandler.resolve(pending_id, response)`."""

    pending_id: str
    call: ToolCall
    decision: Decision
    request: ToolConfirmationRequest


@attrs.frozen
class Silence(_Outcome):
    """A call that no rule is about, left to the host's own way of asking. Only where `unmatched` is `silence`."""

    call: ToolCall
    decision: Decision


Decided: TypeAlias = Ready | Blocked | Pending | Silence
"""What is kept of a call."""


@attrs.frozen
class Redeemed:
    """A call that runs now, and what records its run."""

    call: ToolCall
    record: RunRecord


@attrs.define(eq=False)
class Permit(_Outcome):
    """A call that the host may run now, once: `take` before it runs, `done` afterwards.

    As a context manager it does both: `with permit as arguments:` runs `done(ok=True)` at the end, unless `done` was
    called inside, and records a crash or an interrupt that it lets through. `approved_by` is as that of `Ready`.
    """

    call: ToolCall
    decision: Decision
    _authorized: AuthorizedCall = attrs.field(repr=False)
    _redeem: Callable[[AuthorizedCall], Redeemed] = attrs.field(repr=False)
    approved_by: str | None = None
    # What records it and since when it runs, while it does.
    _run: tuple[RunRecord, float] | None = attrs.field(default=None, init=False, repr=False)

    def take(self) -> dict[str, Any]:
        """Record the start, and return a fresh copy of the arguments that were authorized.

        Raises: `ReplayError` for a call that was taken before; what the recorder raises when the start cannot be
        recorded. In either case the call must not run.
        """
        run = self._redeem(self._authorized)
        run.record.started(run.call)
        self._run = run.record, time.perf_counter()
        return run.call.to_dict()

    def done(self, *, ok: bool, result: object = None) -> None:
        """Record how the run ended, unknown otherwise.

        `result` is what the model is shown, a JSON value or a text: rules may ask whether a value comes from there.

        Raises: `TypeError` for a result that is neither; `RegistryError` where nothing runs; what the recorder raises.
        """
        given = ToolResult(ok, _text_of(result))
        self._end(Outcome.OK if ok else Outcome.FAILED, given)

    def __enter__(self) -> dict[str, Any]:
        return self.take()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self._run is None:
            return
        match error:
            case None:
                self.done(ok=True)
            case Exception():
                self._end(Outcome.CRASHED, ToolResult(False, ""), "".join(traceback.format_exception(error)))
            case _:
                self._end(Outcome.CANCELLED, ToolResult(False, ""), type(error).__name__)

    def _end(self, outcome: Outcome, result: ToolResult, error: str | None = None) -> None:
        if self._run is None:
            raise RegistryError("this call does not run: take it first, and end it once")
        (record, since), self._run = self._run, None
        seconds = time.perf_counter() - since
        record.finished(self.call, result, outcome=outcome.value, seconds=seconds, error=error)


def _text_of(result: object) -> str:
    """Return what the model is shown of a result."""
    if isinstance(result, str):
        return result
    return "" if result is None else json.dumps(result)


@attrs.frozen
class Refusal(_Outcome):
    """A call that does not run: show `text` to the model in place of a result.

    `rule` is the id of the rule that blocks it, or None; `decision` is None for what is not a call. With
    `ends_session` the human wants the agent to stop. Where the cause is `RESPONDED`, a human has answered in place of
    the tool: the text is the result, and not an error.
    """

    text: str
    cause: Cause
    rule: str | None = None
    ends_session: bool = False
    decision: Decision | None = attrs.field(default=None, repr=False)

    @property
    def is_error(self) -> bool:
        """Whether the text says why nothing came of the call; False where a human has answered in place of the tool."""
        return self.cause is not Cause.RESPONDED

    @classmethod
    def of(cls, blocked: Blocked) -> Self:
        """Return the refusal of a call that is blocked."""
        result, decision = blocked.result, blocked.decision
        return cls(result.text, blocked.cause, decision.rule_id, result.ends_session, decision)


@attrs.frozen
class Ask(_Outcome):
    """A call that waits for a human: show the request, and answer with `Guard.answer(ask.id, response)`."""

    id: str
    request: ToolConfirmationRequest
    decision: Decision = attrs.field(repr=False)

    @property
    def call(self) -> ToolCall:
        """The call that is asked about."""
        return self.request.call

    def as_json(self) -> dict[str, Any]:
        """Return the question as plain JSON: a `pending_id`, and what `request.to_dict()` gives."""
        return {"pending_id": self.id, **self.request.to_dict()}
