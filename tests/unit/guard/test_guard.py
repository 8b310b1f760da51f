"""A guard for a host that runs its tools itself: what it permits, refuses, asks about, and leaves alone."""

import asyncio
import contextlib
import copy
import threading
from collections import UserDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, cast

import attrs
import pytest
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Phase, Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.errors import AuditError, ReplayError
from permitry.guard.guard import Guard
from permitry.guard.handled import HandledCalls
from permitry.guard.ledger import ConfirmationLedger
from permitry.guard.outcome import Ask, Cause, Permit, Refusal, Silence
from permitry.guard.session import Session
from permitry.handler import ToolHandler

_RULES = """
schema = 1
[[rule]]
id = "no-secrets"
effect = "block"
tools = ["*"]
when.text = { contains = "secret" }
message = "Secrets are off limits."
[[rule]]
id = "look"
effect = "allow"
tools = ["look"]
[[rule]]
id = "ask-send"
effect = "confirm"
tools = ["send"]
adds_label = "sent"
"""
_ALLOWS_WRITE = (
    _RULES
    + """
[[rule]]
id = "write"
effect = "allow"
tools = ["write"]
"""
)
_YES, _NO = ToolConfirmationResponse(approved=True), ToolConfirmationResponse(approved=False, instructions="not that")


def _guard(rules: str = _RULES, **parts: Any) -> Guard:  # noqa: ANN401 -- the fields of a guard
    return Guard(load_policy(rules), **parts)


def _call(name: str, call_id: str | None = None, path: str = "a") -> ToolCall:
    # With an argument: the restriction on texts applies to a call without any, as one may have been left out.
    return ToolCall(name, {"path": path}, call_id=call_id)


def _ask(guard: Guard, name: str = "write", call_id: str | None = "c1", path: str = "a") -> Ask:
    ask = guard.check(_call(name, call_id, path))
    assert isinstance(ask, Ask)
    return ask


class _Crashing(UserDict[str, object]):
    """Arguments of a host that cannot be read."""

    def __iter__(self) -> Iterator[str]:
        raise OSError("the connection is gone")

    def __len__(self) -> int:
        return 1


# Calls ------------------------------------------------------------------------------------------------------------


@for_each("kind", [Guard, ToolHandler])
def test_a_guard_is_shown_in_one_line(kind: type[Guard]) -> None:
    """By its policy; its rules and its session are not for a log."""
    guard = kind(policy=load_policy("permitry:base"))
    assert repr(guard) == f"<{kind.__name__}: {guard.policy!r}>"
    assert len(repr(guard)) < 200


def test_a_call_is_made_of_an_object_or_its_text() -> None:
    """As hosts have it."""
    guard = _guard()
    assert guard.call("look", {"path": "a"}) == guard.call("look", '{"path": "a"}') == _call("look", path="a")


@for_each(
    ("name", "arguments"),
    [
        ("look", "{"),
        ("look", "[]"),
        ("look", '{"a": 1, "a": 2}'),
        ("", {}),
        ("look", {"x": object()}),
        ("look", None),
        ("look", _Crashing()),
    ],
)
def test_what_is_not_a_call_is_refused(name: str, arguments: Any) -> None:  # noqa: ANN401 -- whatever a host has
    """In words for the model, wherever it is handed on."""
    guard = _guard(session=Session(yolo_mode=True))
    refusal = guard.call(name, arguments)
    assert isinstance(refusal, Refusal)
    assert (refusal.cause, refusal.rule, refusal.decision) == (Cause.BAD_CALL, None, None)
    assert refusal.text.startswith("The call was not understood")
    assert guard.check(refusal) is guard.inline(refusal) is asyncio.run(guard.ainline(refusal)) is refusal


@for_each("kind", [Guard, ToolHandler])
def test_anything_but_a_call_is_a_mistake_of_the_program(kind: type[Guard]) -> None:
    """The error says what is wanted."""
    with pytest.raises(TypeError, match=r"a call is a ToolCall\(name, arguments\), not \{'name': 'look'\}"):
        kind().check({"name": "look"})  # type: ignore[arg-type]  # the mistake


def test_a_call_of_a_host_may_be_more_than_a_call() -> None:
    """A subclass of the class of calls is decided as its name and arguments are."""

    class HostCall(ToolCall):
        """A call that a host makes a class of its own."""

    call = HostCall("look", {"path": "a"}, call_id="c1")
    assert isinstance(_guard().check(call), Permit)


def test_the_name_of_the_host_is_for_words_only() -> None:
    """Rules see the tool's own name, and the model the one it knows."""
    guard = _guard()
    call = guard.call("bash", {"command": "cat secret"}, shown="Bash")
    assert isinstance(call, ToolCall)
    assert call.digest == ToolCall("bash", {"command": "cat secret"}).digest
    assert _text(guard.check(call)) == "The call of `Bash` was blocked. Secrets are off limits."
    ask = guard.check(guard.call("bash", {"command": "make"}, shown="Bash"))
    assert isinstance(ask, Ask)
    assert "the call of `Bash`" in _text(guard.answer(ask.id, _NO))
    assert "call of `Bash`" in _text(guard.inline(guard.call("bash", {"command": "make"}, shown="Bash")))


def _text(outcome: object) -> str:
    assert isinstance(outcome, Refusal)
    return outcome.text


# Checks -----------------------------------------------------------------------------------------------------------


def test_an_allowed_call_is_permitted() -> None:
    """And one that is blocked is refused, with what the rule says to the model."""
    guard = _guard()
    assert isinstance(guard.check(_call("look", path="a")), Permit)
    refusal = guard.check(_call("look", path="secret/a"))
    assert isinstance(refusal, Refusal)
    assert (refusal.rule, refusal.cause, refusal.ends_session) == ("no-secrets", Cause.POLICY, False)


def test_tools_need_no_registry() -> None:
    """What the host declares is what rules see, and none has to be declared."""
    guard = _guard("schema = 1\n[[rule]]\nid = 'a'\neffect = 'allow'\ntools = ['@reads']\n")
    reads = ToolSpec("peek", traits=ToolTraits(read_only=True))
    assert isinstance(guard.check(_call("peek", "1"), reads), Permit)
    assert isinstance(guard.check(_call("peek", "2")), Ask)


def test_the_declaration_of_another_tool_is_a_mistake() -> None:
    """Its roles would hide what a rule looks at."""
    guard = _guard()
    with pytest.raises(ValueError, match="a call of `look` came with the declaration of `peek`"):
        guard.check(_call("look", "c1"), ToolSpec("peek"))
    assert isinstance(guard.check(_call("look", "c1"), ToolSpec("look")), Permit)


def test_a_call_that_is_checked_twice_is_decided_once() -> None:
    """The same id with the same call has the same question."""
    guard = _guard()
    assert _ask(guard).id == _ask(guard).id
    assert _ask(guard, call_id="c2").id != _ask(guard).id
    assert _ask(guard, path="b").id != _ask(guard).id
    assert _ask(guard, call_id=None).id != _ask(guard, call_id=None).id


def test_a_decision_that_cannot_be_recorded_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs without a record."""

    def fail(*_: object, **__: object) -> None:
        raise AuditError("disk full")

    monkeypatch.setattr(MemoryRecorder, "record", fail)
    refusal = _guard().check(_call("look"))
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.NOT_RECORDED


def test_one_thread_of_many_takes_the_permit() -> None:
    """Of those that check the same call at the same time."""
    guard, taken = _guard(), []

    def run(_: int) -> None:
        outcome = guard.check(_call("look", "c1"))
        with contextlib.suppress(ReplayError):
            if isinstance(outcome, Permit):
                taken.append(outcome.take())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(64)))
    assert taken == [{"path": "a"}]


def test_agents_that_decide_through_each_other_wait_for_no_lock() -> None:
    """Such as a record of one that asks about a call of the other: they have one lock, that of their family."""
    parent = _guard()
    child = _guard(session=parent.session.child("sub"))
    both = threading.Barrier(2)

    @attrs.define
    class Asking(MemoryRecorder):
        other: Guard = attrs.field(kw_only=True)

        def record(self, event: str, call: ToolCall, /, **details: object) -> None:
            super().record(event, call, **details)
            if call.tool == "look":
                with contextlib.suppress(threading.BrokenBarrierError):
                    both.wait(0.1)
                self.other.check(_call("inner"))

    parent.recorder, child.recorder = Asking(other=child), Asking(other=parent)
    threads = [threading.Thread(target=each.check, args=(_call("look"),), daemon=True) for each in (parent, child)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)


# Answers ----------------------------------------------------------------------------------------------------------


def test_a_yes_permits_the_call_that_was_asked_about() -> None:
    """With its own arguments."""
    guard = _guard()
    permit = guard.answer(_ask(guard, path="a").id, _YES)
    assert isinstance(permit, Permit)
    assert permit.take() == {"path": "a"}


def test_a_no_refuses_with_the_words_of_the_human() -> None:
    """And ends the session where the human says so."""
    guard = _guard()
    refusal = guard.answer(_ask(guard).id, _NO)
    assert isinstance(refusal, Refusal)
    assert (refusal.cause, refusal.ends_session) == (Cause.DECLINED, False)
    assert "The user says: not that" in refusal.text
    ended = guard.answer(_ask(guard, path="b").id, attrs.evolve(_NO, abort=True))
    assert isinstance(ended, Refusal)
    assert ended.ends_session


@for_each("result", ["", "3 files"])
def test_a_result_of_the_human_never_lets_the_call_run(result: str) -> None:
    """The host shows it as the result; no budget is used and no label added."""
    guard = _guard()
    for name in ("write", "send"):
        ask = _ask(guard, name)
        refusal = guard.answer(ask.id, ToolConfirmationResponse(False, result=result))
        assert isinstance(refusal, Refusal)
        assert (refusal.text, refusal.cause, refusal.is_error) == (result, Cause.RESPONDED, False)
        assert guard.check(ask.call) == refusal
        assert attrs.evolve(refusal, cause=Cause.DECLINED).is_error
    assert guard.session.labels == frozenset()


def test_edited_arguments_are_decided_again() -> None:
    """And no answer lifts a block."""
    guard = _guard()
    permit = guard.answer(_ask(guard, path="a").id, ToolConfirmationResponse(approved=True, arguments={"path": "b"}))
    assert isinstance(permit, Permit)
    assert permit.take() == {"path": "b"}
    edited = ToolConfirmationResponse(approved=True, arguments={"path": "secret"})
    refusal = guard.answer(_ask(guard, path="c").id, edited)
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "no-secrets"


@for_each("first", [_YES, _NO])
def test_an_answer_counts_once(first: ToolConfirmationResponse) -> None:
    """The second one permits nothing, and one without a question neither."""
    guard = _guard()
    ask = _ask(guard)
    guard.answer(ask.id, first)
    for pending_id in (ask.id, "guess"):
        refusal = guard.answer(pending_id, _YES)
        assert isinstance(refusal, Refusal)
        assert refusal.cause is Cause.NOT_ASKED


def test_an_answer_is_for_the_guard_that_asked() -> None:
    """Not for that of another agent, which has modes of its own and happens to share the ledger."""
    ledger = ConfirmationLedger()
    asked = _guard(ledger=ledger)
    other = _guard(session=asked.session.child("reviewer"), ledger=ledger)
    ask = _ask(asked)
    refusal = other.answer(ask.id, _YES)
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.NOT_ASKED
    assert isinstance(asked.answer(ask.id, _YES), Permit)


def _sub(guard: Guard) -> Guard:
    return attrs.evolve(guard, session=guard.session.child("sub"))


def _copied(guard: Guard) -> Guard:
    other = copy.copy(guard)
    other.session = guard.session.child("sub")
    return other


def _replaced(guard: Guard) -> Guard:
    guard.session = guard.session.child("sub")
    return guard


def _renamed(guard: Guard) -> Guard:
    guard.session.agent = "sub"
    return guard


_OTHERS = pytest.mark.parametrize("other", [_sub, _copied, _replaced, _renamed])


@_OTHERS
def test_what_one_agent_was_permitted_is_decided_for_another(other: Callable[[Guard], Guard]) -> None:
    """Sub-agents give the same ids to their calls, and are allowed less."""
    guard = _guard()
    guard.check(_call("look", "c1"))
    child = other(guard)
    child.session.switch_mode("plan")
    assert isinstance(child.check(_call("look", "c1")), Refusal)


@_OTHERS
def test_the_question_of_one_agent_has_no_answer_from_another(other: Callable[[Guard], Guard]) -> None:
    """Nor is it the question of that one."""
    guard = _guard()
    ask = _ask(guard)
    child = other(guard)
    assert _ask(child).id != ask.id
    refusal = child.answer(ask.id, _YES)
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.NOT_ASKED


def test_a_guard_for_each_request_answers_for_its_session() -> None:
    """With the ledger that they share, and once."""
    first = _guard(ledger=ConfirmationLedger())
    ask = _ask(first)
    second = _guard(ledger=first.ledger, session=first.session)
    assert isinstance(second.answer(ask.id, _YES), Permit)
    assert isinstance(first.answer(ask.id, _YES), Refusal)


def test_guards_that_share_a_ledger_close_their_own_questions() -> None:
    """In their own records; a question that another one removed is settled when its call comes again."""
    now = [0.0]
    ledger = ConfirmationLedger(lifetime=10, clock=lambda: now[0], most=1)
    first, second = _guard(ledger=ledger), _guard(ledger=ledger)
    late = _ask(first)
    now[0] = 11
    _ask(second)
    refusal = first.check(_call("write", "c1"))
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.UNANSWERED
    assert first.check(_call("write", "c1")) == refusal
    assert isinstance(first.answer(late.id, _YES), Refusal)
    assert [_events(each) for each in (first, second)] == [["decided", "asked", "answered"], ["decided", "asked"]]


def _events(guard: Guard) -> list[object]:
    assert isinstance(guard.recorder, MemoryRecorder)
    return [record["event"] for record in guard.recorder.records]


def test_a_late_answer_permits_nothing() -> None:
    """The call counts as one that was not answered."""
    now = [0.0]
    guard = _guard(ledger=ConfirmationLedger(lifetime=10, clock=lambda: now[0]))
    ask = _ask(guard)
    now[0] = 11
    refusal = guard.answer(ask.id, _YES)
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.UNANSWERED


def test_questions_may_be_answered_in_another_order() -> None:
    """Each answer is for its own call."""
    guard = _guard()
    one, two = _ask(guard, call_id="1", path="a"), _ask(guard, call_id="2", path="b")
    second, first = guard.answer(two.id, _YES), guard.answer(one.id, _NO)
    assert isinstance(second, Permit)
    assert second.take() == {"path": "b"}
    assert isinstance(first, Refusal)


def test_a_rule_that_changes_while_a_human_thinks_blocks() -> None:
    """And one that would allow by now makes no run of a "no"."""
    guard = _guard()
    blocked, declined = _ask(guard, call_id="1"), _ask(guard, call_id="2")
    guard.policy = load_policy(_ALLOWS_WRITE)
    assert isinstance(guard.answer(declined.id, _NO), Refusal)
    assert isinstance(guard.check(_call("write", "2")), Refusal)
    guard.policy = load_policy("schema = 1\n[[rule]]\nid = 'none'\neffect = 'block'\ntools = ['*']\n")
    refusal = guard.answer(blocked.id, _YES)
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "none"


def test_a_yes_can_be_remembered_for_the_session() -> None:
    """But not for what a rule asks about."""
    guard, always = _guard(), ToolConfirmationResponse(approved=True, skip_future=True)
    guard.answer(_ask(guard).id, always)
    assert isinstance(guard.check(_call("write", "c2")), Permit)
    guard.answer(_ask(guard, "send").id, always)
    _ask(guard, "send", call_id="c2")


# Asked before -----------------------------------------------------------------------------------------------------


def test_what_the_host_has_asked_about_is_asked_about() -> None:
    """Whatever the rules say by now; so in a process that knows nothing of the first question."""
    guard = _guard(_ALLOWS_WRITE)
    ask = guard.check(_call("write", "c1"), asked=True)
    assert isinstance(ask, Ask)
    assert ask.decision.phase is Phase.HOST
    assert ask.request.reason == "it was asked about before, and has no answer yet"
    assert isinstance(guard.answer(ask.id, _NO), Refusal)
    assert isinstance(guard.check(_call("write", "c1"), asked=True), Refusal)


def test_what_was_asked_about_before_is_not_less_than_blocked() -> None:
    """A block stays one, and a question of a rule keeps its reason."""
    guard = _guard()
    assert isinstance(guard.check(_call("write", "c1", "secret"), asked=True), Refusal)
    ask = guard.check(_call("send", "c2"), asked=True)
    assert isinstance(ask, Ask)
    assert ask.decision.rule_id == "ask-send"


def test_an_open_question_stays_the_same() -> None:
    """In the process that asked it."""
    guard = _guard()
    ask = _ask(guard)
    again = guard.check(_call("write", "c1"), asked=True)
    assert isinstance(again, Ask)
    assert again.id == ask.id


def test_a_permit_is_withdrawn_by_a_question() -> None:
    """Unless it was taken, or a human gave it."""
    guard = _guard(_ALLOWS_WRITE)
    call = _call("write", "c1")
    permit = guard.check(call)
    assert isinstance(permit, Permit)
    ask = guard.check(call, asked=True)
    assert isinstance(ask, Ask)
    with pytest.raises(ReplayError):
        permit.take()
    given = guard.answer(ask.id, _YES)
    assert isinstance(given, Permit)
    again = guard.check(call, asked=True)
    assert isinstance(again, Permit)
    assert given.take() == {"path": "a"}
    with pytest.raises(ReplayError):
        again.take()


def test_what_ran_is_not_asked_about() -> None:
    """Nor run a second time."""
    guard = _guard()
    permit = guard.check(_call("look", "c1"))
    assert isinstance(permit, Permit)
    permit.take()
    again = guard.check(_call("look", "c1"), asked=True)
    assert isinstance(again, Refusal)
    assert (again.cause, again.text) == (
        Cause.HANDLED,
        "The call `c1` has already been handled; give every call an id of its own.",
    )


# Silence ----------------------------------------------------------------------------------------------------------


def test_calls_that_no_rule_is_about_are_left_to_the_host() -> None:
    """Those that a rule is about are not."""
    guard = _guard(unmatched="silence")
    silence = guard.check(_call("write", "c1"))
    assert isinstance(silence, Silence)
    assert (silence.decision.verdict, silence.call.tool) == (Verdict.CONFIRM, "write")
    assert guard.check(_call("write", "c1")) == guard.inline(_call("write", "c1")) == silence
    assert isinstance(guard.check(_call("look")), Permit)
    assert isinstance(guard.check(_call("send")), Ask)
    assert isinstance(guard.check(_call("write", path="secret")), Refusal)


def test_what_the_host_asked_about_is_not_left_to_it() -> None:
    """A question that it knows of stays one."""
    guard = _guard(unmatched="silence")
    call = _call("write", "c1")
    assert isinstance(guard.check(call), Silence)
    assert isinstance(guard.check(call, asked=True), Ask)


def test_where_unmatched_calls_are_blocked_there_is_no_silence() -> None:
    """The policy is stricter than the host."""
    guard = _guard(_RULES + '[policy]\nunmatched = "block"\n', unmatched="silence")
    assert isinstance(guard.check(_call("write")), Refusal)


def test_a_call_that_is_left_to_the_host_counts() -> None:
    """Each time, as it may run each time: no budget is spent twice."""
    rule = """[[rule]]\nid = "few"\neffect = "block"\ntools = ["write"]\nbudget = { calls = 2, per = "1h" }\n"""
    guard = _guard(f"schema = 1\n{rule}", unmatched="silence")
    kinds = [type(guard.check(_call("write", call_id))) for call_id in ("c1", "c1", "c1", "c2")]
    assert kinds == [Silence, Silence, Refusal, Refusal]
    assert guard.session.counts["write"] == 2


def test_a_call_that_is_left_to_the_host_leaves_its_labels() -> None:
    """What it reads is in the session from then on."""
    rule = """
        schema = 1
        [[rule]]
        id = "few"
        effect = "confirm"
        tools = ["write"]
        budget = { calls = 2, per = "1h" }
        adds_label = "untrusted"
    """
    guard = _guard(rule, unmatched="silence")
    assert isinstance(guard.check(_call("write")), Silence)
    assert guard.session.labels == {"untrusted"}


@for_each(("effect", "outcome"), [("block", Refusal), ("plan", Refusal), ("confirm", Ask), ("allow", Silence)])
def test_a_call_that_is_left_to_the_host_is_decided_each_time(effect: str, outcome: type) -> None:
    """A rule that allows it by now makes no run of the "no" that the host may have got."""
    guard = _guard(unmatched="silence")
    assert isinstance(guard.check(_call("write", "c1")), Silence)
    if effect == "plan":
        guard.session.switch_mode("plan")
    else:
        guard.policy = load_policy(f"schema = 1\n[[rule]]\nid = 'r'\neffect = '{effect}'\ntools = ['write']\n")
    assert isinstance(guard.check(_call("write", "c1")), outcome)


def test_a_call_that_is_left_to_the_host_needs_no_new_id() -> None:
    """However many were used before."""
    guard = _guard(unmatched="silence", handled=HandledCalls(calls=2, ids=0))
    for name, call_id in (("look", "c0"), ("write", "c1"), ("look", "c2")):
        guard.check(_call(name, call_id))
    assert isinstance(guard.check(_call("write", "c1")), Silence)
    assert isinstance(guard.check(_call("look", "c0")), Refusal)


def test_a_handler_is_never_silent() -> None:
    """Nothing else asks there, whatever is set."""
    handler: Any = ToolHandler(policy=load_policy(_RULES))
    with pytest.raises(AttributeError):
        handler.unmatched = "silence"
    handler.registry.register(ToolSpec("write"), lambda _: "done")
    assert isinstance(handler.check(_call("write")), Ask)


def test_a_handler_gives_permits_for_its_own_tools() -> None:
    """For a host that runs some of them itself; what it does not know is refused."""
    handler = ToolHandler(policy=load_policy(_RULES))
    handler.registry.register(ToolSpec("look"), lambda _: "done")
    permit = handler.check(_call("look", path="a"))
    assert isinstance(permit, Permit)
    assert permit.take() == {"path": "a"}
    assert isinstance(handler.check(_call("peek")), Refusal)


def test_an_unknown_word_for_unmatched_is_refused() -> None:
    """At once."""
    with pytest.raises(ValueError, match="unmatched"):
        _guard(unmatched="allow")


# Inline -----------------------------------------------------------------------------------------------------------


@for_each("inline", [Guard.inline, lambda guard, call: asyncio.run(guard.ainline(call))])
def test_a_host_that_can_wait_asks_on_the_channel(inline: Callable[[Guard, ToolCall], object]) -> None:
    """And gets what follows from the answer."""
    guard = _guard(channel=CallbackChannel(lambda request: _YES if request.tool == "write" else _NO))
    assert isinstance(inline(guard, _call("write")), Permit)
    assert isinstance(inline(guard, _call("other")), Refusal)
    assert isinstance(inline(guard, _call("look")), Permit)
    silent = _guard(unmatched="silence")
    assert isinstance(inline(silent, _call("write")), Silence)


def test_a_channel_that_fails_permits_nothing() -> None:
    """No answer is not a yes."""

    def crash(_: object) -> ToolConfirmationResponse:
        raise OSError("no terminal")

    refusal = _guard(channel=CallbackChannel(crash)).inline(_call("write"))
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.UNANSWERED


def test_a_question_that_is_withdrawn_counts_as_unanswered() -> None:
    """On record, with the reason; it cannot be answered any more, and a second time it is no one's."""
    guard = _guard()
    ask = _ask(guard)
    guard.withdraw(ask.id, "the client has left")
    guard.withdraw(ask.id, "again")
    outcome = guard.answer(ask.id, _YES)
    assert isinstance(outcome, Refusal)
    assert outcome.cause is Cause.NOT_ASKED
    assert isinstance(guard.recorder, MemoryRecorder)
    last = guard.recorder.records[-1]
    assert (last["event"], last["approved"], last["error"]) == ("answered", False, "the client has left")


def test_a_question_that_is_withdrawn_late_is_closed_as_well() -> None:
    """Its deadline says nothing of whether it is on record."""
    now = [0.0]
    guard = _guard(ledger=ConfirmationLedger(1.0, clock=lambda: now[0]))
    ask = _ask(guard)
    now[0] = 2.0
    guard.withdraw(ask.id, "the client has left")
    assert len(guard.ledger) == 0


def test_a_list_in_place_of_a_command_switches_no_rule_off() -> None:
    """It is blocked where a way to run it is, and allowed where every one is."""
    rules = '[[rule]]\nid = "no"\neffect = "block"\nwhen.command = "git push *"\n'
    guard = _guard(f'schema = 1\nextends = ["permitry:read-only"]\n{rules}')
    for words in (["git push"], ["ls", "; git push"], ["ls", ";", "git", "push"]):
        refusal = guard.check(ToolCall("bash", {"command": words}))
        assert isinstance(refusal, Refusal)
        assert refusal.rule == "no"
    assert isinstance(guard.check(ToolCall("bash", {"command": ["ls", "-l"]})), Permit)


@for_each(("asked_by", "counted"), [("guard", 0), ("host", 1)])
def test_a_call_counts_when_its_host_asks(asked_by: Literal["guard", "host"], counted: int) -> None:
    """What a host does after its own question is not reported: the call counts like one that runs."""
    guard = Guard(asked_by=asked_by)
    assert isinstance(guard.check(ToolCall("x", call_id="c1")), Ask)
    assert guard.session.counts["x"] == counted


def test_a_call_can_be_counted_that_is_not_decided() -> None:
    """As another reading of the name of one that may run."""
    guard = Guard()
    guard.count(ToolCall("x"))
    assert guard.session.counts["x"] == 1


@for_each(
    ("given", "hint"),
    [("rules.toml", "load_policy('rules.toml')"), (Path("a"), "load it first"), ([], "for rules")],
)
def test_what_is_not_a_policy_is_refused_with_the_way_to_one(given: object, hint: str) -> None:
    """A path is the most usual mistake."""
    with pytest.raises(TypeError, match="must be an AuthorizationPolicy") as caught:
        Guard(cast("AuthorizationPolicy", given))
    assert hint in str(caught.value)


@attrs.define
class _Tracker:
    """Counts the turns that began."""

    begun: int = 0

    def begin(self) -> None:
        self.begun += 1

    def diff(self) -> str:
        return f"diff of turn {self.begun}"


def test_without_a_tracker_nothing_is_known() -> None:
    """Which is not the same as no change: that is an empty text."""
    guard = Guard()
    guard.begin_turn()
    assert guard.turn_diff() is None


def test_a_tracker_is_asked() -> None:
    """For what has changed since the turn began."""
    guard = Guard(tracker=_Tracker())
    guard.begin_turn()
    guard.begin_turn()
    assert guard.turn_diff() == "diff of turn 2"
