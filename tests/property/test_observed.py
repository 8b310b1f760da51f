"""An observed rule changes no verdict: decided and recorded, it is obeyed in nothing."""

import attrs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, SearchStrategy

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Decision
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import AnyRule, Request
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal, Silence
from permitry.guard.session import Session


def _decide(policy: AuthorizationPolicy, request: Request) -> Decision:
    return policy.decide(request.call, request.context, request.spec)


@given(policy=..., request=..., data=st.data())
def test_an_observed_rule_changes_no_decision(
    restrictions: SearchStrategy[AnyRule],
    permissions: SearchStrategy[AnyRule],
    policy: AuthorizationPolicy,
    request: Request,
    data: DataObject,
) -> None:
    """Whatever it is, nothing but the version is another one, in the explanation as well."""
    extra = data.draw(st.one_of(restrictions, permissions))
    whole = attrs.evolve(policy, rules=(*policy.rules, extra))
    watching = attrs.evolve(policy, observed=whole)
    before, after = _decide(policy, request), _decide(watching, request)
    assert watching.version != policy.version
    assert attrs.evolve(after, policy_version="") == attrs.evolve(before, policy_version="")
    asked = (request.call, request.context, request.spec)
    assert watching.explain(*asked).rules == policy.explain(*asked).rules
    if request.spec is not None:
        visible = policy.could_run(request.spec, request.context)
        assert watching.could_run(request.spec, request.context) is visible


@given(policy=..., request=..., data=st.data())
def test_what_would_be_decided_is_what_is_decided_once_it_is_obeyed(
    restrictions: SearchStrategy[AnyRule],
    permissions: SearchStrategy[AnyRule],
    policy: AuthorizationPolicy,
    request: Request,
    data: DataObject,
) -> None:
    """And nothing is said where that is the same, by the same rule."""
    extra = data.draw(st.one_of(restrictions, permissions))
    whole = attrs.evolve(policy, rules=(*policy.rules, extra))
    watching = attrs.evolve(policy, observed=whole)
    now, then = _decide(policy, request), _decide(whole, request)
    would = watching.would(request.call, request.context, request.spec)
    is_same = (now.verdict, now.rule_id) == (then.verdict, then.rule_id)
    assert would == (None if is_same else then)


@given(policy=..., request=..., data=st.data())
def test_a_guard_does_what_it_would_do_without_them(
    restrictions: SearchStrategy[AnyRule],
    permissions: SearchStrategy[AnyRule],
    policy: AuthorizationPolicy,
    request: Request,
    data: DataObject,
) -> None:
    """Its outcome, and what it keeps for later calls."""
    extra = data.draw(st.one_of(restrictions, permissions))
    whole = attrs.evolve(policy, rules=(*policy.rules, extra))

    def end(rules: AuthorizationPolicy) -> tuple[object, ...]:
        session = Session(yolo_mode=request.context.yolo_mode, agent=request.context.agent)
        guard = Guard(rules, session)
        outcomes = [guard.check(request.call.with_id(name)) for name in ("a", "b")]
        kept = (session.labels, session.counts, session.tool_ignore_list, session.history.count(request.call.digest))
        return [_shape(each) for each in outcomes], kept

    assert end(attrs.evolve(policy, observed=whole)) == end(policy)


def _shape(outcome: Permit | Refusal | Ask | Silence) -> tuple[object, ...]:
    decision = outcome.decision
    if decision is None:
        return (type(outcome),)
    return type(outcome), decision.verdict, decision.rule_id, decision.reason, decision.message


# In rule files ----------------------------------------------------------------------------------------------------

_TOOLS = ("a", "b", "c")


def _text(effect: str, tool: str, *more: str) -> str:
    return "\n".join([f'effect = "{effect}"', f'tools = ["{tool}"]', *more])


_rules = st.lists(
    st.tuples(
        st.builds(
            _text,
            st.sampled_from(("allow", "confirm", "block")),
            st.sampled_from((*_TOOLS, "*")),
            st.sampled_from(("", "when.args.n.ge = 2", 'unless.agent = "main"', "budget.calls = 1")),
        )
        | st.builds(
            _text,
            st.just("allow"),
            st.sampled_from(_TOOLS),
            st.sampled_from(('adds_label = "seen"', 'adds_label = "other"')),
        )
        | st.builds(
            _text,
            st.sampled_from(("confirm", "block")),
            st.sampled_from(_TOOLS),
            st.sampled_from(('when.label = "seen"', 'when.label = "other"')),
        ),
        st.booleans(),
    ),
    max_size=6,
)


def _file(rules: list[tuple[str, bool]], *, with_observed: bool) -> str:
    parts = ["schema = 1"]
    for number, (text, is_observed) in enumerate(rules):
        if with_observed or not is_observed:
            flag = "enforce = false\n" if is_observed else ""
            parts.append(f'[[rule]]\nid = "r{number}"\n{text}\n{flag}')
    return "\n".join([*parts, ""])


@given(rules=_rules, calls=st.lists(st.tuples(st.sampled_from(_TOOLS), st.integers(0, 3)), max_size=5))
def test_a_session_goes_as_if_observed_rules_were_not_written(
    rules: list[tuple[str, bool]], calls: list[tuple[str, int]]
) -> None:
    """Call by call, with all that calls leave behind: labels, budgets, counts."""
    ends = []
    for with_observed in (True, False):
        session = Session()
        guard = Guard(load_policy(_file(rules, with_observed=with_observed)), session)
        outcomes = []
        for number, (tool, value) in enumerate(calls):
            outcome = guard.check(ToolCall(tool, {"n": value}, call_id=f"c{number}"))
            outcomes.append(_shape(outcome))
            if isinstance(outcome, Permit):
                with outcome:
                    pass
        ends.append((outcomes, session.labels, session.counts))
    assert ends[0] == ends[1]
