"""Grants in force: they permit what a human would be asked about, and nothing else."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.default import create_default_authorization_policy
from permitry.config.load import load_policy, load_rules
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import ConfigError, RuleError, StoreError
from permitry.guard.grants import Grant
from permitry.guard.grants_in_force import Grants, rule_of
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask, Pending, Permit, Ready, Refusal
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.store.grants import StoredGrants
from permitry.store.sqlite import SqliteStore

RULES = """
schema = 1
[[rule]]
id = "no-push"
effect = "block"
when.command = "git push *"
[[rule]]
id = "ask-make"
effect = "confirm"
when.command = "make *"
[[rule]]
id = "ask-mail"
effect = "confirm"
priority = 240
tools = ["mail"]
[[rule]]
id = "ask-note"
effect = "confirm"
priority = 390
tools = ["note"]
"""
ANY, COMMANDS = 'tools = ["*"]', 'when.command = ["git *", "make *", "rm *"]'
PUSH, MAKE, ADD = (
    ToolCall("run_shell", {"command": text}, call_id="c1") for text in ("git push x", "make x", "git add x")
)
MAIL = ToolCall("mail", {}, call_id="c1")
Give = Callable[..., Grant]


@pytest.fixture
def store(tmp_path: Path) -> StoredGrants:
    """Return the grants of a store."""
    return StoredGrants(SqliteStore(tmp_path / "permitry.db"))


@pytest.fixture
def give(store: StoredGrants) -> Give:
    """Return a function that grants."""

    def add(rule: str, **parts: Any) -> Grant:  # noqa: ANN401 -- the fields of a grant
        grant = Grant(rule, **parts)
        store.add(grant.row())
        return grant

    return add


def guard(store: object, rules: str = RULES, **parts: Any) -> Guard:  # noqa: ANN401 -- the fields of a guard
    """Return a guard with the grants of a store."""
    return Guard(load_policy(rules), grants=Grants(store), **parts)  # type: ignore[arg-type]  # a store that fails as well


def test_a_grant_permits_what_no_rule_is_about(store: StoredGrants, give: Give) -> None:
    """Under its own id, until it is revoked."""
    assert isinstance(guard(store).check(ADD), Ask)
    grant = give('when.command = ["git add *"]')
    permit = guard(store).check(ADD)
    assert isinstance(permit, Permit)
    assert permit.decision.rule_id == f"grant-{grant.id}"
    checking = guard(store)
    assert isinstance(checking.check(ADD), Permit)
    store.revoke(grant.id, Moment.now())
    assert isinstance(checking.check(ADD.with_id("c2")), Ask)


@pytest.mark.parametrize("rules", [RULES, RULES + '[policy]\nunmatched = "block"\n'])
@pytest.mark.parametrize("rule", [ANY, COMMANDS])
@pytest.mark.parametrize("digest", [None, PUSH.digest])
def test_no_grant_lifts_a_block(store: StoredGrants, give: Give, rules: str, rule: str, digest: str | None) -> None:
    """Neither of a rule, nor for what nothing permits."""
    give(rule, digest=digest)
    assert isinstance(guard(store, rules).check(PUSH), Refusal)
    if "unmatched" in rules:
        give(ANY, digest=ADD.digest)
        assert isinstance(guard(store, rules).check(ADD), Refusal)


@pytest.mark.parametrize("call", [MAKE, MAIL])
def test_what_a_rule_asks_about_is_granted_for_that_very_call(store: StoredGrants, give: Give, call: ToolCall) -> None:
    """By a restriction, or by a question before other permissions; the record names the grant."""
    give(ANY)
    give(COMMANDS)
    assert isinstance(guard(store).check(call), Ask)
    grant = give(ANY, digest=call.digest, uses_left=1)
    checking = guard(store)
    assert isinstance(checking.check(call), Permit)
    assert isinstance(checking.recorder, MemoryRecorder)
    (answered,) = [each for each in checking.recorder.records if each["event"] == "answered"]
    assert (answered["approved"], answered["grant"]) == (True, grant.id)
    assert isinstance(guard(store).check(call), Ask)


def test_a_grant_is_a_permission_like_those_of_rule_files(store: StoredGrants, give: Give) -> None:
    """What asks unless something permits a call does not ask then, as about commands of a coding agent."""
    note, agent = ToolCall("note", {}, call_id="c1"), "permitry:coding-agent"
    for rules, call, rule in ((RULES, note, 'tools = ["note"]'), (agent, ADD, 'when.command = ["git add *"]')):
        assert isinstance(guard(store, rules).check(call), Ask)
        give(rule)
        assert isinstance(guard(store, rules).check(call.with_id("c2")), Permit)
    assert isinstance(guard(store, agent).check(PUSH), Refusal)


def test_a_grant_of_one_call_is_for_no_other(store: StoredGrants, give: Give) -> None:
    """Whatever its rule says; nor for that call where its rule says something else."""
    give(ANY, digest=MAKE.digest)
    other = ToolCall("run_shell", {"command": "make y"}, call_id="c1")
    assert isinstance(guard(store).check(other), Ask)
    assert isinstance(guard(store).check(ADD), Ask)
    give('tools = ["mail"]', digest=other.digest)
    assert isinstance(guard(store).check(other), Ask)


SPECS = (None, ToolSpec("mail", "Sends a mail."), ToolSpec("mail", "Sends a mail, with a copy to x@example.com."))


@pytest.mark.parametrize("uses", [None, 5])
@pytest.mark.parametrize("rules", ["schema = 1\n", RULES])
@pytest.mark.parametrize("asked", SPECS)
@pytest.mark.parametrize("now", SPECS)
def test_a_grant_of_one_call_is_for_the_tool_as_it_declared_itself(
    store: StoredGrants, now: ToolSpec | None, asked: ToolSpec | None, rules: str, uses: int | None
) -> None:
    """As an answer is: neither as a permission, nor where a rule asks, does it count for another declaration."""
    digest = None if asked is None else asked.digest
    store.add(attrs.evolve(Grant.of_call("mail", MAIL.digest, digest), uses_left=uses).row())
    outcome = guard(store, rules).check(MAIL, now)
    assert isinstance(outcome, Permit if now is asked else Ask)


def test_an_explanation_says_that_the_tool_is_another(store: StoredGrants, give: Give) -> None:
    """It agrees with the decision."""
    registry = ToolRegistry()
    registry.register(ToolSpec("look_up"), lambda _: (True, "ran"))
    handler = ToolHandler(policy=load_policy("schema = 1\n"), registry=registry, grants=Grants(store))
    call = ToolCall("look_up", {}, call_id="c1")
    grant = give('tools = ["look_up"]', digest=call.digest)
    explained = handler.explain(call)
    assert explained.decision == handler.decide(call)
    assert explained.decision.verdict is Verdict.CONFIRM
    (trace,) = [each for each in explained.rules if each.rule_id == f"grant-{grant.id}"]
    assert trace.near_miss == "the grant is for a tool that no registry declares"
    give('tools = ["look_up"]', uses_left=1)
    assert handler.decide(call).verdict is Verdict.ALLOW


@pytest.mark.parametrize("digest", [None, ADD.digest])
@pytest.mark.parametrize("mode", [{"is_plan_mode": True}, {"mode": "plan"}])
def test_no_grant_permits_what_plan_mode_blocks(
    store: StoredGrants, give: Give, mode: dict[str, Any], digest: str | None
) -> None:
    """Not for that very call either; once the plan is written, it counts."""
    give(ANY, digest=digest)
    give('when.command = ["git add *"]', digest=digest)
    policy = create_default_authorization_policy().with_rules(load_rules(RULES))
    planning = Guard(policy, session=Session(**mode), grants=Grants(store))
    assert isinstance(planning.check(ADD), Refusal)
    assert isinstance(Guard(policy, grants=Grants(store)).check(ADD), Permit)


def test_uses_are_counted(store: StoredGrants, give: Give) -> None:
    """The same call with the same id is one; whether a grant matches takes none."""
    give('when.command = ["git add *"]', uses_left=2)
    checking = guard(store)
    for name in ("c1", "c1", "c2"):
        assert isinstance(checking.check(ADD.with_id(name)), Permit)
    assert isinstance(checking.check(ADD.with_id("c3")), Ask)


def test_a_counted_grant_permits_no_part_of_a_call(store: StoredGrants, give: Give) -> None:
    """It would not be known which one took a use; one without a bound does."""
    both = ToolCall("run_shell", {"command": "git add x && rm x"}, call_id="c1")
    give('when.command = ["git add *"]', uses_left=9)
    give('when.command = ["rm *"]')
    assert isinstance(guard(store).check(both), Ask)
    give('when.command = ["git add *"]')
    assert isinstance(guard(store).check(both), Permit)


def test_the_last_use_is_taken_once(store: StoredGrants, give: Give) -> None:
    """By guards that decide at the same time."""
    for _ in range(5):
        give('when.command = ["git add *"]', uses_left=1)
        barrier = threading.Barrier(4)

        def race(checking: Guard, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            return isinstance(checking.check(ADD), Permit)

        guards = [guard(store) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(race, guards)) == 1


def test_a_grant_that_is_gone_meanwhile_permits_nothing(store: StoredGrants, give: Give) -> None:
    """It is looked at again when a use is taken."""
    give('when.command = ["git add *"]')

    class Late:
        """Grants that are revoked as soon as they are read."""

        def in_force(self, now: Moment) -> object:
            return store.in_force(now)

        def take(self, name: str, now: Moment) -> bool:
            store.revoke(name, now)
            return store.take(name, now)

    ask = guard(Late()).check(ADD)
    assert isinstance(ask, Ask)
    assert "revoked" in ask.decision.reason


@pytest.mark.parametrize("failing", ["in_force", "take"])
def test_no_grant_counts_without_a_store(store: StoredGrants, give: Give, failing: str) -> None:
    """Nor does the call fail: a human is asked."""
    give(ANY, digest=MAKE.digest)
    give('when.command = ["git add *"]')

    class Away:
        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- any method
            def fail(*_: object) -> None:
                raise StoreError("away")

            return fail if name == failing else getattr(store, name)

    for call in (MAKE, ADD):
        assert isinstance(guard(Away()).check(call), Ask)


def test_a_grant_is_for_its_agent(store: StoredGrants, give: Give) -> None:
    """That of a sub-agent permits no more than its parent may."""
    give('when.command = ["git add *"]', agent="main")
    main = Session()
    assert isinstance(guard(store, session=main).check(ADD), Permit)
    assert isinstance(guard(store, session=Session(agent="other")).check(ADD), Ask)
    assert isinstance(guard(store, session=main.child("sub")).check(ADD), Ask)
    give('when.command = ["git add *"]', agent="sub")
    assert isinstance(guard(store, session=Session(agent="x").child("sub")).check(ADD), Ask)


def test_a_grant_is_for_its_session_and_principal(store: StoredGrants, give: Give) -> None:
    """And for the sub-agents of the session."""
    give('when.command = ["git add *"]', session="s1", principal="ann")
    policy = load_policy(RULES)
    for session, principal, wanted in (
        (Session(id="s1"), "ann", Permit),
        (Session(id="s1").child("sub"), "ann", Permit),
        (Session(id="s2"), "ann", Ask),
        (Session(id="s1"), "bob", Ask),
        (Session(id="s1"), None, Ask),
    ):
        assert isinstance(Guard(policy, session=session, grants=Grants(store, principal)).check(ADD), wanted)


def test_a_grant_for_the_session_of_a_sub_agent_is_none_for_its_parent(store: StoredGrants, give: Give) -> None:
    """Law 4: so it permits nothing there either, but for the answer to the very call that it is for."""
    child = Session().child("sub")
    give('when.command = ["git add *"]', session=child.id)
    assert isinstance(guard(store, session=child).check(ADD), Ask)
    give('tools = ["run_shell"]', digest=ADD.digest, session=child.id)
    permit = guard(store, session=child).check(ADD)
    assert isinstance(permit, Permit)
    assert permit.decision.verdict is Verdict.CONFIRM


def test_a_no_stays_one(store: StoredGrants, give: Give) -> None:
    """A grant that comes later is for later calls; so it is where the host knows of a question."""
    checking = guard(store)
    ask = checking.check(ADD)
    assert isinstance(ask, Ask)
    checking.answer(ask.id, ToolConfirmationResponse(False))
    give('when.command = ["git add *"]')
    assert isinstance(checking.check(ADD), Refusal)
    assert isinstance(checking.check(ADD.with_id("c2"), asked=True), Ask)
    assert isinstance(checking.check(ADD.with_id("c3")), Permit)


def test_an_edited_call_takes_no_grant(store: StoredGrants, give: Give) -> None:
    """A human answers for it."""
    give(ANY, digest=ADD.digest, uses_left=1)
    checking = guard(store)
    ask = checking.check(MAKE)
    assert isinstance(ask, Ask)
    edited = ToolConfirmationResponse(True, arguments={"command": "git push x"})
    assert isinstance(checking.answer(ask.id, edited), Refusal)
    assert store.all()[0]["uses_left"] == 1


@pytest.mark.parametrize(
    "rule",
    [
        "", "x", 'tools = ["*"]\npriority = 1', 'tools = ["*"]\neffect = "confirm"', 'tools = ["*"]\nid = "x"',
        'tools = ["*"]\n[[rule]]\nid = "b"\neffect = "allow"\ntools = ["*"]', 'tools = ["*"]\n[tool.x]\ntraits = []',
        'tools = ["*"]\nadds_label = "x"', 'tools = ["*"]\n[policy]\nunmatched = "block"',
        'tools = ["*"]\n[list]\na = ["b"]', 'extends = ["permitry:base"]\ntools = ["*"]', 'when.args.x = "@nothing"',
    ],
)  # fmt: skip
def test_a_grant_is_one_permission_and_nothing_else(store: StoredGrants, give: Give, rule: str) -> None:
    """One that is more permits nothing, and keeps no other from counting."""
    grant = give(rule)
    call = ToolCall("anything", {}, call_id="c1")
    with pytest.raises((ConfigError, RuleError)):
        rule_of(grant)
    assert isinstance(guard(store).check(call), Ask)
    give('tools = ["anything"]')
    assert isinstance(guard(store).check(call), Permit)


def test_a_rule_of_the_same_id_keeps_grants_from_counting(store: StoredGrants, give: Give) -> None:
    """A human is asked."""
    grant = give('when.command = ["git add *"]')
    taken = f'[[rule]]\nid = "grant-{grant.id}"\neffect = "allow"\ntools = ["x"]\n'
    assert isinstance(guard(store, RULES + taken).check(ADD), Ask)


def test_grants_are_explained(store: StoredGrants, give: Give) -> None:
    """As rules among the permissions; `decide` agrees, and takes no use."""
    registry = ToolRegistry()
    registry.register(ToolSpec("run_shell"), lambda _: (True, "ran"))
    handler = ToolHandler(policy=load_policy(RULES), registry=registry, grants=Grants(store))
    grant = give('when.command = ["git add *"]', uses_left=1, reason="for today", granted_by="ann")
    assert handler.explain(ADD).decision == handler.decide(ADD)
    explained = handler.explain(ADD)
    assert (explained.decision.verdict, explained.decision.reason) == (Verdict.ALLOW, "for today (ann)")
    (trace,) = [each for each in explained.rules if each.rule_id == f"grant-{grant.id}"]
    assert (trace.priority, trace.deciding) == (250, True)
    assert isinstance(handler.begin(ADD), Ready)
    assert handler.explain(ADD).decision.verdict is Verdict.CONFIRM
    give(f'{ANY}\nwhen.tool_digest = "{ToolSpec("run_shell").digest}"', digest=MAKE.digest)
    assert handler.explain(MAKE).decision == handler.decide(MAKE)
    assert handler.decide(MAKE).verdict is Verdict.CONFIRM
    assert handler.handle(MAKE).ok
    assert isinstance(handler.begin(attrs.evolve(MAKE, arguments={"command": "make y"})), Pending)


def test_a_record_that_fails_lets_no_grant_count(store: StoredGrants, give: Give) -> None:
    """Nothing runs that was not recorded."""
    give(ANY, digest=MAKE.digest)

    class Full:
        def record(self, event: str, call: ToolCall, /, **_: object) -> None:
            del call
            if event == "answered":
                raise OSError("full")

    assert isinstance(guard(store, recorder=Full()).check(MAKE), Refusal)
