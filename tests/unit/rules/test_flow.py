"""What calls leave behind."""

import pytest

from permitry.conditions.args import argument_condition
from permitry.conditions.command import ArgvPattern
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.action import Actions, Connect, Run, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.core.shared import Limit, SideEffects
from permitry.errors import UnevaluableError
from permitry.rules.flow import FlowRule

CURL = Scope(when=Conditions(commands=(ArgvPattern("curl *"),)))
RUNS = Actions((Run((Word("curl"), Word("x")), "it connects"),))


def _request(actions: Actions = RUNS, tool: str = "bash") -> Request:
    return Request(ToolCall(tool, {"command": "x"}), AuthContext(), reader=lambda *_: actions)


def test_a_call_in_scope_leaves_a_mark() -> None:
    """Any other call leaves none."""
    flow = FlowRule("web", CURL, "untrusted-web")
    assert flow.matches(_request()) is True
    assert flow.matches(_request(Actions((Run((Word("ls"),)),)))) is False


def test_it_is_asked_as_a_restriction_is() -> None:
    """What a call may do besides counts, and what cannot be read is not a no."""
    flow = FlowRule("web", CURL, "untrusted-web")
    assert flow.matches(_request(Actions(possible=RUNS.certain))) is True
    assert flow.matches(_request(Actions((Unknown("$x", "an expansion"),)))) == Unsure(
        "`$x` is not known before it runs", "run `curl *`"
    )
    assert FlowRule("web", Scope((ToolSelector("@network"),))).matches(_request(tool="unheard_of")) is True


def test_what_cannot_be_evaluated_is_an_error_that_leaves_a_mark() -> None:
    """The policy takes it for a yes."""
    flow = FlowRule("big", Scope(when=Conditions((argument_condition("size", {"ge": 9}),))), "big")
    with pytest.raises(UnevaluableError):
        flow.matches(_request())
    assert AuthorizationPolicy(flows=(flow,)).side_effects(ToolCall("bash"), AuthContext()).labels == {"big"}


def test_a_flow_labels_and_counts_as_it_says() -> None:
    """One rule may do either, or both."""
    flows = (FlowRule("a", CURL, "web"), FlowRule("b", CURL, counts=True), FlowRule("c", CURL, "net", counts=True))
    actions = Actions((*RUNS.certain, Connect("h", host="h")))
    policy = AuthorizationPolicy(flows=flows, reader=lambda *_: actions)
    marks = policy.side_effects(_request().call, AuthContext())
    assert marks == SideEffects(frozenset({"web", "net"}), frozenset({"b", "c"}), frozenset({"host:h"}))


def test_a_flow_names_the_shared_budget_for_which_it_counts() -> None:
    """Where its rule has one."""
    limit = Limit("b", "principal", 3, 60.0)
    flows = (FlowRule("a", CURL, counts=True), FlowRule("b", CURL, counts=True, limit=limit))
    policy = AuthorizationPolicy(flows=flows, reader=lambda *_: RUNS)
    assert policy.side_effects(_request().call, AuthContext()).shared == {limit}


def test_a_policy_knows_whether_a_call_can_count_for_others() -> None:
    """Where none can, no store is asked."""
    shared = FlowRule("web", CURL, counts=True, limit=Limit("web", "principal", 2, 60.0))
    assert AuthorizationPolicy([], flows=[FlowRule("own", CURL, counts=True), shared]).shares_budgets
    assert not AuthorizationPolicy([], flows=[FlowRule("own", CURL, counts=True)]).shares_budgets
