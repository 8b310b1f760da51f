"""A name that joins server and tool may be that of several tools: which of these readings a call is decided by."""

from collections.abc import Iterable, Sequence

from permitry.core.call import ToolCall
from permitry.core.decision import Decision, Verdict
from permitry.errors import StoreError
from permitry.guard.case import asker_of
from permitry.guard.guard import Guard
from permitry.guard.outcome import Refusal
from permitry.guard.preview import preview
from permitry_hosts.hooks.asking import HostLedger

__all__ = ["count_all", "is_grant", "strictest"]

_LEFT = (Verdict.CONFIRM.strictness, False, False)
_ASKED = (Verdict.CONFIRM.strictness, False, True)
"""How strict rules are about a call that is left to the host, and about one that is asked about."""


def strictest(guard: Guard, ledger: HostLedger, calls: Sequence[ToolCall | Refusal]) -> ToolCall | Refusal:
    """Return the reading of a name that decides; where another one would be asked about as well, nothing permits it.

    A grant, and what is kept first, are for one reading.
    """
    undo, guard.undo = guard.undo, None
    ranks = [_strictness(guard, ledger, each) for each in calls]
    *_, second, first = sorted(ranks)
    if second >= max(_LEFT, min(first, _ASKED)):
        guard.grants = None
    else:
        guard.undo = undo
    return calls[ranks.index(first)]


def count_all(guard: Guard, calls: Iterable[ToolCall | Refusal], used: str | None) -> None:
    """Count readings of a name, and take a use of each grant that permits one; of the grant `used` it was taken.

    Raises: `StoreError` where that fails; then the call must not run.
    """
    taken = {used}
    for call in calls:
        if isinstance(call, ToolCall):
            rule_id = preview(call, guard).rule_id
            if guard.grants is not None and rule_id not in taken and not guard.grants.take_use(rule_id):
                raise StoreError(f"the last use of `{rule_id}` was taken meanwhile, or it was revoked")
            taken.add(rule_id)
            guard.count(call)


def is_grant(guard: Guard, decision: Decision) -> bool:
    """Return whether what decided is none of the rules."""
    known = (getattr(rule, "id", None) for rule in guard.policy.rules)
    return decision.rule_id is not None and decision.rule_id not in known


def _strictness(guard: Guard, ledger: HostLedger, call: ToolCall | Refusal) -> tuple[int, bool, bool]:
    """Return how strict the rules are about one reading of a name, with what was granted, and what is asked."""
    if isinstance(call, Refusal):
        return Verdict.BLOCK.strictness, True, True
    decision, is_open = preview(call, guard), ledger.is_asked(call, asker_of(guard))
    strictness = decision.verdict.strictness
    if is_open and not is_grant(guard, decision):
        # INVARIANT: law 6. No other reading is taken for the one that a human is asked about.
        strictness = max(strictness, Verdict.CONFIRM.strictness)
    return strictness, is_open, decision.rule_id is not None
