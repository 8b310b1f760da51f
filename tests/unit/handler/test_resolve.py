"""Answers to open questions: each once, in time, for one call, and never against a restriction."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import with_check
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import LateAnswerError, LedgerError, ToolError
from permitry.guard.session import Session
from permitry.handler import Blocked, Cause, Pending, Ready, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]
Ask = Callable[..., Pending]
Restrict = Callable[..., None]

_YES = ToolConfirmationResponse(True)
_NO = ToolConfirmationResponse(False)


class _Lookalike:
    approved = is_approval = True
    skip_future = is_remembered = abort = False
    instructions = ""
    arguments = None


def _edited(**arguments: object) -> ToolConfirmationResponse:
    return ToolConfirmationResponse(True, arguments=arguments)


# The answers ------------------------------------------------------------------------------------------------------


def test_a_yes_makes_the_call_ready(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """The approved call, with its own arguments, may run."""
    pending = ask()
    outcome = handler.resolve(pending.pending_id, _YES)
    assert isinstance(outcome, Ready)
    assert (outcome.call, outcome.decision) == (pending.call, pending.decision)
    assert handler.run(outcome).ok
    assert ran == [("write", {"path": "a"})]


def test_a_no_blocks_the_call(handler: ToolHandler, ask: Ask) -> None:
    """The model is shown that the user declined."""
    outcome = handler.resolve(ask().pending_id, _NO)
    assert isinstance(outcome, Blocked)
    assert "The user declined the call of `write`" in outcome.result.text
    assert (outcome.result.ok, outcome.result.ends_session, outcome.cause) == (False, False, Cause.DECLINED)


def test_guidance_reaches_the_model(handler: ToolHandler, ask: Ask) -> None:
    """The user's words are in the result."""
    outcome = handler.resolve(ask().pending_id, ToolConfirmationResponse(False, instructions="use tabs"))
    assert "The user says: use tabs" in handler.run(outcome).text


@pytest.mark.parametrize("approved", [True, False])
def test_an_abort_ends_the_session(handler: ToolHandler, ask: Ask, approved: bool) -> None:  # noqa: FBT001 -- a table
    """Even together with a yes, nothing runs."""
    outcome = handler.resolve(ask().pending_id, ToolConfirmationResponse(approved, abort=True))
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.DECLINED
    assert (outcome.result.ok, outcome.result.ends_session) == (False, True)


def test_an_answer_is_recorded(handler: ToolHandler, ask: Ask, recorder: MemoryRecorder) -> None:
    """The record binds the answer to its question and its call."""
    pending = ask()
    handler.resolve(pending.pending_id, ToolConfirmationResponse(False, instructions="use tabs"))
    answered = recorder.records[-1]
    assert (answered["event"], answered["pending_id"]) == ("answered", pending.pending_id)
    assert (answered["call_id"], answered["digest"]) == ("c1", pending.call.digest)
    assert (answered["approved"], answered["instructions"]) == (False, "use tabs")


@pytest.mark.parametrize("skip_future", [True, False])
@pytest.mark.parametrize("abort", [True, False])
@pytest.mark.parametrize("arguments", [None, {}, {"path": "b"}])
def test_all_of_an_answer_is_recorded(
    handler: ToolHandler,
    ask: Ask,
    recorder: MemoryRecorder,
    *,
    skip_future: bool,
    abort: bool,
    arguments: dict[str, object] | None,
) -> None:
    """Whether it was to be remembered, ended the session, or changed the call."""
    response = ToolConfirmationResponse(True, skip_future=skip_future, abort=abort, arguments=arguments)
    handler.resolve(ask().pending_id, response)
    [answered] = [each for each in recorder.records if each["event"] == "answered"]
    assert answered["approved"] is not abort
    assert (answered["skip_future"], answered["abort"]) == (skip_future, abort)
    assert answered["edited"] is (arguments is not None)


# A result in place of the tool's ----------------------------------------------------------------------------------


def test_a_result_in_place_of_the_tools_is_what_the_model_reads(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """As it is, as if the call had worked; the tool does not run."""
    pending = ask()
    outcome = handler.resolve(pending.pending_id, ToolConfirmationResponse(False, result="3 files"))
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.RESPONDED
    for result in (handler.run(outcome), handler.handle(pending.call)):
        assert (result.ok, result.text) == (True, "3 files")
    assert ran == []


def test_a_response_is_recorded_and_nothing_else_is(handler: ToolHandler, ask: Ask, recorder: MemoryRecorder) -> None:
    """No tool has started; an ordinary answer has no such keys."""
    handler.resolve(ask().pending_id, ToolConfirmationResponse(False, result="3 files"))
    assert [each["event"] for each in recorder.records] == ["decided", "asked", "answered"]
    answered = recorder.records[-1]
    assert (answered["approved"], answered["responded"], answered["result"]) == (False, True, "3 files")
    handler.resolve(ask("c2").pending_id, _NO)
    assert not recorder.records[-1].keys() & {"responded", "result"}


def test_a_response_counts_once(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """No approval comes after it."""
    pending = ask()
    handler.resolve(pending.pending_id, ToolConfirmationResponse(False, result="x"))
    with pytest.raises(LedgerError):
        handler.resolve(pending.pending_id, _YES)
    assert ran == []


def test_a_host_of_its_own_is_shown_the_result() -> None:
    """In `session.messages`; it must not run the tool."""
    handler = ToolHandler()
    assert not handler.process_confirmation(ToolConfirmationResponse(False, result="3 files"), "write")
    assert handler.session.messages == ["3 files"]


# "Do not ask again" -----------------------------------------------------------------------------------------------


def test_a_remembered_yes_counts_from_the_next_call_on(handler: ToolHandler, ask: Ask) -> None:
    """The tool runs without a question, whatever its arguments."""
    handler.resolve(ask().pending_id, ToolConfirmationResponse(True, skip_future=True))
    outcome = handler.begin(ToolCall("write", {"path": "b"}))
    assert isinstance(outcome, Ready)
    assert outcome.decision.rule_id == "ignore-list"


@pytest.mark.parametrize(("approved", "abort"), [(False, False), (True, True), (False, True)])
def test_a_no_is_never_remembered(handler: ToolHandler, ask: Ask, approved: bool, abort: bool) -> None:  # noqa: FBT001 -- a table
    """The wish not to be asked again counts only with an approval."""
    response = ToolConfirmationResponse(approved, skip_future=True, abort=abort)
    handler.resolve(ask().pending_id, response)
    assert handler.session.tool_ignore_list == []


def test_a_yes_to_a_restriction_is_not_remembered(handler: ToolHandler, ask: Ask, restrict: Restrict) -> None:
    """What a restriction asks about is asked about every time."""
    restrict(Verdict.CONFIRM)
    assert isinstance(handler.resolve(ask().pending_id, ToolConfirmationResponse(True, skip_future=True)), Ready)
    assert handler.session.tool_ignore_list == []
    assert isinstance(handler.begin(ToolCall("write", {"path": "b"})), Pending)


def test_the_ignore_list_does_not_lift_a_restriction(handler: ToolHandler, ask: Ask, restrict: Restrict) -> None:
    """A remembered yes from before is not an answer to a restriction that comes later."""
    handler.resolve(ask().pending_id, ToolConfirmationResponse(True, skip_future=True))
    restrict(Verdict.CONFIRM)
    assert isinstance(handler.begin(ToolCall("write", {"path": "b"})), Pending)


def test_an_edit_that_is_blocked_remembers_nothing(handler: ToolHandler, ask: Ask, restrict: Restrict) -> None:
    """A yes that led to no run leaves nothing behind."""
    restrict(Verdict.BLOCK, "secret")
    response = ToolConfirmationResponse(True, skip_future=True, arguments={"path": "secret"})
    assert isinstance(handler.resolve(ask().pending_id, response), Blocked)
    assert handler.session.tool_ignore_list == []


@pytest.mark.parametrize(("asked", "edited"), [("a", "secret"), ("secret", "a")])
def test_an_edit_from_or_into_a_restriction_is_not_remembered(
    handler: ToolHandler, ask: Ask, restrict: Restrict, asked: str, edited: str
) -> None:
    """A restriction that spoke about either version asks every time."""
    restrict(Verdict.CONFIRM, "secret")
    response = ToolConfirmationResponse(True, skip_future=True, arguments={"path": edited})
    assert isinstance(handler.resolve(ask(asked).pending_id, response), Ready)
    assert handler.session.tool_ignore_list == []


# Edited arguments -------------------------------------------------------------------------------------------------


def test_what_a_rule_asks_about_by_now_is_not_remembered(handler: ToolHandler, ask: Ask, restrict: Restrict) -> None:
    """The yes is for the call, and the next one is asked about."""
    pending = ask("secret")
    restrict(Verdict.CONFIRM)
    assert isinstance(handler.resolve(pending.pending_id, ToolConfirmationResponse(True, skip_future=True)), Ready)
    assert handler.session.tool_ignore_list == []


def test_an_edit_that_the_tool_cannot_take_says_so() -> None:
    """And an edit is brought into the form that rules see, like the arguments of a model."""

    def check(given: dict[str, Any]) -> None:
        if given["to"] == "nowhere":
            raise ToolError("the place is unknown")

    def low(given: dict[str, Any]) -> dict[str, Any]:
        return {"to": given["to"].lower()}

    handler = ToolHandler()
    handler.registry.register(ToolSpec("send"), with_check(lambda _: "sent", check, canonical=low))
    misfit, fit = (handler.begin(ToolCall("send", {"to": "a"}, call_id=each)) for each in ("c1", "c2"))
    assert isinstance(misfit, Pending)
    assert isinstance(fit, Pending)
    outcome = handler.resolve(misfit.pending_id, _edited(to="nowhere"))
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.MISFIT
    outcome = handler.resolve(fit.pending_id, _edited(to="B"))
    assert isinstance(outcome, Ready)
    assert outcome.call.arguments == {"to": "b"}


def test_edited_arguments_are_what_runs(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """The human's version replaces the model's, under the same id."""
    outcome = handler.resolve(ask().pending_id, _edited(path="b"))
    assert isinstance(outcome, Ready)
    assert (outcome.call.call_id, outcome.call.arguments) == ("c1", {"path": "b"})
    handler.run(outcome)
    assert ran == [("write", {"path": "b"})]


@pytest.mark.parametrize("mode", ["default", "yolo"])
def test_an_edit_is_decided_again_and_recorded(
    handler: ToolHandler, ask: Ask, recorder: MemoryRecorder, mode: str
) -> None:
    """The record has the arguments that run, not only those that were asked about."""
    pending = ask()
    handler.session.switch_mode(mode)
    handler.resolve(pending.pending_id, _edited(path="b"))
    decided = recorder.records[-1]
    assert (decided["event"], decided["edited"], decided["arguments"]) == ("decided", True, {"path": "b"})
    assert decided["digest"] == ToolCall("write", {"path": "b"}).digest
    assert decided["verdict"] == ("allow" if mode == "yolo" else "confirm")


def test_a_call_that_was_edited_into_another_is_that_one(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """When the model then sends the edited call under the same id, it is neither asked about nor run again."""
    outcome = handler.resolve(ask("a").pending_id, _edited(path="b"))
    handler.run(outcome)
    assert handler.begin(ToolCall("write", {"path": "b"}, call_id="c1")) is outcome
    assert "already been handled" in handler.handle(ToolCall("write", {"path": "b"}, call_id="c1")).text
    assert len(ran) == 1


def test_an_edit_that_was_blocked_stays_blocked(handler: ToolHandler, ask: Ask, restrict: Restrict) -> None:
    """Neither call of that id gets a second decision."""
    restrict(Verdict.BLOCK, "secret")
    outcome = handler.resolve(ask("a").pending_id, _edited(path="secret"))
    restrict(Verdict.CONFIRM, "nothing")
    for path in ("a", "secret"):
        assert handler.begin(ToolCall("write", {"path": path}, call_id="c1")) is outcome


def test_an_edit_that_changes_nothing_is_no_edit(
    handler: ToolHandler, ask: Ask, events: Callable[[], list[object]]
) -> None:
    """The same arguments are the call that was decided."""
    assert isinstance(handler.resolve(ask().pending_id, _edited(path="a")), Ready)
    assert events() == ["decided", "asked", "answered"]


def test_an_edit_into_something_restricted_is_blocked(
    handler: ToolHandler, ask: Ask, restrict: Restrict, ran: Ran
) -> None:
    """A human cannot edit a call past a restriction."""
    restrict(Verdict.BLOCK, "secret")
    outcome = handler.resolve(ask().pending_id, _edited(path="secret"))
    assert isinstance(outcome, Blocked)
    assert outcome.result.text == "The call of `write` was blocked. Leave that alone."
    assert (outcome.decision.rule_id, outcome.cause, ran) == ("house-rule", Cause.POLICY, [])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes", {1: "x"}, {1, 2}, "\ud800"])
def test_an_edit_that_is_no_json_is_blocked(handler: ToolHandler, ask: Ask, ran: Ran, value: object) -> None:
    """Arguments that could not be judged do not run."""
    outcome = handler.resolve(ask().pending_id, _edited(path=value))
    assert isinstance(outcome, Blocked)
    assert outcome.result.text.startswith("The edited arguments cannot be used: ")
    assert (outcome.cause, ran) == (Cause.BAD_EDIT, [])


def test_an_edit_into_nothing_is_an_edit(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """An empty object is not "no edit"."""
    outcome = handler.resolve(ask().pending_id, _edited())
    assert isinstance(outcome, Ready)
    handler.run(outcome)
    assert ran == [("write", {})]


def test_the_edited_dict_is_not_the_calls(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """Changing it after the answer changes nothing."""
    mine = {"path": ["b"]}
    outcome = handler.resolve(ask().pending_id, ToolConfirmationResponse(True, arguments=mine))
    mine["path"].append("c")
    assert isinstance(outcome, Ready)
    handler.run(outcome)
    assert ran == [("write", {"path": ["b"]})]


def test_arguments_of_a_no_are_not_looked_at(handler: ToolHandler, ask: Ask) -> None:
    """A rejection is reported as one, whatever else the answer holds."""
    response = ToolConfirmationResponse(False, arguments={"path": float("nan")})
    outcome = handler.resolve(ask().pending_id, response)
    assert isinstance(outcome, Blocked)
    assert "declined" in outcome.result.text


# Once, and in time ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [_YES, _NO])
def test_an_answer_counts_once(handler: ToolHandler, ask: Ask, first: ToolConfirmationResponse) -> None:
    """A second answer is refused, and the first one stands."""
    pending = ask()
    outcome = handler.resolve(pending.pending_id, first)
    with pytest.raises(LedgerError, match="already answered"):
        handler.resolve(pending.pending_id, _YES)
    assert handler.begin(pending.call) is outcome


def test_an_unknown_id_is_refused(handler: ToolHandler, ask: Ask) -> None:
    """A guess answers nothing, and the question stays open."""
    pending = ask()
    with pytest.raises(LedgerError, match="unknown"):
        handler.resolve("guess", _YES)
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)


def test_a_late_answer_is_refused(handler: ToolHandler, ask: Ask, now: list[float], ran: Ran) -> None:
    """A yes after the deadline leads to no run."""
    pending = ask()
    now[0] = 61.0
    with pytest.raises(LedgerError, match="too late"):
        handler.resolve(pending.pending_id, _YES)
    assert ran == []


def test_a_call_whose_answer_came_late_is_blocked_from_then_on(
    handler: ToolHandler, ask: Ask, now: list[float], recorder: MemoryRecorder
) -> None:
    """The call has an outcome, not a question no one can answer any more; and the late answer is on record."""
    pending = ask()
    now[0] = 61.0
    with pytest.raises(LateAnswerError):
        handler.resolve(pending.pending_id, _YES)
    outcome = handler.begin(pending.call)
    assert isinstance(outcome, Blocked)
    assert outcome.cause is Cause.UNANSWERED
    answered = recorder.records[-1]
    assert (answered["event"], answered["approved"], answered["pending_id"]) == ("answered", False, pending.pending_id)
    assert answered["error"] == "the answer came too late"


@pytest.mark.parametrize("given", [None, True, "yes", {"approved": True}, ToolConfirmationResponse, _Lookalike()])
def test_only_a_response_is_an_answer(handler: ToolHandler, ask: Ask, given: Any) -> None:  # noqa: ANN401 -- wrong types are the point
    """Anything else is refused, and the question stays open for a true answer."""
    pending = ask()
    with pytest.raises(TypeError, match="an answer is a ToolConfirmationResponse"):
        handler.resolve(pending.pending_id, given)
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)


def test_of_many_answers_at_once_one_counts(handler: ToolHandler, ask: Ask, ran: Ran) -> None:
    """Sixteen people say yes, and the call runs once."""
    pending = ask()
    together = threading.Barrier(16)

    def answers() -> int:
        together.wait()
        try:
            outcome = handler.resolve(pending.pending_id, _YES)
        except LedgerError:
            return 0
        handler.run(outcome)
        return 1

    with ThreadPoolExecutor(16) as pool:
        results = [pool.submit(answers) for _ in range(16)]
    assert sum(result.result() for result in results) == 1
    assert len(ran) == 1


def test_a_question_of_another_handler_is_unknown(ask: Ask, ran: Ran) -> None:
    """An answer counts where the question was asked."""
    with pytest.raises(LedgerError):
        ToolHandler().resolve(ask().pending_id, _YES)
    assert ran == []


# When the rules have changed --------------------------------------------------------------------------------------


def test_a_yes_does_not_lift_a_block_that_came_in_between(
    handler: ToolHandler, ask: Ask, restrict: Restrict, recorder: MemoryRecorder
) -> None:
    """The block of a new policy holds, and is on record."""
    pending = ask()
    restrict(Verdict.BLOCK)
    outcome = handler.resolve(pending.pending_id, _YES)
    assert isinstance(outcome, Blocked)
    assert outcome.decision.rule_id == "house-rule"
    decided = recorder.records[-1]
    assert (decided["event"], decided["verdict"], decided["edited"]) == ("decided", "block", False)


def test_a_yes_does_not_lift_a_plan_mode_that_came_in_between(handler: ToolHandler, ask: Ask) -> None:
    """A mode counts like a rule."""
    pending = ask()
    handler.session.switch_mode("plan")
    outcome = handler.resolve(pending.pending_id, _YES)
    assert isinstance(outcome, Blocked)
    assert "Plan mode is on" in outcome.result.text


def test_an_answer_is_for_the_session_that_asked(handler: ToolHandler, ask: Ask) -> None:
    """One that took its place has modes of its own."""
    pending, asked = ask(), handler.session
    handler.session = Session(yolo_mode=True)
    with pytest.raises(LedgerError, match="asked somewhere else"):
        handler.resolve(pending.pending_id, _YES)
    shown: list[object] = []
    handler.channel = CallbackChannel(shown.append)
    assert isinstance(handler.ask(pending), Blocked)
    assert shown == []
    handler.session = asked
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)


def test_a_session_that_is_replaced_while_a_human_thinks_closes_no_question(handler: ToolHandler, ask: Ask) -> None:
    """It is not its own."""
    pending, asked = ask(), handler.session

    def answer(_: object) -> ToolConfirmationResponse:
        handler.session = Session(yolo_mode=True)
        return _YES

    handler.channel = CallbackChannel(answer)
    assert isinstance(handler.ask(pending), Blocked)
    handler.session = asked
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)


def test_a_no_stays_a_no_when_the_rules_would_allow(handler: ToolHandler, ask: Ask) -> None:
    """A human's no is not overruled by YOLO mode."""
    pending = ask()
    handler.session.switch_mode("yolo")
    assert isinstance(handler.resolve(pending.pending_id, _NO), Blocked)


def test_a_yes_is_for_the_decision_it_answered(handler: ToolHandler, ask: Ask) -> None:
    """When the rules have become softer, the call still runs on the human's word."""
    pending = ask()
    handler.session.switch_mode("yolo")
    outcome = handler.resolve(pending.pending_id, _YES)
    assert isinstance(outcome, Ready)
    assert outcome.decision == pending.decision


def test_a_yes_to_a_restriction_that_is_gone_still_counts(handler: ToolHandler, ask: Ask, restrict: Restrict) -> None:
    """A human answered for this very call."""
    restrict(Verdict.CONFIRM)
    pending = ask()
    handler.policy = create_default_authorization_policy()
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)


@pytest.mark.parametrize("arguments", [None, {"path": "b"}])
def test_a_tool_that_is_gone_is_blocked(
    handler: ToolHandler, ask: Ask, ran: Ran, arguments: dict[str, object] | None
) -> None:
    """A registry that was replaced authorizes nothing it does not know, and nothing is remembered."""
    pending = ask()
    handler.registry = ToolRegistry()
    response = ToolConfirmationResponse(True, skip_future=True, arguments=arguments)
    outcome = handler.resolve(pending.pending_id, response)
    assert isinstance(outcome, Blocked)
    assert outcome.result.text.startswith("The call of `write` was blocked. There is no tool `write`.")
    assert (outcome.cause, ran, handler.session.tool_ignore_list) == (Cause.POLICY, [], [])


def test_a_tool_that_is_gone_is_recorded_as_blocked(handler: ToolHandler, ask: Ask, recorder: MemoryRecorder) -> None:
    """The record tells why an approved call did not run."""
    pending = ask()
    handler.registry = ToolRegistry()
    handler.resolve(pending.pending_id, _YES)
    assert [each["event"] for each in recorder.records] == ["decided", "asked", "answered", "decided"]
    assert (recorder.records[-1]["verdict"], recorder.records[-1]["phase"]) == ("block", "input")


# Interrupted ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("response", [_YES, _NO])
def test_an_answer_that_is_interrupted_leaves_a_blocked_call(
    handler: ToolHandler, ask: Ask, ran: Ran, response: ToolConfirmationResponse
) -> None:
    """A claimed question is never left without an outcome, to be asked about for ever."""

    class Interrupted:
        def record(self, *_: object, **__: object) -> None:
            raise KeyboardInterrupt

    pending = ask()
    handler.recorder = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        handler.resolve(pending.pending_id, response)
    outcome = handler.begin(pending.call)
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, handler.run(outcome).ok, ran) == (Cause.UNANSWERED, False, [])


def test_a_call_that_is_being_answered_is_blocked_meanwhile(handler: ToolHandler, ask: Ask) -> None:
    """Whoever begins it from within the answer finds neither a question nor a run."""
    seen: list[object] = []

    class Curious:
        def record(self, _: str, call: ToolCall, /, **__: object) -> None:
            seen.append(handler.begin(call))

    pending = ask()
    handler.recorder = Curious()
    assert isinstance(handler.resolve(pending.pending_id, _YES), Ready)
    assert [type(each) for each in seen] == [Blocked]
