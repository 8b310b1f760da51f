"""The policy: which rules it takes, in what order they speak, and what it tells. Laws are in `tests/property/`."""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, cast

import attrs
import pytest
from tests.tables import for_each
from tests.unit.core.stubs import PlainRule, always, never

from permitry.config.default import create_default_authorization_policy
from permitry.config.load import load_policy
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.errors import CallError, RuleError
from permitry.rules.configured import ConfiguredRule

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK


def _noting(seen: list[Request]) -> Callable[[Request], bool]:
    def note(request: Request) -> bool:
        seen.append(request)
        return True

    return note


def _decide(*rules: Any, tool: str = "bash") -> Decision:  # noqa: ANN401 -- also what is not a rule
    return AuthorizationPolicy(rules).decide(ToolCall(tool), AuthContext())


# The rules a policy takes -----------------------------------------------------------------------------------------


@for_each(
    ("effect", "priority"),
    [
        (ALLOW, 0),
        (ALLOW, 99),
        (CONFIRM, 100),
        (BLOCK, 100),
        (CONFIRM, 199),
        (BLOCK, 199),
        (ALLOW, 200),
        (CONFIRM, 200),
        (ALLOW, 399),
        (CONFIRM, 399),
    ],
)
def test_a_band_takes_its_effects(effect: Verdict, priority: int) -> None:
    """Both ends of every band belong to it."""
    assert _decide(PlainRule("r", effect, priority)).verdict is effect


@for_each(
    ("effect", "priority"),
    [
        *((ALLOW, priority) for priority in (-1, 100, 150, 199, 400)),
        *((CONFIRM, priority) for priority in (-1, 0, 99, 400)),
        *((BLOCK, priority) for priority in (-1, 0, 99, 200, 399, 400)),
    ],
)
def test_a_band_refuses_other_effects(effect: Verdict, priority: int) -> None:
    """A rule whose priority and effect do not fit is a bad rule, and the error says which fit."""
    with pytest.raises(RuleError, match=rf"^rule `r`: priority {priority} does not fit .* 100 to 199 confirm or block"):
        _decide(PlainRule("r", effect, priority))


@for_each("priority", [None, "100", 150.0, True])
def test_a_priority_is_a_whole_number(priority: object) -> None:
    """Anything that only looks like a whole number is refused."""
    with pytest.raises(RuleError, match=r"^rule `r`: the priority must be a whole number"):
        _decide(PlainRule("r", BLOCK, cast("int", priority)))


@for_each("rule_id", ["", None, 7, b"r"])
def test_a_rule_has_an_id(rule_id: object) -> None:
    """An id is text, and not empty."""
    with pytest.raises(RuleError, match=r"^`PlainRule` has no id$"):
        _decide(PlainRule(cast("str", rule_id), BLOCK, 150))


def test_an_id_occurs_once() -> None:
    """Two rules of one id are refused, also across phases."""
    with pytest.raises(RuleError, match=r"^two rules have the id `r`$"):
        _decide(PlainRule("r", BLOCK, 150), PlainRule("other", BLOCK, 150), PlainRule("r", ALLOW, 250))


@for_each("thing", [object(), "rule", None, ToolCall("bash")])
def test_what_is_no_rule_is_refused(thing: object) -> None:
    """Neither an effect nor the two methods of the seed: no rule."""
    with pytest.raises(RuleError, match="is not a rule"):
        _decide(thing)


def test_rules_may_come_from_any_iterable() -> None:
    """A generator is read once, and kept as a tuple."""
    policy = AuthorizationPolicy(PlainRule(f"r{i}", BLOCK, 150 + i) for i in range(3))
    assert [rule.priority() for rule in policy.rules] == [150, 151, 152]


# The order in which they speak ------------------------------------------------------------------------------------


@for_each("unmatched", [CONFIRM, BLOCK])
def test_what_no_rule_matches_gets_the_verdict_of_the_policy(unmatched: Verdict) -> None:
    """The message says that no rule permits it, and the version of the policy is another one."""
    policy = AuthorizationPolicy(unmatched=unmatched).with_rules(PlainRule("r", ALLOW, 200, never))
    decision = policy.decide(ToolCall("x"), AuthContext())
    assert (decision.verdict, decision.rule_id, decision.phase) == (unmatched, None, Phase.DEFAULT)
    assert str(decision.message).startswith("No rule permits this call" if unmatched is BLOCK else "This call needs")
    assert (policy.version == AuthorizationPolicy(policy.rules).version) is (unmatched is CONFIRM)
    assert pickle.loads(pickle.dumps(AuthorizationPolicy(unmatched=unmatched))).unmatched is unmatched  # noqa: S301 -- our own


def test_nothing_is_allowed_because_no_rule_matched() -> None:
    """A policy that would is refused."""
    with pytest.raises(ValueError, match="unmatched"):
        AuthorizationPolicy(unmatched=ALLOW)


def test_no_rule_means_confirm() -> None:
    """An empty policy asks about everything, and says that no rule matched."""
    decision = _decide()
    assert (decision.verdict, decision.rule_id, decision.phase) == (CONFIRM, None, Phase.DEFAULT)
    assert (decision.reason, decision.errors, decision.source) == ("no rule matched", (), None)


def test_an_override_comes_before_a_block() -> None:
    """Phase 0 speaks first."""
    decision = _decide(PlainRule("block", BLOCK, 100), PlainRule("over", ALLOW, 99))
    assert (decision.verdict, decision.rule_id, decision.phase) == (ALLOW, "over", Phase.OVERRIDE)


def test_an_override_that_does_not_match_is_no_override() -> None:
    """Without a match, phase 1 is next."""
    assert _decide(PlainRule("over", ALLOW, 0, never), PlainRule("block", BLOCK, 199)).verdict is BLOCK


def test_a_block_comes_before_a_confirm_of_lower_number() -> None:
    """All restrictions are collected, and the strictest wins."""
    decision = _decide(PlainRule("ask", CONFIRM, 100), PlainRule("block", BLOCK, 199))
    assert (decision.verdict, decision.rule_id, decision.phase) == (BLOCK, "block", Phase.RESTRICTION)


def test_of_two_blocks_the_lower_number_is_named() -> None:
    """Among equals the first by priority decides, whatever the order given."""
    assert (
        _decide(PlainRule("late", BLOCK, 160), PlainRule("early", BLOCK, 120), PlainRule("ask", CONFIRM, 100)).rule_id
        == "early"
    )


def test_of_two_equals_the_first_given_is_named() -> None:
    """Within one priority the order given is kept."""
    assert _decide(PlainRule("z", ALLOW, 250), PlainRule("a", ALLOW, 250)).rule_id == "z"


@for_each("effect", [CONFIRM, BLOCK])
def test_a_restriction_comes_before_every_permission(effect: Verdict) -> None:
    """Phase 2 does not speak when phase 1 did."""
    decision = _decide(PlainRule("yes", ALLOW, 200), PlainRule("no", effect, 199))
    assert (decision.verdict, decision.phase) == (effect, Phase.RESTRICTION)


def test_the_first_permission_is_named() -> None:
    """In phase 2 the lowest number that matches decides."""
    decision = _decide(PlainRule("b", ALLOW, 300), PlainRule("a", ALLOW, 250), PlainRule("not", ALLOW, 200, never))
    assert (decision.verdict, decision.rule_id, decision.phase) == (ALLOW, "a", Phase.PERMISSION)


def test_rules_see_call_context_and_spec() -> None:
    """The request holds the very objects given."""
    seen: list[Request] = []
    policy = AuthorizationPolicy([PlainRule("r", ALLOW, 250, _noting(seen))])
    call, context, spec = ToolCall("bash", {"a": 1}), AuthContext(agent="x"), ToolSpec("bash", traits=ToolTraits())
    policy.decide(call, context, spec)
    assert (seen[0].call, seen[0].context, seen[0].spec) == (call, context, spec)


def test_a_permission_is_not_asked_after_a_restriction_matched() -> None:
    """What cannot change the verdict is not evaluated."""
    asked: list[Request] = []
    _decide(PlainRule("no", BLOCK, 150), PlainRule("yes", ALLOW, 250, _noting(asked)))
    assert asked == []


# What a decision tells --------------------------------------------------------------------------------------------


def test_a_decision_carries_the_words_of_its_rule() -> None:
    """Reason, message and source are the rule's own."""
    decision = _decide(PlainRule("r", BLOCK, 150, reason="why", message="what to do", source="rules.toml:3"))
    assert (decision.reason, decision.message, decision.source) == ("why", "what to do", "rules.toml:3")


@for_each(
    ("effect", "priority", "words"),
    [(CONFIRM, 150, "needs the user's confirmation before it runs"), (BLOCK, 150, "did not run")],
)
def test_the_model_is_shown_the_reason_by_default(effect: Verdict, priority: int, words: str) -> None:
    """A rule without a message has one all the same, which names no rule, and says a way out."""
    for reason, shown in (("moves money", ": moves money. "), ("It moves money.", ": It moves money. "), ("", ". ")):
        message = _decide(PlainRule("secret-rule", effect, priority, reason=reason)).message
        assert message is not None
        assert words + shown in message
        assert "go on without it" in message.lower()
        assert "secret" not in message


def test_an_empty_message_is_a_message() -> None:
    """Only None means the default."""
    assert _decide(PlainRule("r", BLOCK, 150, message="")).message == ""


def test_an_allow_tells_the_model_nothing() -> None:
    """A call that runs needs no message."""
    assert _decide(PlainRule("r", ALLOW, 250)).message is None


def test_equal_questions_share_one_decision() -> None:
    """A decision without errors is made once."""
    policy = AuthorizationPolicy([PlainRule("r", BLOCK, 150)])
    first = policy.decide(ToolCall("a"), AuthContext())
    assert policy.decide(ToolCall("b"), AuthContext()) is first


def test_every_decision_names_the_version_of_the_policy() -> None:
    """Deciding rule or not, the version is there."""
    for rules in ((), (PlainRule("r", BLOCK, 150),), (PlainRule("r", ALLOW, 250),)):
        policy = AuthorizationPolicy(rules)
        assert policy.decide(ToolCall("a"), AuthContext()).policy_version == policy.version != ""


def test_the_version_is_for_the_rules() -> None:
    """Equal rules have one version, other rules or another order have another."""
    one, other = PlainRule("a", BLOCK, 150), PlainRule("b", BLOCK, 150)
    policies = [
        AuthorizationPolicy(rules)
        for rules in ((one, other), (other, one), (one,), (attrs.evolve(one, reason="x"),), ())
    ]
    assert len({policy.version for policy in policies}) == len(policies)
    assert AuthorizationPolicy([PlainRule("a", BLOCK, 150)]).version == AuthorizationPolicy([one]).version


def test_a_rule_that_cannot_be_shown_fails_no_decision() -> None:
    """Its class represents it in the version, which is made when the first decision needs it."""

    @attrs.frozen
    class _Mute(PlainRule):
        def __repr__(self) -> str:
            raise ValueError("on purpose")

    policies = [AuthorizationPolicy([_Mute(rule_id, BLOCK, 150)]) for rule_id in ("a", "b")]
    assert policies[0].decide(ToolCall("x"), AuthContext()).verdict is BLOCK
    assert policies[0].version == policies[1].version != AuthorizationPolicy().version


def test_a_decision_that_is_made_twice_at_once_is_one() -> None:
    """The one who comes second takes the one of the first: here, while the version is still being worked out."""
    found: list[Decision | None] = []

    @attrs.frozen
    class _Telling(PlainRule):
        def __repr__(self) -> str:
            if not found:
                found.append(None)
                found.extend(policy.decide(ToolCall(tool), AuthContext()) for tool in ("bash", "other"))
            return "telling"

        def matches(self, request: Request) -> bool:
            return request.call.tool == "bash"

    policy = AuthorizationPolicy([_Telling("r", BLOCK, 150)])
    later = [policy.decide(ToolCall(tool), AuthContext()) for tool in ("bash", "other")]
    assert [a is b for a, b in zip(found[1:], later, strict=True)] == [True, True]


def test_policies_are_equal_when_their_rules_and_versions_are() -> None:
    """What compares equal and is written otherwise makes another policy."""
    policy, same, other = (
        AuthorizationPolicy([PlainRule("a", BLOCK, 150, reason=cast("Any", n))]) for n in (1, 1, True)
    )
    assert policy == same != other
    assert hash(policy) == hash(same)
    assert policy != cast("object", policy.version)


def test_a_policy_is_shown_by_its_size_and_its_version() -> None:
    """It may have a thousand rules."""
    policy = AuthorizationPolicy([PlainRule("a", BLOCK, 150), PlainRule("b", BLOCK, 150)])
    assert repr(policy) == f"<AuthorizationPolicy: rules=2, files=0, version={policy.version}>"


def test_the_version_is_the_same_in_another_process() -> None:
    """A record of yesterday names the rules of today."""
    code = (
        "from permitry.config.default import create_default_authorization_policy as create;"
        "from permitry.rules.configured import ConfiguredRule;"
        "from permitry.core.decision import Verdict;"
        "from permitry.core.call import PayloadKind;"
        "from permitry.core.spec import ToolSpec;"
        "declared = {'x': ToolSpec('x', kinds=PayloadKind)};"
        "print(create([ConfiguredRule('r', Verdict.BLOCK, 150)], declared=declared).version)"
    )
    # A set of kinds is printed in another order under another seed.
    seeded = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2", "3")]
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=each) for each in seeded]
    assert len({run.stdout for run in runs}) == 1
    assert runs[0].stdout.strip() != b""


# Rules with the two methods of the seed ---------------------------------------------------------------------------


class SeedRule:
    """A rule as the seed writes them."""

    def __init__(self, priority: object = 250, answer: object = True) -> None:  # noqa: FBT002 -- the usual answer
        self._priority = priority
        self._answer = answer

    def priority(self) -> int:
        """Return the given priority."""
        return cast("int", self._priority)

    def should_allow_without_confirmation(self, tool_name: str, context: AuthContext) -> bool:
        """Return the given answer, or that of the given function."""
        return cast("bool", self._answer(tool_name, context) if callable(self._answer) else self._answer)


@for_each("priority", [0, 50, 99, 100, 150, 199, 200, 310, 399])
def test_two_methods_make_a_permission(priority: int) -> None:
    """Whatever its priority, such a rule permits in phase 2, under the name of its class."""
    decision = _decide(SeedRule(priority))
    assert (decision.verdict, decision.rule_id, decision.phase) == (ALLOW, "seed-rule", Phase.PERMISSION)
    assert (decision.reason, decision.message, decision.source) == ("SeedRule permits it", None, None)


@for_each("priority", [0, 50, 150, 250])
@for_each("effect", [CONFIRM, BLOCK])
def test_two_methodsnever_beat_a_restriction(priority: int, effect: Verdict) -> None:
    """A restriction speaks before every such rule."""
    assert _decide(SeedRule(priority), PlainRule("no", effect, 199)).rule_id == "no"


@for_each("priority", [50, 150, 250])
def test_two_methods_that_do_not_permit_leave_the_default(priority: int) -> None:
    """False restricts nothing and permits nothing."""
    assert _decide(SeedRule(priority, answer=False)).verdict is CONFIRM
    assert _decide(SeedRule(priority, answer=False), PlainRule("yes", ALLOW, 399)).verdict is ALLOW


def test_two_methods_are_asked_by_name_and_context() -> None:
    """The name is the one rules see, the context the very one."""
    context = AuthContext(agent="x")
    policy = AuthorizationPolicy([SeedRule(answer=lambda *asked: asked == ("mcp:docs/search", context))])
    assert policy.decide(ToolCall("search", server="docs"), context).verdict is ALLOW
    assert policy.decide(ToolCall("search"), context).verdict is CONFIRM


def test_two_rules_of_one_class_have_two_names() -> None:
    """The second one is numbered, in the order given."""
    rules = [SeedRule(300, answer=False), SeedRule(250, answer=False), SeedRule(200)]
    assert _decide(*rules).rule_id == "seed-rule-3"


@for_each("priority", [-1, 400, 1000])
def test_two_methods_need_a_priority_within_the_bands(priority: int) -> None:
    """Outside 0 to 399 there is no rule."""
    with pytest.raises(RuleError, match=rf"^rule `seed-rule`: priority {priority} is outside 0 to 399$"):
        _decide(SeedRule(priority))


def test_two_methods_need_a_whole_number() -> None:
    """A priority of another type is refused."""
    with pytest.raises(RuleError, match=r"^rule `seed-rule`: the priority must be a whole number, not None$"):
        _decide(SeedRule(None))


def test_a_full_rule_and_a_two_method_rule_of_one_name_live_together() -> None:
    """The name of a class gives way to an id that is taken."""
    assert _decide(PlainRule("seed-rule", ALLOW, 250, never), SeedRule(300)).rule_id == "seed-rule-2"


def test_a_full_rule_may_not_take_the_name_of_a_class() -> None:
    """The other way round, the id is a duplicate."""
    with pytest.raises(RuleError, match=r"^two rules have the id `seed-rule`$"):
        _decide(SeedRule(300), PlainRule("seed-rule", ALLOW, 250))


# Asking by name ---------------------------------------------------------------------------------------------------


@for_each(
    ("effect", "priority", "confirms", "blocks"),
    [(ALLOW, 250, False, False), (CONFIRM, 150, True, False), (BLOCK, 150, True, True)],
)
def test_the_booleans_of_the_seed(*, effect: Verdict, priority: int, confirms: bool, blocks: bool) -> None:
    """`should_confirm` is true for CONFIRM and for BLOCK, `is_tool_blocked` for BLOCK alone."""
    policy = AuthorizationPolicy([PlainRule("r", effect, priority)])
    assert policy.should_confirm("bash", AuthContext()) is confirms
    assert policy.is_tool_blocked("bash", AuthContext()) is blocks


@for_each("name", ["", " bash", "mcp:docs"])
def test_a_bad_name_isnever_a_no(name: str) -> None:
    """What is not a tool name gets no answer."""
    policy = AuthorizationPolicy([PlainRule("r", ALLOW, 250)])
    with pytest.raises(CallError):
        policy.should_confirm(name, AuthContext())
    with pytest.raises(CallError):
        policy.is_tool_blocked(name, AuthContext())


# Frozen -----------------------------------------------------------------------------------------------------------


def test_a_policy_does_not_follow_its_rules() -> None:
    """A rule that changes its effect or words after the policy is built changes no decision."""
    rule = attrs.make_class("Loose", [], bases=(PlainRule,), frozen=False, slots=False)("r", BLOCK, 150)
    policy = AuthorizationPolicy([rule])
    rule.__dict__["effect"] = ALLOW
    assert policy.decide(ToolCall("a"), AuthContext()).verdict is BLOCK


@for_each("field", ["rules", "version", "_restrictions", "_default"])
def test_no_field_of_a_policy_can_be_set(field: str) -> None:
    """A policy is frozen."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(AuthorizationPolicy(), field, ())


def test_a_restriction_that_asks_lifts_no_block_of_what_nothing_permits() -> None:
    """It is asked about what is permitted; a question among the permissions is asked by itself."""
    asks = PlainRule("asks", CONFIRM, 160, always)
    for more, expected in (
        ((), (BLOCK, None)),
        ((PlainRule("may", ALLOW, 250, always),), (CONFIRM, "asks")),
        ((PlainRule("question", CONFIRM, 250, always),), (CONFIRM, "asks")),
        ((PlainRule("never", BLOCK, 150, always),), (BLOCK, "never")),
    ):
        decision = AuthorizationPolicy((asks, *more), unmatched=BLOCK).decide(ToolCall("t"), AuthContext())
        assert (decision.verdict, decision.rule_id) == expected


def _fail(request: Request) -> bool:
    raise KeyError(request.call.tool)


@for_each("doubt", [_fail, lambda _: Unsure("`$x` is not known", likeness=3)])
def test_a_question_in_doubt_makes_no_question_of_what_nothing_permits(
    doubt: Callable[[Request], bool | Unsure],
) -> None:
    """Without it the call would be blocked; with a rule that matches for certain, before or after it, it would not."""
    asks = PlainRule("asks", CONFIRM, 250, doubt)
    for more, expected in (
        ((), (BLOCK, None)),
        ((PlainRule("never", ALLOW, 300, never),), (BLOCK, None)),
        ((PlainRule("as-well", CONFIRM, 260, doubt),), (BLOCK, None)),
        ((PlainRule("restricts", CONFIRM, 150, always),), (BLOCK, None)),
        ((PlainRule("may", ALLOW, 300, always),), (CONFIRM, "asks")),
        ((PlainRule("question", CONFIRM, 300, always),), (CONFIRM, "asks")),
        ((PlainRule("may", ALLOW, 210, always),), (ALLOW, "may")),
    ):
        rules = (asks, *more)
        decision = AuthorizationPolicy(rules, unmatched=BLOCK).decide(ToolCall("t"), AuthContext())
        assert (decision.verdict, decision.rule_id) == expected
        assert AuthorizationPolicy(rules).decide(ToolCall("t"), AuthContext()).verdict is (
            ALLOW if expected[0] is ALLOW else CONFIRM
        )


@attrs.frozen
class _Keeping(PlainRule):
    """Permits only what is kept first."""

    keeps: bool = True


def test_what_is_kept_for_an_agent_above_is_kept_in_the_explanation_too() -> None:
    """`explain` and `decide` give one decision, that of the strictest context, kept where any of them says so."""
    keeping = _Keeping("keeps", ALLOW, 220, lambda request: request.context.agent == "main")
    policy = AuthorizationPolicy([keeping, PlainRule("may", ALLOW, 250)])
    context = AuthContext(agent="helper", parent=AuthContext(agent="main"))
    decision = policy.decide(ToolCall("t"), context)
    assert (decision.rule_id, decision.keeps) == ("may", True)
    assert policy.explain(ToolCall("t"), context).decision == decision


def test_a_restriction_stays_where_nothing_is_kept() -> None:
    """Whatever it says about keeping: only a permission may be taken back for that."""
    policy = AuthorizationPolicy([_Keeping("no", BLOCK, 150), _Keeping("may", ALLOW, 250)])
    assert [rule.id for rule in cast("list[PlainRule]", policy.without_keeping.rules)] == ["no"]


def test_what_its_registry_wants_asked_about_is_asked_about() -> None:
    """Whatever permits it; a block stays one, and what overrides permits it."""
    spec, call = ToolSpec("pay", requires_approval=True), ToolCall("pay")
    policy = create_default_authorization_policy()
    yolo = AuthContext(yolo_mode=True)
    decision = policy.decide(call, yolo, spec)
    assert (decision.verdict, decision.rule_id, decision.is_question_of_rule) == (CONFIRM, "requires-approval", True)
    assert policy.decide(call, yolo, spec) is decision
    assert policy.explain(call, yolo, spec).decision == decision
    assert decision.policy_version == policy.version
    assert policy.decide(call, yolo, ToolSpec("pay")).verdict is ALLOW
    assert policy.decide(call, AuthContext(is_plan_mode=True), spec).verdict is BLOCK
    plan = attrs.evolve(spec, name="present_plan")
    assert policy.decide(ToolCall("present_plan"), AuthContext(is_plan_mode=True), plan).phase is Phase.OVERRIDE


@pytest.mark.parametrize("effect", [ALLOW, BLOCK])
def test_a_rule_may_have_the_id_of_the_question_about_a_tool(effect: Verdict) -> None:
    """Its decision is not taken for that question, nor the question for its decision."""
    spec, call = ToolSpec("pay", requires_approval=True), ToolCall("pay")
    priority, expected = {ALLOW: (200, CONFIRM), BLOCK: (150, BLOCK)}[effect]
    policy = AuthorizationPolicy([PlainRule("requires-approval", effect, priority)])
    for _ in range(2):
        assert policy.decide(call, AuthContext(), spec).verdict is expected
        assert policy.decide(call, AuthContext()).verdict is effect


def test_it_is_asked_about_for_sub_agents_and_declared_tools_as_well() -> None:
    """Each context of the family is decided in the same way; a rule file takes nothing back."""
    spec = ToolSpec("pay", requires_approval=True)
    policy = create_default_authorization_policy(declared={"pay": ToolSpec("pay", roles={})})
    child = AuthContext(yolo_mode=True, parent=AuthContext(yolo_mode=True))
    assert policy.decide(ToolCall("pay"), child, spec).rule_id == "requires-approval"


def test_every_restriction_that_applies_is_listed() -> None:
    """The strictest first; one that only may apply is there if no other does."""
    rules = (
        PlainRule("asks", CONFIRM, 150),
        PlainRule("blocks", BLOCK, 160),
        PlainRule("may", BLOCK, 140, lambda _: Unsure("it is open")),
        PlainRule("not", BLOCK, 130, never),
        PlainRule("permits", ALLOW, 250),
    )
    for given, expected in ((rules, ["blocks", "asks"]), (rules[2:], ["may"]), (rules[3:], [])):
        found = AuthorizationPolicy(given).restrictions_on(ToolCall("bash"), AuthContext())
        assert [each.rule_id for each in found] == expected


# Observed rules ---------------------------------------------------------------------------------------------------


def _watching(*observed: PlainRule) -> AuthorizationPolicy:
    """Return a policy that permits everything, and observes more."""
    rules = (PlainRule("may", ALLOW, 250),)
    return AuthorizationPolicy(rules, observed=AuthorizationPolicy((*rules, *observed)))


def test_what_observed_rules_would_decide_is_asked_for_alone() -> None:
    """A decision never asks them."""
    seen: list[Request] = []
    policy = _watching(PlainRule("no", BLOCK, 150, _noting(seen)))
    assert policy.decide(ToolCall("x"), AuthContext()).rule_id == "may"
    assert not seen
    would = policy.would(ToolCall("x"), AuthContext())
    assert would is not None
    assert (would.verdict, would.rule_id, len(seen)) == (BLOCK, "no", 1)


def test_nothing_is_said_where_observed_rules_change_nothing() -> None:
    """Neither the verdict nor the rule; and not where there are none."""
    assert _watching(PlainRule("no", BLOCK, 150, never)).would(ToolCall("x"), AuthContext()) is None
    assert AuthorizationPolicy().would(ToolCall("x"), AuthContext()) is None


def test_for_the_rules_of_a_session_one_policy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """No second one where nothing is observed."""
    policy = AuthorizationPolicy((PlainRule("may", ALLOW, 250),))
    made: list[AuthorizationPolicy] = []
    init = AuthorizationPolicy.__attrs_post_init__

    def note(new: AuthorizationPolicy) -> None:
        made.append(new)
        init(new)

    monkeypatch.setattr(AuthorizationPolicy, "__attrs_post_init__", note)
    policy.within(AuthContext(rules=RuleSet()))
    assert len(made) == 1


def test_the_version_is_for_the_observed_rules_as_well() -> None:
    """And for none where there are none, as it was before."""
    none = AuthorizationPolicy((PlainRule("may", ALLOW, 250),))
    versions = {
        none.version,
        _watching(PlainRule("no", BLOCK, 150, never)).version,
        _watching(PlainRule("no", BLOCK, 151, never)).version,
    }
    assert len(versions) == 3
    assert attrs.evolve(_watching(PlainRule("no", BLOCK, 150, never)), observed=None).version == none.version


def test_more_rules_are_observed_with_the_others() -> None:
    """So are lists; a copy in another process has them too."""
    policy = _watching(PlainRule("no", BLOCK, 150)).with_rules(PlainRule("ask", CONFIRM, 160))
    assert policy.decide(ToolCall("x"), AuthContext()).rule_id == "ask"
    assert policy.observed is not None
    assert {getattr(rule, "id", None) for rule in policy.observed.rules} == {"may", "no", "ask"}
    policy = create_default_authorization_policy(observed=create_default_authorization_policy())
    assert pickle.loads(pickle.dumps(policy)).observed == policy.observed  # noqa: S301 -- our own


def test_no_session_fails_because_of_an_observed_rule() -> None:
    """Its own rules count, and what they would be together with the observed ones is not said."""
    policy = _watching(PlainRule("no", BLOCK, 150))
    own = RuleSet((ConfiguredRule("no", CONFIRM, 150),))
    context = AuthContext(rules=own)
    assert policy.decide(ToolCall("x"), context).verdict is CONFIRM
    assert policy.would(ToolCall("x"), context) is None


def test_no_list_of_a_session_fails_because_of_an_observed_rule() -> None:
    """Values that only an observed rule cannot use are fine for the others."""
    rule = '[[rule]]\nid = "{}"\neffect = "block"\ntools = ["x"]\nwhen.{} = "@names"\n'
    text = f"schema = 1\n[list.names]\nvalues = []\n{rule.format('one', 'args.n.in')}{rule.format('two', 'host')}"
    policy = load_policy(f"{text}enforce = false\n")
    call, context = ToolCall("x", {"n": "a b"}), AuthContext(lists={"names": ["a b"]})
    assert policy.decide(call, context).rule_id == "one"
    assert policy.would(call, context) is None


def test_an_explanation_says_what_would_be_decided() -> None:
    """In a line below the reason."""
    explained = _watching(PlainRule("no", BLOCK, 150)).explain(ToolCall("x"), AuthContext())
    assert explained.would is not None
    assert "  observed    would block, by no" in str(explained)
    assert "observed" not in str(AuthorizationPolicy().explain(ToolCall("x"), AuthContext()))
