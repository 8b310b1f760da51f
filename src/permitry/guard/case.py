"""What a stage works on: `Case`, one call on its way through a guard, with what is known of it so far, and `Parts`."""

import os
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias, final

import attrs

from permitry.actions.changes import Undo
from permitry.audit.recorder import MemoryRecorder, Recorder
from permitry.channels.channel import ConfirmationChannel, UnattendedChannel, check_channel
from permitry.channels.notifier import ToolRejectionNotifier
from permitry.channels.request import ConfirmationRequestFactory
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.dispatch.apart import Apart
from permitry.errors import safe_str
from permitry.guard.grants_in_force import Grants
from permitry.guard.handled import Asker, HandledCalls
from permitry.guard.ledger import ConfirmationLedger, Ledger, PendingConfirmation
from permitry.guard.outcome import Blocked, Cause, Decided, Pending, Ready
from permitry.guard.session import Session
from permitry.guard.tools import Tools
from permitry.undo.first import Asked, Kept

__all__ = [
    "NO_CONTEXT", "UNDECIDED", "Answer", "Case", "Parts", "Stage", "Step", "TurnTracker", "asker_of", "inputs_of",
    "may_run",
]  # fmt: skip

NO_CONTEXT = AuthContext()
# INVARIANT: law 2. A line from which the stage `decide` is missing blocks everything.
UNDECIDED = Decision(Verdict.BLOCK, None, Phase.INPUT, "it was never decided")


@attrs.frozen
class Answer:
    """What a human said about a question, which is closed by it."""

    question: PendingConfirmation
    response: ToolConfirmationResponse


# A tuple: each call builds three, and an attrs class of this size takes three times as long.
@final
class Case(NamedTuple):
    """A call and what stages know of it; one that changes nothing returns the same object."""

    call: ToolCall
    is_given: bool = True
    """Whether its id came with the call."""
    is_asked: bool = False
    """Whether the host says that it was asked about."""
    runs: bool = False
    """Whether it runs at once if it may."""
    spec: ToolSpec | None = None
    """The declaration that came with the call; from `resolve` on, the one that counts."""
    answer: Answer | None = None
    before: Decided | None = None
    """Set by `recall`: its earlier outcome, where it is decided again."""
    open: Pending | None = None
    """Set by `resume`: the question that is open about it, which a grant may answer."""
    context: AuthContext = NO_CONTEXT
    """Set by `decide`, and by `charge`, where that decides again."""
    decision: Decision = UNDECIDED
    """Set by `decide`; the stages after it make it stricter, but for a grant and an answer."""
    cause: Cause = Cause.POLICY
    """Set by `decide` and `bind`: why it does not run, if it does not."""
    grant: str | None = None
    """Set by `use_grant`: the id of the grant that answers a question of a rule."""
    kept: Kept | None = None
    """Set by `take_snapshot`: what was kept, to be undone."""
    is_started: bool = False
    """Set by `record_call`: whether its start is on record with the decision."""
    is_remembered: bool = False
    """Set by `bind`: whether the tool is not to be asked about again."""

    @property
    def is_approved(self) -> bool:
        """Whether a human permits it, now or by a grant that answers a question of a rule."""
        # Only an answer that approves becomes a case.
        return self.answer is not None or self.grant is not None

    @property
    def is_edited(self) -> bool:
        """Whether a human has changed its arguments."""
        return self.answer is not None and self.answer.question.call.digest != self.call.digest

    # By position, in the order of the fields: `_replace` takes more than twice as long, and each call comes here.
    def with_spec(self, spec: ToolSpec | None) -> "Case":
        """Return the case with this declaration, and with nothing decided yet."""
        return Case(self.call, self.is_given, self.is_asked, self.runs, spec, self.answer, self.before)

    def with_decision(self, context: AuthContext, decision: Decision) -> "Case":
        """Return the case as the rules decide it; no other stage has had a say yet."""
        return Case(*self[:8], context, decision)


Step: TypeAlias = Case | Decided
"""What a stage returns: the next case, or what ends the way."""


class TurnTracker(Protocol):
    """Compares a workspace with what it was when a turn began, such as `permitry_tools.turn_diff.TurnDiffTracker`."""

    def begin(self) -> None:
        """Begin a turn: later changes are relative to the workspace as it is now."""
        ...

    def diff(self) -> str:
        """Return all changes since the turn began as one unified diff; empty for none."""
        ...


def _check_policy(_: object, __: object, policy: object) -> None:
    if isinstance(policy, AuthorizationPolicy):
        return
    hint = "use load_policy(...) for rule files, or AuthorizationPolicy(rules) for rules"
    if isinstance(policy, (str, os.PathLike)):
        hint = f"load it first: policy=load_policy({os.fspath(policy)!r})"
    raise TypeError(f"`policy` must be an AuthorizationPolicy, not {safe_str(policy, repr)}; {hint}")


@attrs.define(repr=False)
class Parts:
    """The parts of a guard, each as it is when a stage looks: see `Guard`."""

    policy: AuthorizationPolicy = attrs.field(factory=create_default_authorization_policy, validator=_check_policy)
    session: Session = attrs.field(factory=Session)
    notifier: ToolRejectionNotifier = attrs.field(factory=ToolRejectionNotifier)
    tracker: TurnTracker | None = attrs.field(default=None, kw_only=True)
    factory: ConfirmationRequestFactory = attrs.field(factory=ConfirmationRequestFactory, kw_only=True)
    channel: ConfirmationChannel = attrs.field(factory=UnattendedChannel, kw_only=True, validator=check_channel)
    ledger: Ledger = attrs.field(factory=ConfirmationLedger, kw_only=True)
    recorder: Recorder = attrs.field(factory=MemoryRecorder, kw_only=True)
    handled: HandledCalls[Decided] = attrs.field(factory=HandledCalls, kw_only=True)
    unmatched: Literal["confirm", "silence"] = attrs.field(
        default="confirm", kw_only=True, validator=attrs.validators.in_(("confirm", "silence"))
    )
    asked_by: Literal["guard", "host"] = attrs.field(
        default="guard", kw_only=True, validator=attrs.validators.in_(("guard", "host"))
    )
    undo: Undo | None = attrs.field(default=None, kw_only=True)
    """Keeps what permissions with `keep` let calls change; without it they permit nothing."""
    grants: Grants | None = attrs.field(default=None, kw_only=True)
    tools: Tools = attrs.field(factory=Tools, init=False)
    """What the calls are of: the one seam between deciding and running."""
    apart: Apart = attrs.field(factory=Apart, init=False)
    """Where work that waits for a disk is done, in turn, while an event loop goes on."""

    def take_answer(self, pending: Pending, response: object) -> Ready | Blocked:
        """Return what follows from whatever was answered to a question: anything but an answer blocks its call."""
        raise NotImplementedError


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
