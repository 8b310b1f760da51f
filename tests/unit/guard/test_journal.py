"""What goes on record, and blocks that no rule made."""

import attrs
from tests.tables import for_each
from tests.unit.guard.stubs import BLOCKED, CALL, Failing, case_of, guard_of

from permitry.audit.record import MemoryRecorder
from permitry.core.spec import ToolSpec
from permitry.guard.journal import block, record, refuse
from permitry.guard.outcome import Cause


def test_a_refusal_is_on_record_with_the_declaration_it_is_about() -> None:
    """So that a reader knows which tool was meant."""
    recorder, spec = MemoryRecorder(), ToolSpec("x")
    outcome = refuse(case_of(BLOCKED, spec=spec), guard_of(recorder=recorder), BLOCKED, Cause.HANDLED)
    assert outcome.cause is Cause.HANDLED
    (kept,) = recorder.records
    assert (kept["event"], kept["verdict"], kept["tool_digest"]) == ("decided", "block", spec.digest)
    assert kept["arguments"] == {"path": "a"}


def test_a_refusal_that_is_not_recorded_is_still_a_block() -> None:
    """With the words for that."""
    guard = guard_of(recorder=Failing())
    assert record(guard, "decided", CALL, {}) is False
    assert refuse(case_of(BLOCKED), guard, BLOCKED, Cause.HANDLED).cause is Cause.NOT_RECORDED


@for_each(("cause", "is_own"), [(Cause.MISFIT, True), (Cause.UNAVAILABLE, True), (Cause.POLICY, False)])
def test_the_error_message_of_a_tool_reaches_the_model_as_it_is(cause: Cause, is_own: bool) -> None:  # noqa: FBT001 -- a table
    """The notifier has no part in it."""
    decision = attrs.evolve(BLOCKED, message="`path` is missing")
    text = block(case_of(decision, cause=cause), guard_of()).result.text
    assert (text == "`path` is missing") is is_own
