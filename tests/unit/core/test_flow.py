"""What calls leave behind, and that what rules rely on is kept."""

from typing import Any, ClassVar, cast

import attrs
import pytest
from tests.tables import for_each
from tests.unit.core.stubs import StubRule

from permitry.core.action import Action, Actions, Connect
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request, Unsure
from permitry.core.shared import SideEffects
from permitry.errors import RuleError

CALL = ToolCall("bash", {"command": "x"})


@attrs.define
class _Relying(StubRule):
    """A rule that relies on a budget and a label."""

    relies_on: ClassVar[SideEffects] = SideEffects(frozenset({"web"}), frozenset({"few"}))


def _reader(*certain: Action) -> Any:  # noqa: ANN401 -- a reader
    return lambda *_: Actions(certain)


@attrs.frozen
class _Flow:
    id: str = "few"
    label: str | None = None
    counts: bool = True
    answer: object = True

    def matches(self, _: Request) -> Any:  # noqa: ANN401 -- what a flow answers is up to it
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@for_each("answer", [True, Unsure("x"), KeyError("x")])
def test_doubt_and_failure_count_as_left(answer: object) -> None:
    """Law 2: only a sure no leaves nothing behind."""
    flows = (_Flow("a", "web", counts=False, answer=answer), _Flow("b", answer=answer), _Flow("c", "no", answer=False))
    policy = AuthorizationPolicy(flows=flows, reader=_reader(Connect("h", host="h")))
    assert policy.side_effects(CALL, AuthContext()) == SideEffects(
        frozenset({"web"}), frozenset({"b"}), frozenset({"host:h"})
    )


def test_a_call_without_targets_is_its_own() -> None:
    """A budget of targets counts what touches nothing by the very call; without a budget nothing is counted."""
    counting = AuthorizationPolicy(flows=(_Flow("a"),), reader=_reader())
    assert counting.side_effects(CALL, AuthContext()).targets == {f"call:{CALL.digest}"}
    labelling = AuthorizationPolicy(flows=(_Flow("a", "web", counts=False),), reader=_reader())
    assert labelling.side_effects(CALL, AuthContext()).targets == frozenset()


@for_each(
    ("flows", "lost"),
    [
        ([], "no flow keeps the budget of `few` and the label `web`"),
        ([_Flow("other", "web")], "no flow keeps the budget of `few`"),
        ([_Flow(label="web", counts=False)], "no flow keeps the budget of `few`"),
        ([_Flow()], "no flow keeps the label `web`"),
    ],
)
def test_a_rule_that_relies_on_what_no_flow_keeps_is_refused(flows: list[_Flow], lost: str) -> None:
    """The message names the rule and the way out."""
    with pytest.raises(RuleError, match=f"rule `few`: {lost}; pass the `flows` of the policy it comes from"):
        AuthorizationPolicy([cast("AnyRule", _Relying("few"))], flows=flows)
