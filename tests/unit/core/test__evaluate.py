"""The evaluation of a request: phase by phase, every restriction asked, and nothing allowed by a failure."""

from typing import Any, cast

import attrs
from tests.tables import for_each
from tests.unit.core.stubs import StubRule

from permitry.core._evaluate import Phases, list_restrictions
from permitry.core.action import Actions, Run, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.compile import compile_rules
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, DecisionCache, Verdict
from permitry.core.policy import evaluate
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ArgumentRole, ToolSpec

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
TWO = Actions((Run((Word("a"),)), Run((Word("b"),))))
OPEN = Actions((*TWO.certain, Unknown("", "open")), doubt="open")
SHELL = ToolSpec("t", roles={"command": ArgumentRole.COMMAND})


def _phases(*rules: object) -> Phases:
    version = DecisionCache(lambda: "v1")
    return Phases.of(sorted(compile_rules(cast("Any", rules), version), key=lambda entry: entry.priority), version)


def _request(actions: Actions = TWO, spec: ToolSpec = SHELL) -> Request:
    return Request(ToolCall("t"), AuthContext(), spec, lambda *_: actions)


def _decided(*rules: object, actions: Actions = TWO, spec: ToolSpec = SHELL) -> Decision:
    return evaluate(_request(actions, spec), _phases(*rules))


def test_without_rules_a_human_is_asked() -> None:
    """An empty rule set allows nothing."""
    assert _decided().verdict is CONFIRM


def test_a_restriction_goes_before_a_permission() -> None:
    """And an override before both."""
    allow, block = (
        StubRule("allow", priority_number=399),
        StubRule("block", effect=BLOCK, priority_number=199),
    )
    assert _decided(allow, block).rule_id == "block"
    assert _decided(allow, block, StubRule("over", priority_number=99)).rule_id == "over"


def test_every_restriction_is_asked_and_the_strictest_counts() -> None:
    """Also after one that matched: a failure further on belongs in the record."""
    rules = [
        StubRule("ask", effect=CONFIRM, priority_number=100),
        StubRule("first", effect=BLOCK, priority_number=110),
        StubRule("second", effect=BLOCK, priority_number=120),
        StubRule("fails", ValueError("broken"), effect=CONFIRM, priority_number=130),
    ]
    found = _decided(*rules)
    assert (found.verdict, found.rule_id) == (BLOCK, "first")
    assert [failure.rule_id for failure in found.errors] == ["fails"]
    assert [each.asked for each in rules] == [1, 1, 1, 1]


def test_of_rules_that_are_unsure_the_first_is_named() -> None:
    """Unless one is sure; all are asked in any case, as one may be stricter."""
    rules = [
        StubRule(name, answer, effect=BLOCK, priority_number=number)
        for name, answer, number in (("no", False, 110), ("may", Unsure("x"), 120), ("might", Unsure("y"), 130))
    ]
    sure = StubRule("sure", effect=CONFIRM, priority_number=140)
    assert _decided(*rules).rule_id == "may"
    assert _decided(*rules, sure).rule_id == "sure"
    assert [each.asked for each in (*rules, sure)] == [2, 2, 2, 1]


def test_of_equals_a_rule_that_is_sure_is_named() -> None:
    """Among those in doubt, the one that the call looks most like."""
    vague, like = Unsure("open", likeness=0), Unsure("open", likeness=2)
    rules = [
        StubRule("vague", vague, effect=BLOCK, priority_number=100),
        StubRule("like", like, effect=BLOCK, priority_number=110),
    ]
    assert _decided(*rules).rule_id == "like"
    assert _decided(*rules, StubRule("sure", effect=CONFIRM, priority_number=120)).rule_id == "sure"


def test_of_equals_the_narrower_rule_is_named() -> None:
    """But the most general one of those that look like nothing in the call."""
    for answer, named in ((Unsure("open"), "wide"), (Unsure("open", likeness=1), "narrow"), (True, "narrow")):
        rules = [
            StubRule(name, answer, effect=BLOCK, priority_number=150, specificity=specificity)
            for name, specificity in (("wide", (1, 0)), ("narrow", (2, 3)))
        ]
        assert _decided(*rules).rule_id == named


def test_all_restrictions_that_apply_are_listed() -> None:
    """The strictest first; of those that only may apply, the most likely one where no other does."""
    may, might = (StubRule(f"may{n}", Unsure("x", likeness=n), effect=CONFIRM, priority_number=110) for n in (1, 0))
    sure = [StubRule("ask", effect=CONFIRM, priority_number=120), StubRule("no", effect=BLOCK, priority_number=130)]
    joined = StubRule("joined", Unsure("x", likeness=4, by="y"), effect=BLOCK, priority_number=140)
    others = StubRule("other", answer=False, effect=BLOCK, priority_number=150), StubRule("yes")
    for rules, named in (
        ((may, might, *sure, joined, *others), ["no", "ask", "joined"]),
        ((might, may, *others), ["may1"]),
        (others, []),
    ):
        assert [each.rule_id for each in list_restrictions(_phases(*rules), _request())] == named


def test_permissions_allow_a_call_together() -> None:
    """Once not one of its actions is left."""
    first, second = (
        StubRule("a", answer=False, covered={0}),
        StubRule("b", answer=False, covered={1}),
    )
    assert _decided(first).verdict is CONFIRM
    assert _decided(first, second).verdict is ALLOW


def test_what_a_permission_that_keeps_has_a_part_in_is_kept() -> None:
    """Alone, or for an action that no other permission covers; whichever of them decides."""
    keeping, other = StubRule("k", False, frozenset({0}), keeps=True), StubRule("o", False, frozenset({1}))
    for rules in ((keeping, other), (other, keeping)):
        assert _decided(*rules).keeps
    assert _decided(StubRule("k", keeps=True)).keeps
    assert not _decided(StubRule("all", False, frozenset({0, 1})), keeping).keeps
    assert not _decided(attrs.evolve(other, id="first", covered=frozenset({0})), keeping, other).keeps
    assert not _decided(keeping, StubRule("plain")).keeps


@for_each("changes", [{"spec": ToolSpec("t")}, {"actions": OPEN}])
def test_what_is_not_known_is_not_shared(changes: dict[str, Any]) -> None:
    """A tool of unknown arguments, or a call that cannot be read, is permitted as a whole or not at all."""
    assert _decided(StubRule("a", answer=False, covered={0, 1, 2}), **changes).verdict is CONFIRM


def test_a_permission_that_fails_covers_nothing() -> None:
    """Even if it said before that it covers all."""
    found = _decided(StubRule("a", ValueError("broken"), {0, 1}))
    assert (found.verdict, len(found.errors)) == (CONFIRM, 1)
