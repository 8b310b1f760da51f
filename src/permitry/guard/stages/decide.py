"""The rules decide, in the session as it is now; then the tool says whether it can take the call."""

import logging

from permitry.config.diagnostics import nearest
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.guard.case import Case, Parts, Step
from permitry.guard.journal import refuse
from permitry.guard.outcome import Cause
from permitry.rules.configured import ConfiguredRule

__all__ = ["decide"]

_LOG = logging.getLogger("permitry.guard")
# Looked up once: that takes longer than to compare it.
_POLICY = Cause.POLICY


def decide(case: Case, parts: Parts) -> Step:
    """Decide; a call that its tool cannot take ends here, with the tool's own words: no human has to be asked."""
    context = AuthContext.from_state(parts.session)
    if parts.session.meet_mode():
        _warn_of_unknown_mode(parts.session.host_mode, parts.policy)
    case = case.with_decision(context, parts.policy.decide(case.call, context, case.spec))
    decision, cause = parts.tools.check(case.call, context, case.decision)
    if cause is _POLICY and decision is case.decision:
        return case
    if cause is _POLICY or case.answer is not None:
        return case._replace(decision=decision, cause=cause)
    return refuse(case, parts, decision, cause)


def _warn_of_unknown_mode(mode: str, policy: AuthorizationPolicy) -> None:
    """Log a warning for a mode that no rule of a file names: a misspelt `plan` would be a session without plan mode."""
    if not any(mode in rule.scope.modes for rule in policy.rules if isinstance(rule, ConfiguredRule)):
        _LOG.warning("no rule knows the mode `%s`; %s", mode, nearest(mode.lower(), ("plan", "yolo", "default")))
