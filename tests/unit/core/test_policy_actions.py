"""Laws 3 and 4, one case at a time: what permissions cover together, what a restriction does in doubt, and children."""

import copy
from collections.abc import Callable
from typing import Any

import attrs
from tests.tables import for_each

from permitry.core.action import Access, Action, Actions, Connect, Delegate, Place, Run, Touch, Unknown, Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.explanation import RuleOutcome
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request, Unsure
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits

ALLOW, CONFIRM, BLOCK = Verdict.ALLOW, Verdict.CONFIRM, Verdict.BLOCK
CALL = ToolCall("bash", {"command": "x"})
LS, RM = Run((Word("ls"),)), Run((Word("rm"),), "it removes")
READ, WRITE = (Touch(access, Place("a", ("/w/a",), ("/w/a",))) for access in (Access.READ, Access.WRITE))
UNREADABLE = Unknown("$x", "an expansion")


def _reader(*certain: Action, **rest: Any) -> Callable[..., Actions]:  # noqa: ANN401 -- passed on to the actions
    return lambda *_: Actions(certain, **rest)


def _broken(call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG001 -- the protocol's
    raise RuntimeError("the reader broke")


@attrs.frozen
class _Flow:
    id: str
    label: str | None = None
    counts: bool = True

    def matches(self, _: Request) -> bool:
        return True


@attrs.frozen
class _Rule:
    """A permission that covers, or a restriction that answers, as it is set to."""

    id: str
    answer: object = False
    covered: object = frozenset[int]()
    effect: Verdict = ALLOW
    priority_number: int = 250
    reason: str = "why"
    message: str | None = "what to do"
    source: str | None = None
    specificity: object = (0, 0)

    def priority(self) -> int:
        return self.priority_number

    def matches(self, _: Request) -> Any:  # noqa: ANN401 -- what a rule answers is up to it
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def covers(self, _: Request) -> Any:  # noqa: ANN401 -- as above
        if isinstance(self.covered, Exception):
            raise self.covered
        return self.covered

    def near_miss(self, _: Request) -> str | None:
        return "nearly"


def _covering(name: str, *indices: int) -> _Rule:
    return _Rule(name, covered=frozenset(indices))


def _restriction(answer: object, effect: Verdict = BLOCK) -> _Rule:
    return _Rule("restriction", answer, effect=effect, priority_number=150)


def _decide(*rules: _Rule, certain: tuple[Action, ...] = (LS, RM), call: ToolCall = CALL) -> Decision:
    return AuthorizationPolicy(rules, reader=_reader(*certain)).decide(call, AuthContext())


# What permissions cover together ----------------------------------------------------------------------------------


def test_permissions_permit_a_call_together() -> None:
    """When not one action is left, the rule that covers the last of them decides."""
    decision = _decide(_covering("a", 0), _covering("b", 1), _covering("c", 0, 1))
    assert (decision.verdict, decision.rule_id, decision.phase) == (ALLOW, "b", Phase.PERMISSION)


@for_each("covered", [(), (0,), (1,), (0, 2, 7)])
def test_an_action_that_is_left_is_not_permitted(covered: tuple[int, ...]) -> None:
    """Every certain action needs a permission; an index too many is for nothing."""
    assert _decide(_covering("a", *covered)).verdict is CONFIRM


@for_each("certain", [(LS, UNREADABLE), (UNREADABLE, RM)])
def test_what_cannot_be_read_is_never_covered(certain: tuple[Action, ...]) -> None:
    """Whatever a rule claims, an unknown action is not its to permit."""
    assert _decide(_covering("a", 0, 1), certain=certain).verdict is CONFIRM


def test_a_call_without_actions_is_covered_by_nobody() -> None:
    """All of nothing permits nothing."""
    assert _decide(_covering("a", 0), certain=()).verdict is CONFIRM


@for_each("call", [ToolCall("unheard_of"), ToolCall("web_search")])
def test_a_tool_of_which_nothing_is_declared_has_no_parts(call: ToolCall) -> None:
    """Without roles no one knows what the actions of a call are."""
    assert _decide(_covering("a", 0, 1), call=call).verdict is CONFIRM


def test_a_restriction_is_a_floor_for_what_is_covered() -> None:
    """Law 1 holds for permissions by parts too."""
    decision = _decide(_covering("a", 0, 1), _restriction(answer=True))
    assert (decision.verdict, decision.rule_id) == (BLOCK, "restriction")


def test_a_rule_that_cannot_say_what_it_covers_covers_nothing() -> None:
    """Law 2: the failure is on record, and another rule may still cover."""
    failing = _Rule("failing", covered=KeyError("x"))
    decision = _decide(failing, _covering("a", 0))
    assert (decision.verdict, [error.rule_id for error in decision.errors]) == (CONFIRM, ["failing"])
    assert _decide(failing, _covering("a", 0, 1)).verdict is ALLOW


def test_a_permission_that_fails_covers_nothing() -> None:
    """Law 2: what cannot say whether it permits a call permits no part of it, and fails once."""
    decision = _decide(_Rule("failing", KeyError("x"), frozenset({0, 1})))
    assert (decision.verdict, len(decision.errors)) == (CONFIRM, 1)


def test_an_explanation_tells_what_is_covered_in_part() -> None:
    """A rule that covers an action is among the matches, and says what keeps it from the whole."""
    policy = AuthorizationPolicy([_covering("a", 0), _covering("none")], reader=_reader(LS, RM))
    part, none = policy.explain(CALL, AuthContext()).rules
    assert (part.outcome, part.near_miss) == (RuleOutcome.COVERED, "nearly")
    assert none.outcome is RuleOutcome.NOT_MATCHED


def test_an_explanation_tells_a_failure_to_cover() -> None:
    """Law 9: every error of the decision names its rule."""
    explanation = AuthorizationPolicy([_Rule("a", covered=KeyError("x"))], reader=_reader(LS, RM)).explain(
        CALL, AuthContext()
    )
    (error,), (trace,) = explanation.decision.errors, explanation.rules
    assert (trace.outcome, trace.error) == (RuleOutcome.FAILED, error.error)


# What is not certain ----------------------------------------------------------------------------------------------


@for_each("effect", [CONFIRM, BLOCK])
def test_a_restriction_that_is_unsure_asks(effect: Verdict) -> None:
    """It confirms, above every permission, and says why; the model is shown to wait for the user."""
    decision = _decide(_restriction(Unsure("an expansion"), effect), _Rule("yes", answer=True))
    assert (decision.verdict, decision.rule_id, decision.phase) == (CONFIRM, "restriction", Phase.RESTRICTION)
    assert decision.reason == "possibly why, for example (an expansion)"
    assert decision.message is not None
    assert decision.message.startswith("This call needs the user's confirmation before it runs: ")
    assert decision.errors == ()


def test_a_block_is_stricter_than_an_unsure_one() -> None:
    """Doubt in one restriction takes nothing from another."""
    sure = attrs.evolve(_restriction(answer=True), id="sure", priority_number=190)
    assert _decide(_restriction(Unsure("x")), sure).rule_id == "sure"


@for_each(
    ("first", "second", "named"),
    [
        ({"specificity": (1, 5)}, {"specificity": (2, 0)}, "second"),
        ({"specificity": (2, 1)}, {"specificity": (2, 3)}, "second"),
        ({"specificity": (2, 1)}, {"specificity": (2, 1)}, "first"),
        ({"specificity": (2, 1)}, {"specificity": (2, 3), "priority_number": 151}, "first"),
        ({"answer": Unsure("x"), "specificity": (2, 3)}, {"effect": CONFIRM}, "second"),
        ({"effect": CONFIRM, "specificity": (2, 3)}, {}, "second"),
        ({"specificity": "wide"}, {"specificity": (0, 1)}, "second"),
    ],
)
def test_the_most_specific_restriction_is_named(first: dict[str, Any], second: dict[str, Any], named: str) -> None:
    """Behind the verdict, certainty and the priority; the order in the file counts last."""
    rule = attrs.evolve(_restriction(answer=True), id="first")
    rules = attrs.evolve(rule, **first), attrs.evolve(rule, id="second", **second)
    assert _decide(*rules).rule_id == named
    turned = _decide(*reversed(rules))
    assert turned.verdict is _decide(*rules).verdict
    if first.get("specificity") != second.get("specificity"):
        assert turned.rule_id == named


@for_each("priority", [50, 250])
def test_a_permission_that_is_unsure_does_not_match(priority: int) -> None:
    """Neither does an override; being unsure is not a failure."""
    decision = _decide(_Rule("doubtful", Unsure("x"), priority_number=priority))
    assert (decision.verdict, decision.rule_id, decision.errors) == (CONFIRM, None, ())


def test_an_explanation_tells_the_doubt() -> None:
    """An unsure restriction is a match; its phrase is where an error would."""
    policy = AuthorizationPolicy([_restriction(Unsure("an expansion"))])
    (trace,) = policy.explain(CALL, AuthContext()).matches
    assert (trace.outcome, trace.error, trace.near_miss) == (RuleOutcome.UNSURE, "an expansion", None)


# The reader -------------------------------------------------------------------------------------------------------


def test_without_a_reader_nothing_is_covered() -> None:
    """What no one reads is unknown, and no shell call only reads."""
    request = Request(CALL, AuthContext())
    assert request.actions.unknown is not None
    assert not request.is_read_only
    assert AuthorizationPolicy([_covering("a", 0, 1)]).decide(CALL, AuthContext()).verdict is CONFIRM


def test_a_reader_is_asked_once_and_only_when_needed() -> None:
    """Rules about names cost no reading."""
    asked: list[object] = []

    def read(call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG001 -- the protocol's
        asked.append(call)
        return Actions((LS, RM))

    AuthorizationPolicy([_Rule("yes", answer=True)], reader=read).decide(CALL, AuthContext())
    assert asked == []
    AuthorizationPolicy([_covering("a", 0), _covering("b", 1)], reader=read).decide(CALL, AuthContext())
    assert asked == [CALL]


def test_a_reader_that_breaks_permits_nothing_and_breaks_nothing() -> None:
    """Law 2: a decision is made, an explanation of it too, and the call counts against every budget."""
    policy = AuthorizationPolicy([_covering("a", 0, 1), _Rule("b")], reader=_broken, flows=(_Flow("f"),))
    assert policy.decide(CALL, AuthContext()).verdict is CONFIRM
    assert policy.explain(CALL, AuthContext()).decision == policy.decide(CALL, AuthContext())
    assert policy.side_effects(CALL, AuthContext()).rules == {"f"}


@attrs.frozen
class _Reader:
    """A reader that knows others."""

    actions: Actions
    others: tuple[Callable[..., Actions], ...] = ()
    doubtful: Callable[..., Actions] | None = None
    digest: str = ""

    def __call__(self, call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG002 -- as above
        return self.actions


@attrs.frozen
class _Removes(_Rule):
    """It matches a call that runs `rm`."""

    def matches(self, request: Request) -> bool:
        return any(RM in each.actions.certain for each in (request, *request.otherwise))


def test_a_restriction_is_asked_by_each_other_reader() -> None:
    """A permission is not: it relies on the one of the policy."""
    reader = _Reader(Actions((LS,)), others=(_reader(RM),))
    blocks = _Removes("blocks", effect=BLOCK, priority_number=150)
    permits = _Rule("permits", answer=True)
    policy = AuthorizationPolicy([blocks, permits], reader=reader)
    assert policy.decide(CALL, AuthContext()).verdict is BLOCK
    assert policy.explain(CALL, AuthContext()).decision == policy.decide(CALL, AuthContext())


def test_of_two_decisions_the_stricter_counts_where_a_reader_has_a_doubtful_one() -> None:
    """Whichever of the two it is; and what the call does is read by the one that is trusted."""

    @attrs.frozen
    class _Lists(_Rule):
        def matches(self, request: Request) -> bool:
            return request.actions.certain == (LS,)

    for first, second in (((LS,), (RM,)), ((RM,), (LS,))):
        reader = _Reader(Actions(first), doubtful=_Reader(Actions(second), digest="x"), digest="x")
        policy = AuthorizationPolicy([_Lists("lists")], reader=reader)
        assert policy.decide(CALL, AuthContext()).verdict is CONFIRM
        assert policy.explain(CALL, AuthContext()).decision == policy.decide(CALL, AuthContext())
        assert policy.request(CALL, AuthContext()).actions.certain == first
    both = AuthorizationPolicy([_Lists("lists")], reader=_Reader(Actions((LS,)), doubtful=_Reader(Actions((LS,)))))
    assert both.decide(CALL, AuthContext()).verdict is ALLOW


def test_what_a_reader_knows_is_a_part_of_the_version() -> None:
    """So what was decided by other records of programs is not taken for this policy's."""
    versions = [AuthorizationPolicy(reader=_Reader(Actions(), digest=digest)).version for digest in ("", "a", "b")]
    assert len(set(versions)) == 3
    assert AuthorizationPolicy().version == versions[0]


# Each action alone ------------------------------------------------------------------------------------------------


def test_an_explanation_decides_every_action_alone() -> None:
    """Certain ones in order, then those that are only possible; each with the decision it would get by itself."""

    @attrs.frozen
    class _OnlyReads(_Rule):
        def matches(self, request: Request) -> bool:
            return request.actions.doubt is None

    certain = (LS, RM, READ, WRITE, UNREADABLE, Connect("h"), Delegate())
    reader = _reader(*certain, possible=(RM,), doubt="it does more")
    traces = AuthorizationPolicy([_OnlyReads("reads")], reader=reader).explain(CALL, AuthContext()).actions
    assert [trace.action for trace in traces] == [*certain, RM]
    assert [trace.is_certain for trace in traces] == [True] * len(certain) + [False]
    verdicts = [trace.decision.verdict for trace in traces]
    assert verdicts == [ALLOW, CONFIRM, ALLOW, CONFIRM, CONFIRM, CONFIRM, CONFIRM, CONFIRM]


def test_a_guess_alone_is_a_guess() -> None:
    """So no action of an explanation is blocked where the call is not."""

    @attrs.frozen
    class _OnCertain(_Rule):
        def matches(self, request: Request) -> bool | Unsure:
            return True if RM in request.actions.certain else Unsure("a guess")

    rule = _OnCertain("rule", effect=BLOCK, priority_number=150)
    explanation = AuthorizationPolicy([rule], reader=_reader(LS, guessed=(RM,))).explain(CALL, AuthContext())
    assert explanation.decision.verdict is CONFIRM
    assert {trace.decision.verdict for trace in explanation.actions} == {CONFIRM}


def test_a_tool_without_roles_has_no_actions_to_tell() -> None:
    """What its arguments may be is a guess, and no part of an explanation."""
    explanation = AuthorizationPolicy(reader=_reader(LS)).explain(ToolCall("unheard_of"), AuthContext())
    assert explanation.actions == ()


# Sub-agents -------------------------------------------------------------------------------------------------------


@attrs.frozen
class _BlocksAgent(_Rule):
    """Blocks, or permits, the calls of one agent."""

    def matches(self, request: Request) -> bool:
        return request.context.agent == self.answer


def test_a_child_is_held_by_a_restriction_on_its_parent() -> None:
    """The strictest decision of the lineage counts, and the explanation says in whose context it fell."""
    rules = [_BlocksAgent("no", "main", effect=BLOCK, priority_number=150), _Rule("yes", answer=True)]
    policy, context = AuthorizationPolicy(rules), AuthContext().child("low").child("lower")
    assert policy.decide(CALL, context).verdict is BLOCK
    explanation = policy.explain(CALL, context)
    assert (explanation.decision.rule_id, explanation.agent) == ("no", "main")


def test_a_child_needs_the_permission_of_its_parent() -> None:
    """What only the child may do is not permitted either."""
    policy = AuthorizationPolicy([_BlocksAgent("yes", "low")])
    assert policy.decide(CALL, AuthContext(agent="low")).verdict is ALLOW
    decision = policy.decide(CALL, AuthContext().child("low"))
    assert (decision.verdict, decision.rule_id) == (CONFIRM, None)


def test_of_equal_decisions_the_childs_own_counts() -> None:
    """Nothing is blamed on the parent that holds for the child as well."""
    policy = AuthorizationPolicy([_Rule("yes", answer=True)])
    assert policy.explain(CALL, AuthContext().child("low")).agent == "low"


# What calls leave behind, and what tools are ----------------------------------------------------------------------


def test_a_rule_file_completes_what_a_spec_leaves_open() -> None:
    """The tool's own traits and roles stand; where it says nothing, the declaration speaks, for its name only."""
    traits = ToolTraits(read_only=True, open_world=True)
    declared = ToolSpec("t", traits=traits, roles={"url": ArgumentRole.URL}, folder="sub")
    policy = AuthorizationPolicy(declared={"t": declared})
    own = ToolSpec("t", traits=ToolTraits(read_only=False))
    completed = policy.request(ToolCall("t"), AuthContext(), own).spec
    assert completed is not None
    assert (completed.traits, completed.roles) == (ToolTraits(read_only=False, open_world=True), declared.roles)
    assert completed.folder == "sub"
    silent = attrs.evolve(own, roles={}, folder=".")
    kept = policy.request(ToolCall("t"), AuthContext(), silent).spec
    assert kept is not None
    assert (kept.roles, kept.folder) == ({}, ".")
    assert policy.request(ToolCall("t"), AuthContext()).spec is declared
    assert policy.request(ToolCall("u"), AuthContext()).spec is None


def test_a_policy_travels_with_all_it_knows() -> None:
    """A copy has the rules, the reader, the declarations and the flows, and so the version."""
    rules, declared = (_covering("a", 0),), {"t": ToolSpec("t", roles={})}
    policy = AuthorizationPolicy(rules, reader=_broken, declared=declared, flows=(_Flow("f"),))
    twin = copy.deepcopy(policy)
    assert twin == policy
    assert (twin.reader, twin.version) == (_broken, policy.version)


def test_the_version_is_for_rules_flows_and_tools() -> None:
    """Another flow or declaration makes another policy."""
    one = AuthorizationPolicy(flows=(_Flow("a"),), declared={"t": ToolSpec("t")})
    versions = {AuthorizationPolicy().version, AuthorizationPolicy(flows=(_Flow("a"),)).version, one.version}
    assert len(versions) == 3


@for_each(
    ("name", "folder", "place", "is_drafted"),
    [
        ("mcp:a/t", None, Place("a", is_certain=False), True),
        ("mcp:a/t", ".", Place("a", is_certain=False), False),
        ("mcp:a/t", None, Place("a", ("/w/a",), ("/w/a",)), False),
        ("mcp:a/t", None, Place("a", is_certain=False, is_open=True), False),
        ("t", None, Place("a", is_certain=False), False),
    ],
)
def test_where_a_server_looks_for_paths_is_asked_for(
    name: str, folder: str | None, place: Place, *, is_drafted: bool
) -> None:
    """An explanation shows what to declare, if it is only that which is not known."""
    policy = AuthorizationPolicy(reader=_reader(Touch(Access.READ, place)))
    spec = ToolSpec(name, roles={"path": ArgumentRole.READ_PATH}, folder=folder)
    explained = policy.explain(ToolCall(name, {"path": "a"}), AuthContext(), spec)
    assert bool(explained.declaration) is is_drafted


@attrs.frozen
class _Keeping(_Rule):
    keeps: bool = True


def test_a_policy_without_what_must_be_kept_first() -> None:
    """It has all other rules; without such rules it is the policy itself."""
    rest = AuthorizationPolicy([_covering("a", 0)], reader=_reader(LS))
    assert rest.without_keeping is rest
    policy = rest.with_rules(_Keeping("b", covered=frozenset((0,))))
    assert [getattr(rule, "id", None) for rule in policy.without_keeping.rules] == ["a"]
