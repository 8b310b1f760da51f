"""The beginning of a call: decide, record, and say whether it may run."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.budget import Budget
from permitry.conditions.scope import Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Phase, Verdict
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import LedgerError
from permitry.guard.ledger import ConfirmationLedger
from permitry.handler import Blocked, Cause, Pending, Ready, ToolHandler
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

Ran = list[tuple[str, dict[str, Any]]]
Events = Callable[[], list[object]]

_LOOK = ToolCall("look", {"path": "a"}, call_id="c1")
_WRITE = ToolCall("write", {"path": "a"}, call_id="c1")


def test_an_allowed_call_is_ready(handler: ToolHandler, ran: Ran, events: Events) -> None:
    """It is decided and on record, and has not run yet."""
    outcome = handler.begin(_LOOK)
    assert isinstance(outcome, Ready)
    assert (outcome.call, outcome.decision.verdict) == (_LOOK, Verdict.ALLOW)
    assert (ran, events()) == ([], ["decided"])


def test_a_blocked_call_is_told_why_it_did_not_run(
    handler: ToolHandler, restrict: Callable[[Verdict], None], events: Events
) -> None:
    """The model gets the rule's message; neither the rule's id nor its reason."""
    restrict(Verdict.BLOCK)
    outcome = handler.begin(_WRITE)
    assert isinstance(outcome, Blocked)
    assert (outcome.decision.rule_id, outcome.cause, events()) == ("house-rule", Cause.POLICY, ["decided"])
    assert outcome.result == ToolResult(False, "The call of `write` was blocked. Leave that alone.")


def test_a_call_to_confirm_is_pending(handler: ToolHandler, ran: Ran, events: Events) -> None:
    """The question is open and on record, with what the human should see."""
    outcome = handler.begin(_WRITE)
    assert isinstance(outcome, Pending)
    assert (outcome.call, outcome.decision.verdict) == (_WRITE, Verdict.CONFIRM)
    assert (outcome.request.call, outcome.request.preview) == (_WRITE, "+a")
    assert len(handler.ledger) == 1
    assert (ran, events()) == ([], ["decided", "asked"])


def test_a_decision_is_recorded_with_its_call(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """The record tells what was decided, about which arguments, in which mode."""
    handler.session.switch_mode("yolo")
    handler.begin(_WRITE)
    [decided] = recorder.records
    wanted = {"event": "decided", "call_id": "c1", "tool": "write", "digest": _WRITE.digest, "verdict": "allow"}
    assert wanted.items() <= decided.items()
    assert (decided["rule"], decided["arguments"], decided["mode"]) == ("yolo", {"path": "a"}, "yolo")


# The same call twice ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [_LOOK, _WRITE, ToolCall("missing", call_id="c1")])
def test_the_same_call_begins_once(handler: ToolHandler, recorder: MemoryRecorder, call: ToolCall) -> None:
    """The second time, the outcome is the same object, and nothing more is recorded."""
    first = handler.begin(call)
    count = len(recorder.records)
    assert handler.begin(attrs.evolve(call)) is first
    assert len(recorder.records) == count


def test_a_decision_is_pinned(handler: ToolHandler) -> None:
    """A call that is asked about is not decided again because the rules have changed."""
    pending = handler.begin(_WRITE)
    handler.session.switch_mode("yolo")
    assert handler.begin(_WRITE) is pending


def test_an_answered_call_keeps_its_answer(handler: ToolHandler, ask: Callable[[], Pending]) -> None:
    """A no stays a no when the call comes again."""
    blocked = handler.resolve(ask().pending_id, ToolConfirmationResponse(False))
    handler.session.switch_mode("yolo")
    assert handler.begin(_WRITE) is blocked


def test_the_same_id_with_other_arguments_is_another_call(handler: ToolHandler, ask: Callable[..., Pending]) -> None:
    """An answer for the one does not count for the other."""
    handler.resolve(ask("a").pending_id, ToolConfirmationResponse(True))
    assert ask("b").call.arguments == {"path": "b"}


def test_the_same_arguments_with_another_id_are_another_call(handler: ToolHandler, ask: Callable[..., Pending]) -> None:
    """One approval is for one call."""
    first = ask("a", "c1")
    handler.resolve(first.pending_id, ToolConfirmationResponse(True))
    assert ask("a", "c2").pending_id != first.pending_id


def test_calls_without_ids_are_calls_of_their_own(handler: ToolHandler) -> None:
    """Each is decided, and each gets an id that the record can name."""
    call = ToolCall("write", {"path": "a"})
    first, second = handler.begin(call), handler.begin(call)
    assert isinstance(first, Pending)
    assert isinstance(second, Pending)
    assert first.pending_id != second.pending_id
    assert None not in {first.call.call_id, second.call.call_id}
    assert first.call.call_id != second.call.call_id


def test_a_given_id_is_never_taken_by_a_call_without_one(handler: ToolHandler, ran: Ran) -> None:
    """An id made up by the handler is not an id a model could have used."""
    call = ToolCall("look", {"path": "a"})
    for number in range(5):
        handler.handle(attrs.evolve(call, call_id=f"call-{number}"))
    assert handler.handle(call).ok
    assert len(ran) == 6


def test_a_made_up_id_is_as_unguessable_as_the_ledgers(handler: ToolHandler) -> None:
    """It comes from the same source as the ids of questions."""
    handler.ledger = ConfirmationLedger(new_id=lambda: "unguessable")
    outcome = handler.begin(ToolCall("look"))
    assert outcome.call.call_id == "call-unguessable"


def test_the_text_of_a_handler_gives_no_answerable_id_away(handler: ToolHandler, ask: Callable[[], Pending]) -> None:
    """As the text of a ledger does not; what a recorder shows of itself is its own affair."""
    pending = ask()
    handler.recorder = MemoryRecorder()
    assert pending.pending_id not in repr(handler)
    assert "AuthorizedCall" not in repr(handler)


def test_the_text_of_a_handler_with_its_record_gives_no_answerable_id_away(
    handler: ToolHandler, ask: Callable[[], Pending], recorder: MemoryRecorder
) -> None:
    """The record of a question holds its id, and stays out of the text."""
    pending = ask()
    assert pending.pending_id in repr(recorder)
    assert pending.pending_id not in repr(handler)


# From within ------------------------------------------------------------------------------------------------------


@attrs.define
class _Impatient:
    """Begins a call again while it is being decided."""

    again: Callable[[ToolCall], object]
    seen: list[object] = attrs.field(factory=list)
    was_told: bool = False

    def record(self, event: str, call: ToolCall, /, **details: object) -> None:
        """Begin the call, once, and note what comes of it."""
        if not self.was_told:
            self.was_told = True
            try:
                self.seen.append(self.again(call))
            except LedgerError as error:
                self.seen.append(f"{event}, {len(details)}: {error}")


@pytest.mark.parametrize("call", [_LOOK, _WRITE])
def test_a_call_that_is_being_decided_is_not_begun_again(handler: ToolHandler, call: ToolCall) -> None:
    """A recorder that begins the call it is notified of is refused: there is one outcome, and one question at most."""
    recorder = _Impatient(handler.begin)
    handler.recorder = recorder
    outcome = handler.begin(call)
    assert [str(each).partition(": ")[2] for each in recorder.seen] == ["the call `c1` is being decided already"]
    assert handler.begin(call) is outcome
    assert len(handler.ledger) == isinstance(outcome, Pending)


def test_a_refusal_from_within_that_nobody_catches_blocks_the_call(handler: ToolHandler, ran: Ran) -> None:
    """A recorder that fails for it has recorded nothing."""

    class Careless:
        def record(self, event: str, call: ToolCall, /, **details: object) -> None:
            assert (event, bool(details)) == ("decided", True)
            handler.handle(call)

    handler.recorder = Careless()
    outcome = handler.begin(_LOOK)
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, ran) == (Cause.NOT_RECORDED, [])


def test_another_call_may_begin_meanwhile(handler: ToolHandler) -> None:
    """Only the very call that is being decided is refused."""
    recorder = _Impatient(lambda call: handler.begin(attrs.evolve(call, call_id="c2")))
    handler.recorder = recorder
    assert isinstance(handler.begin(_LOOK), Ready)
    assert [type(each) for each in recorder.seen] == [Ready]


def test_a_decision_that_was_interrupted_can_be_made_again(handler: ToolHandler) -> None:
    """Ctrl-C in the middle leaves the call as if it had never begun."""

    class Interrupted:
        def record(self, *_: object, **__: object) -> None:
            raise KeyboardInterrupt

    recorder, handler.recorder = handler.recorder, Interrupted()
    with pytest.raises(KeyboardInterrupt):
        handler.begin(_LOOK)
    handler.recorder = recorder
    assert isinstance(handler.begin(_LOOK), Ready)


# Tools that are not there -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["default", "yolo"])
def test_an_unknown_tool_is_blocked_with_the_nearest_name(handler: ToolHandler, mode: str) -> None:
    """Whatever the mode, the model is shown what there is."""
    handler.session.switch_mode(mode)
    outcome = handler.begin(ToolCall("wriet"))
    assert isinstance(outcome, Blocked)
    assert (outcome.decision.verdict, outcome.decision.phase) == (Verdict.BLOCK, Phase.INPUT)
    assert outcome.cause is Cause.POLICY
    assert outcome.result.text == (
        "The call of `wriet` was blocked. There is no tool `wriet`. Did you mean `write`? Tools: look, write."
    )


def test_an_unknown_tool_like_no_other_gets_no_guess(handler: ToolHandler) -> None:
    """A nearest name is given only when one is near."""
    outcome = handler.begin(ToolCall("xyzzy"))
    assert isinstance(outcome, Blocked)
    assert outcome.result.text.endswith("There is no tool `xyzzy`. Tools: look, write.")


def test_an_unknown_tool_is_recorded_as_blocked(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """The record says that the name was the reason."""
    handler.begin(ToolCall("xyzzy"))
    [decided] = recorder.records
    assert (decided["verdict"], decided["phase"]) == ("block", "input")
    assert decided["reason"] == "the tool `xyzzy` is not registered"


def test_errors_of_rules_are_kept_when_the_tool_is_missing(handler: ToolHandler, recorder: MemoryRecorder) -> None:
    """Every error on the way to a decision is in the record, with the policy that decided."""

    class Broken:
        def priority(self) -> int:
            return 250

        def should_allow_without_confirmation(self, tool_name: str, context: object) -> bool:
            raise ValueError(tool_name, context)

    handler.policy = create_default_authorization_policy([Broken()])
    outcome = handler.begin(ToolCall("missing"))
    [decided] = recorder.records
    assert (decided["verdict"], decided["policy_version"]) == ("block", handler.policy.version)
    assert [error.rule_id for error in outcome.decision.errors] == ["broken"]
    assert decided["errors"]


def test_a_restriction_speaks_before_a_missing_tool(handler: ToolHandler) -> None:
    """In plan mode an unknown tool is blocked for the mode."""
    handler.session.switch_mode("plan")
    outcome = handler.begin(ToolCall("xyzzy"))
    assert isinstance(outcome, Blocked)
    assert outcome.decision.rule_id == "plan-mode"


# What was decided is what runs ------------------------------------------------------------------------------------


def test_the_callers_dict_is_not_the_calls(handler: ToolHandler, ran: Ran) -> None:
    """Changing it between the question and the run changes nothing."""
    mine: dict[str, Any] = {"path": "a", "lines": [["x"]]}
    outcome = handler.begin(ToolCall("look", mine))
    mine["path"] = "/etc/shadow"
    mine["lines"][0][0] = "y"
    assert isinstance(outcome, Ready)
    handler.run(outcome)
    assert ran == [("look", {"path": "a", "lines": [["x"]]})]


def test_an_aliased_list_is_two_lists(handler: ToolHandler, ran: Ran) -> None:
    """One object in two places of the arguments cannot be used to change one by the other."""
    shared = ["x"]
    outcome = handler.begin(ToolCall("look", {"one": shared, "two": shared}))
    shared.append("y")
    assert isinstance(outcome, Ready)
    handler.run(outcome)
    [(_, arguments)] = ran
    assert arguments == {"one": ["x"], "two": ["x"]}
    assert arguments["one"] is not arguments["two"]


def test_a_channel_cannot_change_the_arguments_it_shows(handler: ToolHandler, ran: Ran) -> None:
    """What the human saw is read-only, and what runs."""

    def answer(request: Any) -> ToolConfirmationResponse:  # noqa: ANN401 -- to try what types forbid
        with pytest.raises(TypeError):
            request.arguments["path"] = "b"
        return ToolConfirmationResponse(True)

    handler.channel = CallbackChannel(answer)
    handler.handle(_WRITE)
    assert ran == [("write", {"path": "a"})]


# Budgets ----------------------------------------------------------------------------------------------------------


_ONE_LOOK = ConfiguredRule(
    "once", Verdict.BLOCK, 150, Scope((ToolSelector("look"), ToolSelector("write"))), Budget("once", 1)
)
_ONE_FLOW = FlowRule("once", Scope((ToolSelector("look"), ToolSelector("write"))), counts=True)


@pytest.fixture
def once(handler: ToolHandler) -> ToolHandler:
    """Return the handler with a budget of one call."""
    handler.policy = create_default_authorization_policy([_ONE_LOOK], flows=[_ONE_FLOW])
    return handler


def _count_ready(outcomes: Iterable[object]) -> int:
    return sum(isinstance(outcome, Ready) for outcome in outcomes)


def test_calls_that_are_begun_side_by_side_share_a_budget(once: ToolHandler) -> None:
    """A call counts when it may run, not when it has."""
    outcomes = [once.begin(attrs.evolve(_LOOK, call_id=f"c{i}")) for i in range(5)]
    assert [type(outcome) for outcome in outcomes] == [Ready, *[Blocked] * 4]
    assert len(once.session.history) == 1


def test_threads_and_handlers_of_one_session_share_a_budget(once: ToolHandler, registry: ToolRegistry) -> None:
    """Between the decision and its note no one else decides."""
    other = ToolHandler(once.session, once.policy, registry=registry)
    outcomes: list[object] = []
    gate = threading.Barrier(8)

    def begin(number: int) -> None:
        gate.wait()
        outcomes.append((once, other)[number % 2].begin(ToolCall("look", {"path": "a"}, call_id=f"c{number}")))

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(outcomes), _count_ready(outcomes)) == (8, 1)


def test_nobody_decides_in_a_session_while_another_does(once: ToolHandler, registry: ToolRegistry) -> None:
    """The lock is the session's: a second handler waits for what the first one notes."""
    other = ToolHandler(once.session, once.policy, registry=registry)
    seen: list[object] = []
    with once.session.lock:
        thread = threading.Thread(target=lambda: seen.append(other.begin(attrs.evolve(_LOOK, call_id="c2"))))
        thread.start()
        thread.join(0.05)
        assert seen == []
        assert isinstance(once.begin(_LOOK), Ready)
    thread.join()
    assert [type(outcome) for outcome in seen] == [Blocked]


def test_an_approval_is_decided_again(once: ToolHandler) -> None:
    """Of two questions that were open together, one answer spends the budget, and the other is blocked."""
    first, second = (once.begin(attrs.evolve(_WRITE, call_id=call_id)) for call_id in ("c1", "c2"))
    assert isinstance(first, Pending)
    assert isinstance(second, Pending)
    outcomes = [once.resolve(each.pending_id, ToolConfirmationResponse(True)) for each in (first, second)]
    assert [type(outcome) for outcome in outcomes] == [Ready, Blocked]


def test_a_family_of_sessions_shares_a_budget(once: ToolHandler, registry: ToolRegistry) -> None:
    """A sub-agent spends what its parent has, and the other way round, whenever it was started."""
    early = once.session.child("early")
    handlers = [ToolHandler(early, once.policy, registry=registry), once]
    late = ToolHandler(once.session.child("late"), once.policy, registry=registry)
    outcomes = [each.begin(attrs.evolve(_LOOK, call_id="c")) for each in (*handlers, late)]
    assert [type(outcome) for outcome in outcomes] == [Ready, Blocked, Blocked]
    assert early.lock is once.session.lock is late.session.lock


def test_a_question_costs_nothing_until_it_is_answered(once: ToolHandler) -> None:
    """Nor does one that is declined."""
    pending = once.begin(_WRITE)
    assert isinstance(pending, Pending)
    once.resolve(pending.pending_id, ToolConfirmationResponse(False))
    assert len(once.session.history) == 0
    assert isinstance(once.begin(attrs.evolve(_LOOK, call_id="c2")), Ready)
