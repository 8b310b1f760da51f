"""Shared budgets are charged before a call runs: none runs uncounted, and none beyond what its decision relied on."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.unit.guard.stubs import ALLOWED, case_of, guard_of

from permitry.audit.record import MemoryRecorder
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.shared import Limit
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import StoreError
from permitry.guard.grants import Grant
from permitry.guard.grants_in_force import Grants
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Permit, Refusal, Silence
from permitry.guard.session import Session
from permitry.guard.stages.budget import charge
from permitry.handler import ToolHandler
from permitry.store.counters import StoredCounters
from permitry.store.grants import StoredGrants
from permitry.store.leases import Counters
from permitry.store.sqlite import SqliteStore

RULES = """
schema = 1
[[rule]]
id = "limit"
effect = "{effect}"
tools = ["search"]
budget = {{ calls = {calls}, per = "1h", by = "organisation" }}
[[rule]]
id = "free"
effect = "allow"
tools = ["search"]
"""
ASKS, BLOCKS = (RULES.format(effect=effect, calls=2) for effect in ("confirm", "block"))
LIMIT = Limit("limit", "organisation", 2, 3600.0)
PERMITS = RULES.format(effect="allow", calls=2).partition('[[rule]]\nid = "free"')[0]
SILENT = RULES.format(effect="confirm", calls=2).partition('[[rule]]\nid = "free"')[0]
YES = ToolConfirmationResponse(True)
Share = Callable[..., Counters]


def call(number: int = 0, name: str = "search") -> ToolCall:
    """Return a call."""
    return ToolCall(name, {"n": number}, call_id=f"c{number}")


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """Return an empty store."""
    return SqliteStore(tmp_path / "a.db")


@pytest.fixture
def share(store: SqliteStore) -> Share:
    """Return a maker of what counts, as each process has its own."""
    return lambda: Counters(StoredCounters(store), "alice")


def guard(share: Share, rules: str = ASKS, **parts: Any) -> Guard:  # noqa: ANN401 -- the fields of a guard
    """Return a guard of a process of its own."""
    return Guard(load_policy(rules), Session(shared=share()), **parts)


@attrs.define
class Racing:
    """What counts in a store, where others come first between a decision and its charge; without them it is away."""

    own: Counters
    other: Counters | None = None

    def snapshot(self) -> Any:  # noqa: ANN401 -- the counts of a moment
        """Return what is counted now."""
        return self.own.snapshot()

    def close(self) -> None:
        """Leave all as it is."""

    def charge(self, limits: Any, within: Any = ()) -> bool:  # noqa: ANN401 -- as of the class
        """Let the others be first, or fail where there are none."""
        if self.other is None:
            raise StoreError("the disk is full")
        while self.other.charge([LIMIT], [LIMIT]):
            pass
        return self.own.charge(limits, within)


def test_all_guards_share_a_budget(share: Share) -> None:
    """Of a session, and of others."""
    first, second = guard(share), guard(share)
    assert isinstance(first.check(call(1)), Permit)
    assert isinstance(second.check(call(2)), Permit)
    assert isinstance(first.check(call(3)), Ask)
    assert isinstance(guard(share, BLOCKS).check(call(4)), Refusal)
    assert isinstance(first.check(call(5, "other")), Ask)
    assert share().uses(LIMIT) == 2


def test_to_ask_what_would_be_decided_counts_nothing(share: Share) -> None:
    """And says how much is used."""
    registry = ToolRegistry()
    registry.register(ToolSpec("search"), lambda _: (True, "found"))
    handler = ToolHandler(Session(shared=share()), load_policy(ASKS), registry=registry)
    assert handler.handle(call(1)).ok
    for _ in range(5):
        assert handler.decide(call(2)).verdict is Verdict.ALLOW
    near = [rule.near_miss for rule in handler.explain(call(2)).rules]
    assert "the budget is not spent: 1 of 2 in 1h by organisation" in near
    assert share().uses(LIMIT) == 1


def test_calls_that_do_not_run_are_not_counted(share: Share) -> None:
    """One that is asked about, declined, or blocked."""
    asking = guard(share, ASKS.replace('effect = "allow"', 'effect = "confirm"'))
    ask = asking.check(call(1))
    assert isinstance(ask, Ask)
    assert isinstance(asking.answer(ask.id, ToolConfirmationResponse(False)), Refusal)
    assert share().uses(LIMIT) == 0


def test_an_approved_call_counts_also_beyond_the_budget(share: Share) -> None:
    """A human saw it; it is not refused for being one too many."""
    asking = guard(share)
    assert all(isinstance(asking.check(call(number)), Permit) for number in range(2))
    ask = asking.check(call(2))
    assert isinstance(ask, Ask)
    assert isinstance(asking.answer(ask.id, YES), Permit)
    assert share().uses(LIMIT) == 3


@pytest.mark.parametrize("is_granted", [False, True])
def test_an_approved_call_goes_beyond_no_budget_that_blocks(
    share: Share, store: SqliteStore, *, is_granted: bool
) -> None:
    """Also where others were faster, whether it was approved by an answer or by a grant of that very call."""
    grants = StoredGrants(store)
    if is_granted:
        grants.add(Grant('tools = ["search"]', digest=call().digest).row())
    rules = load_policy(BLOCKS.replace('"allow"', '"confirm"'))
    late = Guard(rules, Session(shared=Racing(share(), share())), grants=Grants(grants))
    outcome = late.check(call())
    if isinstance(outcome, Ask):
        outcome = late.answer(outcome.id, YES)
    assert isinstance(outcome, Refusal)
    assert outcome.rule == "limit"
    assert share().uses(LIMIT) == 2


def test_a_call_that_others_were_faster_than_is_decided_again(share: Share) -> None:
    """By the rule of the budget: it asks, or blocks; and what is recorded is what was decided then."""
    for rules, kind in ((ASKS, Ask), (BLOCKS, Refusal)):
        recorder = MemoryRecorder()
        late = Guard(load_policy(rules), Session(shared=Racing(share(), share())), recorder=recorder)
        assert isinstance(late.check(call()), kind)
        assert [each["rule"] for each in recorder.records if each["event"] == "decided"] == ["limit"]
    assert share().uses(LIMIT) == 2


def test_a_permission_with_a_budget_ends_for_all(share: Share) -> None:
    """Also for a call that others were faster than."""
    late = Guard(load_policy(PERMITS), Session(shared=Racing(share(), share())))
    assert isinstance(late.check(call()), Ask)
    assert isinstance(guard(share, PERMITS).check(call()), Ask)


def test_a_call_that_another_rule_permits_counts_and_runs(share: Share) -> None:
    """Beyond a permission whose budget is spent."""
    rules = PERMITS + '[[rule]]\nid = "free"\neffect = "allow"\ntools = ["search"]\n'
    free = guard(share, rules)
    assert all(isinstance(free.check(call(number)), Permit) for number in range(4))
    assert share().uses(LIMIT) == 4


def test_a_grant_goes_beyond_a_permission_and_not_beyond_a_restriction(share: Share, store: SqliteStore) -> None:
    """It permits what no rule is about; a question of the budget it does not answer."""
    grants = StoredGrants(store)
    grants.add(Grant('tools = ["search"]').row())
    permitted = guard(share, PERMITS, grants=Grants(grants))
    assert all(isinstance(permitted.check(call(number)), Permit) for number in range(3))
    assert share().uses(LIMIT) == 3
    assert isinstance(guard(share, ASKS, grants=Grants(grants)).check(call()), Ask)


def test_a_grant_of_the_very_call_answers_the_question_of_a_budget(share: Share, store: SqliteStore) -> None:
    """And the call counts."""
    grants = StoredGrants(store)
    grants.add(Grant('tools = ["search"]', digest=call().digest).row())
    asked = guard(share, ASKS, grants=Grants(grants))
    assert all(isinstance(asked.check(call(number)), Permit) for number in (1, 2))
    assert isinstance(asked.check(call()), Permit)
    assert share().uses(LIMIT) == 3


def test_a_call_that_is_left_to_the_host_counts(share: Share) -> None:
    """It may run; once the budget is spent, its rule decides, also where others were faster."""
    quiet = guard(share, SILENT, unmatched="silence")
    assert isinstance(quiet.check(call(1)), Silence)
    assert share().uses(LIMIT) == 1
    late = Guard(load_policy(SILENT), Session(shared=Racing(share(), share())), unmatched="silence")
    assert isinstance(late.check(call(2)), Ask)
    assert share().uses(LIMIT) == 2


@pytest.mark.parametrize(("rules", "kind"), [(ASKS, Ask), (BLOCKS, Refusal), (PERMITS, Ask)])
def test_nothing_runs_while_the_store_is_away(share: Share, store: SqliteStore, rules: str, kind: type) -> None:
    """A restriction applies, and a permission does not."""
    away = guard(share, rules)
    store.close()
    assert isinstance(away.check(call()), kind)


def test_a_call_that_cannot_be_counted_does_not_run(share: Share) -> None:
    """Whether another rule permits it, it is left to the host, or a human approved it; the rules are asked again."""
    free = PERMITS + '[[rule]]\nid = "free"\neffect = "allow"\npriority = 220\ntools = ["search"]\n'
    for rules, unmatched in ((ASKS, "confirm"), (free, "confirm"), (SILENT, "silence")):
        lost = Guard(load_policy(rules), Session(shared=Racing(share())), unmatched=unmatched)  # type: ignore[arg-type]  # words of a guard
        refusal = lost.check(call())
        assert isinstance(refusal, Refusal)
        assert refusal.decision is not None
        assert refusal.decision.reason == "a shared budget cannot be counted: the disk is full"
        assert "do not retry" in refusal.text


def test_an_approved_call_that_cannot_be_counted_does_not_run(share: Share, store: SqliteStore) -> None:
    """Law 2: an answer is no count."""
    asking = guard(share, ASKS.replace('effect = "allow"', 'effect = "confirm"'))
    ask = asking.check(call())
    assert isinstance(ask, Ask)
    store.close()
    refusal = asking.answer(ask.id, YES)
    assert isinstance(refusal, Refusal)
    assert "cannot be counted" in refusal.text


def test_without_a_store_a_shared_budget_is_spent() -> None:
    """For a restriction and for a permission; with the reason in the decision."""
    alone = Guard(load_policy(BLOCKS))
    refusal = alone.check(call())
    assert isinstance(refusal, Refusal)
    assert refusal.decision is not None
    assert "no store counts this budget" in refusal.decision.errors[0].error
    assert isinstance(Guard(load_policy(PERMITS)).check(call()), Ask)


def test_a_sub_agent_uses_the_budget_of_its_principal(share: Share) -> None:
    """One call counts once, whatever contexts it is decided in."""
    session = Session(shared=share())
    child = Guard(load_policy(ASKS), session.child("helper"))
    assert [type(child.check(call(number))) for number in range(3)] == [Permit, Permit, Ask]


def test_threads_of_several_sessions_use_no_more_than_there_is(share: Share) -> None:
    """And all of it."""
    guards = [guard(share, BLOCKS.replace("calls = 2", "calls = 60")) for _ in range(4)]

    def ran(each: Guard) -> int:
        return sum(isinstance(each.check(call(number)), Permit) for number in range(30))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(ran, guards)) <= 60
    for each in guards:
        each.session.shared.close()  # type: ignore[union-attr]  # of a store
    rest = guard(share, BLOCKS.replace("calls = 2", "calls = 60"))
    assert share().uses(LIMIT) + ran(rest) >= 60
    assert share().uses(LIMIT) == 60


def test_where_nothing_is_shared_nothing_is_counted() -> None:
    """The case goes on as it is."""
    case = case_of(ALLOWED)
    assert charge(case, guard_of()) is case
