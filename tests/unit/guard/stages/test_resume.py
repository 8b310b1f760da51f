"""What is known of a call from before."""

from typing import Any, ClassVar

from tests.tables import for_each
from tests.unit.guard.stubs import ASKED, CALL, guard_of

from permitry.channels.response import ToolConfirmationResponse
from permitry.errors import LedgerError
from permitry.guard.case import Case
from permitry.guard.handled import HandledCalls
from permitry.guard.ledger import ConfirmationLedger, EarlierQuestion, PendingConfirmation
from permitry.guard.outcome import Blocked, Cause, Pending
from permitry.guard.stages.resume import resume

_QUESTION = PendingConfirmation("p1", CALL, ASKED, 0.0)
_YES, _NO = ToolConfirmationResponse(True), ToolConfirmationResponse(False)


class _Durable(ConfirmationLedger):
    """Knows of a question from before, or cannot say."""

    is_durable: ClassVar[bool] = True
    known: Any = None

    def earlier(self, *_: object) -> Any:  # noqa: ANN401 -- what the test wants
        if isinstance(self.known, Exception):
            raise self.known
        return self.known


def _resume(known: object, case: Case | None = None) -> object:
    ledger = _Durable()
    ledger.known = known
    return resume(case or Case(CALL), guard_of(ledger=ledger))


def test_a_new_call_goes_on_as_it_is() -> None:
    """Nothing is looked for where the id was made here."""
    case = Case(CALL)
    assert _resume(None, case) is case
    own = Case(CALL, is_given=False)
    assert _resume(LedgerError("away"), own) is own


@for_each(
    ("known", "cause"),
    [
        (EarlierQuestion(_QUESTION, _YES, is_open=False), Cause.HANDLED),
        (EarlierQuestion(_QUESTION, _NO, is_open=False), Cause.DECLINED),
        (EarlierQuestion(_QUESTION, None, is_open=False), Cause.UNANSWERED),
        (EarlierQuestion(_QUESTION, None, is_open=False, dropped="too old"), Cause.UNANSWERED),
        (EarlierQuestion(_QUESTION, None, is_open=True, is_recorded=False), Cause.UNANSWERED),
        (LedgerError("away"), Cause.QUESTIONS),
    ],
)
def test_what_was_asked_before_is_not_asked_again(known: object, cause: Cause) -> None:
    """What was approved may have run; what cannot be known does not run."""
    outcome = _resume(known)
    assert isinstance(outcome, Blocked)
    assert outcome.cause is cause


def test_an_id_that_was_used_is_refused() -> None:
    """Whatever became of it is not kept any more."""
    guard = guard_of(handled=HandledCalls(calls=0))
    pending = guard.begin(CALL)
    assert isinstance(pending, Pending)
    guard.withdraw(pending.pending_id, "gone")
    outcome = resume(Case(CALL), guard)
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.HANDLED
