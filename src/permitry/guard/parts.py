"""What stages may use: the parts of a guard, each as it is when a stage looks."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from permitry.actions.changes import Undo
from permitry.audit.recorder import Recorder
from permitry.channels.channel import ConfirmationChannel
from permitry.channels.notifier import ToolRejectionNotifier
from permitry.channels.request import ConfirmationRequestFactory
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.dispatch.apart import Apart
from permitry.guard.case import Case, Step
from permitry.guard.grants_in_force import Grants
from permitry.guard.handled import Asker, HandledCalls
from permitry.guard.ledger import Ledger
from permitry.guard.outcome import Blocked, Decided, Pending, Ready
from permitry.guard.session import Session
from permitry.guard.tools import Tools
from permitry.undo.first import Asked

__all__ = ["Parts", "Stage", "TurnTracker", "asker_of", "inputs_of", "may_run"]


class Parts(Protocol):
    """The parts of a guard; see `Guard` for what each of them is for."""

    policy: AuthorizationPolicy
    session: Session
    notifier: ToolRejectionNotifier
    factory: ConfirmationRequestFactory
    channel: ConfirmationChannel
    ledger: Ledger
    recorder: Recorder
    handled: HandledCalls[Decided]
    undo: Undo | None
    grants: Grants | None
    unmatched: Literal["confirm", "silence"]
    asked_by: Literal["guard", "host"]
    tools: Tools
    apart: Apart

    def take_answer(self, pending: Pending, response: object) -> Ready | Blocked:
        """Return what follows from whatever was answered to a question, which is closed by it."""
        ...


class TurnTracker(Protocol):
    """Compares a workspace with what it was when a turn began, such as `permitry_tools.turn_diff.TurnDiffTracker`."""

    def begin(self) -> None:
        """Begin a turn: later changes are relative to the workspace as it is now."""
        ...

    def diff(self) -> str:
        """Return what has changed since the turn began, as one unified diff; empty if nothing has."""
        ...


Stage: TypeAlias = Callable[[Case, Parts], Step]
"""One step of the way of a call: the next case, or an outcome, which ends the way."""


def asker_of(parts: Parts) -> Asker:
    """Return whose calls are decided: outcomes and questions of another session or agent are not found by these."""
    return parts.session.id, parts.session.agent


def inputs_of(case: Case, parts: Parts) -> Asked:
    """Return all that the decision on a call depends on."""
    return Asked(parts.policy, case.call, case.context, case.spec)


def may_run(decision: Decision, case: Case, parts: Parts) -> bool:
    """Return whether a call may run by this decision: it is allowed, or left to the host."""
    if decision.verdict is Verdict.ALLOW:
        return True
    is_left = parts.unmatched == "silence" and decision.phase is Phase.DEFAULT and not case.is_asked
    return is_left and decision.verdict is Verdict.CONFIRM
