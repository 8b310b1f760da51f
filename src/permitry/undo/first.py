"""Keeps what a call changes before it runs, or decides it as if no permission had kept anything."""

import attrs

from permitry.actions.changes import Change, Undo, changes_of
from permitry.audit.recorder import Recorder
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec
from permitry.errors import UndoError, safe_str

__all__ = ["NOTHING_KEEPS", "Asked", "Kept", "Snapshot", "decide_unkept", "keep_first"]

NOTHING_KEEPS = "nothing here keeps what calls change"
_MESSAGE = "This call needs the user's confirmation before it runs, as what it changes could not be undone."


@attrs.frozen
class Asked:
    """A call that is decided on, with all that its decision depends on."""

    policy: AuthorizationPolicy
    call: ToolCall
    context: AuthContext
    spec: ToolSpec | None


@attrs.frozen
class Kept:
    """What was kept for a call: all that it would change, under the id of an entry."""

    asked: Asked
    changes: tuple[Change, ...]
    entry: str

    def renew(self, undo: Undo) -> "Kept":
        """Return what is kept now that the call starts. Raises: `UndoError`, if it would change more."""
        if _changes(self.asked) != self.changes:
            raise UndoError("the call would change other files by now than were kept for it; make it again")
        return attrs.evolve(self, entry=undo.renew(self.entry))


@attrs.define
class Snapshot:
    """What was kept for one call that may run, for as long as it may."""

    kept: Kept
    undo: Undo
    recorder: Recorder

    def renew(self, call: ToolCall) -> None:
        """Keep again what has changed since the decision. Raises: `UndoError`, and as the recorder."""
        renewed = self.kept.renew(self.undo)
        if renewed != self.kept:
            self.kept = renewed
            self.recorder.record("kept", call, entry=renewed.entry)

    def end(self, _: ToolCall) -> None:
        """Tell that the call has ended."""
        self.undo.ended(self.kept.entry)


def keep_first(asked: Asked, decision: Decision, undo: Undo | None, session: str) -> tuple[Decision, Kept | None]:
    """Return the decision on a call that is allowed if kept first, and what was kept, if anything."""
    if undo is None:
        return decide_unkept(asked, decision, NOTHING_KEEPS), None
    try:
        changes = _changes(asked)
        if not changes:
            return decision, None
        entry = undo.keep(asked.call, changes, session=session, workspace=asked.context.workspace)
        return decision, Kept(asked, changes, entry)
    except Exception as error:  # noqa: BLE001 -- law 2: whatever fails, the call does not run for that permission
        return decide_unkept(asked, decision, safe_str(error)), None


def _changes(asked: Asked) -> tuple[Change, ...]:
    request = asked.policy.request(asked.call, asked.context, asked.spec)
    changes = changes_of(request.actions, request.tool)
    if changes.doubt is not None:
        raise UndoError(changes.doubt)
    if changes.git is None:
        return changes.paths
    from permitry.undo.git import changes_of_git  # noqa: PLC0415 -- most calls need no git

    return changes_of_git(changes.git, asked.context.workspace)


def decide_unkept(asked: Asked, decision: Decision, why: str) -> Decision:
    """Return the decision of the whole policy without permissions of what is kept, and `why`."""
    found = asked.policy.without_keeping.decide(asked.call, asked.context, asked.spec)
    found = attrs.evolve(found, policy_version=decision.policy_version)
    reason = f"`keep` permits only what can be undone: {why}"
    if found.verdict is Verdict.ALLOW and found.keeps:
        # A rule of the session, which this policy does not have.
        verdict = asked.policy.unmatched
        return attrs.evolve(found, verdict=verdict, rule_id=None, phase=Phase.DEFAULT, reason=reason, message=_MESSAGE)
    return attrs.evolve(found, reason=reason) if found.phase is Phase.DEFAULT else found
