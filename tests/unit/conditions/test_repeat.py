"""The condition `repeat`."""

import pytest
from tests.tables import for_each

from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.history import Bounds, History, Log, Ran
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request
from permitry.errors import UnevaluableError
from permitry.rules.configured import ConfiguredRule

CALL, OTHER = ToolCall("bash", {"command": "ls"}), ToolCall("bash", {"command": "pwd"})


def _request(*ran: ToolCall) -> Request:
    history = History.of(Ran(float(at), call.tool, "main", call.digest) for at, call in enumerate(ran))
    return Request(CALL, AuthContext(history=history))


@for_each(
    ("ran", "holds"),
    [((), False), ((CALL,), False), ((CALL, CALL), True), ((CALL, OTHER, CALL), True), ((OTHER,) * 5, False)],
)
def test_it_holds_from_the_third_time_on(*, ran: tuple[ToolCall, ...], holds: bool) -> None:
    """The call that is asked about counts, what ran between does not."""
    assert RepeatCondition(3).holds(_request(*ran)) is holds


def test_its_fact_is_how_often_the_call_would_have_run() -> None:
    """The call that is asked about included."""
    assert RepeatCondition(9).fact(_request(CALL, OTHER, CALL)) == "repeat = 3"


def test_a_count_that_is_not_known_any_more_is_a_failure() -> None:
    """Law 2: a restriction then applies, and a permission does not."""
    log = Log(Bounds(calls=1, digests=1))
    for at, call in enumerate((OTHER, ToolCall("bash"), CALL)):
        log.add(Ran(float(at), call.tool, "main", call.digest))
    request = Request(CALL, AuthContext(history=log.history))
    with pytest.raises(UnevaluableError, match="so many calls"):
        RepeatCondition(2).holds(request)
    for effect, priority, verdict in ((Verdict.BLOCK, 150, Verdict.BLOCK), (Verdict.ALLOW, 250, Verdict.CONFIRM)):
        scope = Scope((ToolSelector("bash"),), Conditions((RepeatCondition(2),)))
        policy = AuthorizationPolicy([ConfiguredRule("again", effect, priority, scope)])
        decision = policy.decide(CALL, request.context)
        assert (decision.verdict, [each.rule_id for each in decision.errors]) == (verdict, ["again"])
