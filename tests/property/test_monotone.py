"""Law 4: more restrictions never allow more, more permissions never allow less, order changes no verdict."""

from collections.abc import Callable, Mapping

import attrs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.policy import AnyRule, AuthorizationPolicy
from permitry.core.rule import Question


def _decide(policy: AuthorizationPolicy, question: Question) -> Decision:
    return policy.decide(question.call, question.context, question.spec)


def _with(policy: AuthorizationPolicy, extra: AnyRule, place: int) -> AuthorizationPolicy:
    return AuthorizationPolicy((*policy.rules[:place], extra, *policy.rules[place:]))


@given(policy=..., question=..., data=st.data())
def test_a_restriction_more_never_allows_more(
    restrictions: SearchStrategy[AnyRule], policy: AuthorizationPolicy, question: Question, data: DataObject
) -> None:
    """Adding a restriction anywhere keeps the verdict or makes it stricter."""
    tightened = _with(policy, data.draw(restrictions), data.draw(st.integers(0, len(policy.rules))))
    assert _decide(tightened, question).verdict >= _decide(policy, question).verdict


@given(policy=..., question=..., data=st.data())
def test_a_permission_more_never_allows_less(
    permissions: SearchStrategy[AnyRule], policy: AuthorizationPolicy, question: Question, data: DataObject
) -> None:
    """Adding a permission anywhere keeps the verdict or relaxes it; one that is no override lifts no restriction."""
    extra = data.draw(permissions)
    before = _decide(policy, question)
    after = _decide(_with(policy, extra, data.draw(st.integers(0, len(policy.rules)))), question)
    assert after.verdict <= before.verdict
    is_override = hasattr(extra, "effect") and extra.priority() < 100
    assert is_override or before.phase is not Phase.RESTRICTION or after.verdict is before.verdict


@given(policy=..., question=..., data=st.data())
def test_the_order_of_the_rules_changes_no_verdict(
    policy: AuthorizationPolicy, question: Question, data: DataObject
) -> None:
    """Rules given in another order lead to the same verdict in the same phase."""
    shuffled = AuthorizationPolicy(data.draw(st.permutations(policy.rules)))
    before, after = _decide(policy, question), _decide(shuffled, question)
    assert (after.verdict, after.phase) == (before.verdict, before.phase)


@given(policy=..., question=..., data=st.data())
def test_only_rules_of_one_priority_can_change_places(
    policy: AuthorizationPolicy, question: Question, data: DataObject
) -> None:
    """Where no two rules share a priority, another order changes not even the errors."""
    distinct = {rule.priority(): rule for rule in policy.rules if hasattr(rule, "effect")}
    rules = tuple(distinct.values())
    before = _decide(AuthorizationPolicy(rules), question)
    after = _decide(AuthorizationPolicy(data.draw(st.permutations(rules))), question)
    assert attrs.evolve(after, policy_version=before.policy_version) == before


# Arguments that are missing or of another type --------------------------------------------------------------------


@attrs.frozen
class _ArgumentRule:
    """A rule that reads arguments without looking first, as careless rules do."""

    id: str
    effect: Verdict
    priority_number: int
    test: Callable[[Mapping[str, object]], bool] = attrs.field(repr=False)
    reason: str = ""
    message: str | None = None
    source: str | None = None

    def priority(self) -> int:
        return self.priority_number

    def matches(self, question: Question) -> bool:
        return self.test(question.call.arguments)

    def near_miss(self, _: Question) -> str | None:
        return None


_CARELESS: tuple[_ArgumentRule, ...] = (
    _ArgumentRule("no-secrets", Verdict.BLOCK, 150, lambda a: a["path"].startswith("/etc/")),  # type: ignore[attr-defined]
    _ArgumentRule("no-floods", Verdict.BLOCK, 151, lambda a: a["limit"] > 100),  # type: ignore[operator]
    _ArgumentRule("small-pages", Verdict.ALLOW, 250, lambda a: a["limit"] <= 100),  # type: ignore[operator]
    _ArgumentRule("anything", Verdict.ALLOW, 399, lambda _: True),
)
_arguments = st.fixed_dictionaries(
    {"path": st.sampled_from(("/etc/passwd", "/home/notes")), "limit": st.integers(0, 200)}
)
_NO_PATHS: tuple[object, ...] = (None, 7, True, ["/etc/passwd"], {})
_NO_NUMBERS: tuple[object, ...] = (None, "7", [7], {})
_damage = st.one_of(
    st.tuples(st.just("path"), st.sampled_from(_NO_PATHS)), st.tuples(st.just("limit"), st.sampled_from(_NO_NUMBERS))
)


@given(policy=..., context=..., arguments=_arguments, damage=_damage, is_removed=st.booleans())
def test_damaged_arguments_never_turn_a_block_into_an_allow(
    policy: AuthorizationPolicy,
    context: AuthContext,
    arguments: dict[str, object],
    damage: tuple[str, object],
    is_removed: bool,  # noqa: FBT001 -- hypothesis passes by keyword
) -> None:
    """A call that is blocked stays blocked when an argument is removed or becomes of another type."""
    name, junk = damage
    damaged = {key: value for key, value in arguments.items() if key != name} | ({} if is_removed else {name: junk})
    careful = AuthorizationPolicy((*policy.rules, *_CARELESS))
    before = careful.decide(ToolCall("bash", arguments), context)
    after = careful.decide(ToolCall("bash", damaged), context)
    assert before.verdict is not Verdict.BLOCK or after.verdict is Verdict.BLOCK


@given(arguments=_arguments, damage=_damage)
def test_the_rules_above_do_decide(arguments: dict[str, object], damage: tuple[str, object]) -> None:
    """Sound arguments are judged by value; damaged ones are blocked, and the errors say so."""
    policy = AuthorizationPolicy(_CARELESS)
    sound = policy.decide(ToolCall("bash", arguments), AuthContext())
    is_bad = arguments["path"] == "/etc/passwd" or arguments["limit"] > 100  # type: ignore[operator]
    assert sound.verdict is (Verdict.BLOCK if is_bad else Verdict.ALLOW)
    damaged = policy.decide(ToolCall("bash", arguments | dict([damage])), AuthContext())
    assert damaged.verdict is Verdict.BLOCK
    assert damaged.errors
