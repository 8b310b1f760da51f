"""Law 8: the core is pure: the same request has the same answer, at any time and on any thread."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given

from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Request


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    """Yield two other threads."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


@given(policy=..., request=...)
def test_another_thread_gives_the_same_answer(
    threads: ThreadPoolExecutor, policy: AuthorizationPolicy, request: Request
) -> None:
    """The same request has the same decision here, here again, and on other threads at once."""
    asked = (request.call, request.context, request.spec)
    elsewhere = [threads.submit(policy.decide, *asked) for _ in range(2)]
    here = [policy.decide(*asked) for _ in range(2)]
    assert all(decision == here[0] for decision in [*here, *(future.result() for future in elsewhere)])


@given(policy=..., request=...)
def test_asking_changes_nothing(policy: AuthorizationPolicy, request: Request) -> None:
    """Call, context, spec and policy read the same after a request as before it."""
    whole = (policy.rules, policy.declared, policy.flows, policy.version, request, request.call.digest)
    before = repr(whole)
    policy.explain(request.call, request.context, request.spec)
    assert repr(whole) == before


@given(policy=..., requests=...)
def test_an_answer_does_not_depend_on_the_questions_before(
    policy: AuthorizationPolicy, requests: list[Request]
) -> None:
    """Questions asked backwards have the same answers."""
    forwards = [policy.decide(q.call, q.context, q.spec) for q in requests]
    backwards = [policy.decide(q.call, q.context, q.spec) for q in reversed(requests)]
    assert backwards[::-1] == forwards


@given(policy=..., request=...)
def test_a_policy_built_again_answers_the_same(policy: AuthorizationPolicy, request: Request) -> None:
    """The same rules make an equal policy with the same version and the same decisions."""
    again = AuthorizationPolicy(policy.rules, reader=policy.reader, unmatched=policy.unmatched)
    asked = (request.call, request.context, request.spec)
    assert again == policy
    assert again.decide(*asked) == policy.decide(*asked)
