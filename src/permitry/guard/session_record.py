"""What goes on record when a session begins: under which circumstances its calls come about."""

from permitry.audit.record import StoredRecorder
from permitry.core.context import AuthContext
from permitry.guard.case import Parts

__all__ = ["begin_session"]


def begin_session(parts: Parts, recorder: StoredRecorder, *, principal: str | None = None) -> None:
    """Record that the session of a guard begins, behind the rules of its policy.

    `principal` is for whom the agent works. Raises: `AuditError`.
    """
    session, policy = parts.session, parts.policy
    context = AuthContext.from_state(session)
    recorder.keep_policy(policy.version, policy, context)
    names = [getattr(each, "name", None) for each in policy.source_files]
    recorder.begin(
        workspace=session.workspace,
        agent=session.agent,
        principal=principal,
        mode=session.mode,
        template=getattr(session.active_template, "name", None),
        attended=session.attended,
        rules=names,
        policy_version=policy.version,
    )
