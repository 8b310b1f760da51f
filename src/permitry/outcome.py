"""What becomes of a call once it is decided: it may run, it waits for a human, or it does not run."""

import enum

import attrs

from permitry.confirm.request import ToolConfirmationRequest
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.result import ToolResult
from permitry.dispatch.authorized import AuthorizedCall

__all__ = ["Blocked", "Cause", "Pending", "Ready"]


@attrs.frozen
class Ready:
    """A call that may run now: hand the outcome to `ToolHandler.run`."""

    call: ToolCall
    decision: Decision
    authorized: AuthorizedCall


class Cause(enum.Enum):
    """Why a call does not run."""

    POLICY = "blocked"
    DECLINED = "declined"
    UNANSWERED = "not answered"
    BAD_EDIT = "edited into no call"
    MISFIT = "arguments do not fit"
    UNAVAILABLE = "not available here"
    NOT_RECORDED = "not recorded"
    HANDLED = "handled before"
    QUESTIONS = "too many questions"


@attrs.frozen
class Blocked:
    """A call that does not run, and why; `result` is what is shown to the model."""

    call: ToolCall
    decision: Decision
    result: ToolResult
    cause: Cause


@attrs.frozen
class Pending:
    """A call that waits for a human: answer it with `ToolHandler.resolve(pending_id, response)`."""

    pending_id: str
    call: ToolCall
    decision: Decision
    request: ToolConfirmationRequest
