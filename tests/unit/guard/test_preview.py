"""What would become of a call: nothing is left of the question."""

import attrs
from tests.unit.core.stubs import PlainRule
from tests.unit.guard.stubs import CALL, guard_of

from permitry.audit.record import MemoryRecorder
from permitry.core.decision import Verdict
from permitry.guard.outcome import Pending
from permitry.guard.preview import explain, preview


@attrs.frozen
class _Keeping(PlainRule):
    """Permits what is kept first."""

    keeps: bool = True


def test_a_preview_leaves_no_trace() -> None:
    """No record, no question, no count; and the call can still be decided."""
    recorder = MemoryRecorder()
    guard = guard_of(PlainRule("may", Verdict.ALLOW, 250, lambda _: False), recorder=recorder)
    assert preview(CALL, guard).verdict is Verdict.CONFIRM
    assert explain(CALL, guard).decision == preview(CALL, guard)
    assert not recorder.records
    assert not guard.session.counts
    assert isinstance(guard.begin(CALL), Pending)


def test_what_is_only_permitted_if_it_is_kept_is_not_where_nothing_keeps() -> None:
    """Neither in the decision nor in its explanation."""
    guard = guard_of(_Keeping("keeps", Verdict.ALLOW, 250))
    assert preview(CALL, guard).verdict is Verdict.CONFIRM
    assert explain(CALL, guard).decision.verdict is Verdict.CONFIRM
