"""Asking through the channel: whatever it does, only a true answer lets a call run."""

import asyncio
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.handler import Blocked, Cause, Pending, Ready, ToolHandler

Ran = list[tuple[str, dict[str, Any]]]
Answer = Callable[[object], list[ToolConfirmationRequest]]
Ask = Callable[..., Pending]
Events = Callable[[], list[object]]

_WRITE = ToolCall("write", {"path": "a"}, call_id="c1")
_YES = ToolConfirmationResponse(True)
_UNANSWERED = "The call of `write` needs the user's confirmation, and got none; it did not run."


def test_a_call_is_asked_about_decided_and_run(handler: ToolHandler, answer: Answer, ran: Ran) -> None:
    """The whole way of a call, in one method."""
    asked = answer(_YES)
    assert handler.handle(_WRITE).text == "write is done"
    assert [request.call for request in asked] == [_WRITE]
    assert ran == [("write", {"path": "a"})]


def test_an_allowed_call_is_not_asked_about(handler: ToolHandler, answer: Answer) -> None:
    """The channel is for questions only."""
    asked = answer(_YES)
    assert handler.handle(ToolCall("look")).ok
    assert asked == []


def test_a_blocked_call_is_not_asked_about(handler: ToolHandler, answer: Answer, ran: Ran) -> None:
    """No answer could make it run, so no one is asked."""
    asked = answer(_YES)
    handler.session.switch_mode("plan")
    assert not handler.handle(_WRITE).ok
    assert (asked, ran) == ([], [])


def test_a_no_is_what_the_model_is_told(handler: ToolHandler, answer: Answer, ran: Ran) -> None:
    """A declined call has a result that is not ok."""
    answer(ToolConfirmationResponse(False, instructions="use tabs"))
    result = handler.handle(_WRITE)
    assert (result.ok, ran) == (False, [])
    assert "The user says: use tabs" in result.text


def test_a_remembered_yes_is_asked_for_once(handler: ToolHandler, answer: Answer, ran: Ran) -> None:
    """The second call of the tool runs without a question."""
    asked = answer(ToolConfirmationResponse(True, skip_future=True))
    for path in "ab":
        handler.handle(ToolCall("write", {"path": path}))
    assert len(asked) == 1
    assert len(ran) == 2


@pytest.mark.parametrize(
    "given",
    [None, True, 1, "yes", {"approved": True}, (True,), _YES.approved, ToolConfirmationResponse, OSError("gone")],
)
def test_anything_but_an_answer_is_none(handler: ToolHandler, answer: Answer, ran: Ran, given: object) -> None:
    """A channel that fails, or answers something else, has not confirmed the call."""
    answer(given)
    result = handler.handle(_WRITE)
    assert result.ok is False
    assert result.text.startswith(_UNANSWERED)
    assert ran == []


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, None),
        (OSError("secret path"), "OSError: secret path"),
        (True, "the channel answered True, not a ToolConfirmationResponse"),
    ],
)
def test_why_nobody_answered_is_for_the_record_only(
    handler: ToolHandler, answer: Answer, recorder: MemoryRecorder, given: object, error: str | None
) -> None:
    """The operator learns what the channel did; the model does not."""
    answer(given)
    told = handler.handle(_WRITE).text
    answered = recorder.records[-1]
    assert (answered["event"], answered["approved"], answered["error"]) == ("answered", False, error)
    assert "secret" not in told


def test_an_unanswered_question_is_closed(handler: ToolHandler, ask: Ask) -> None:
    """An answer that comes after the channel gave up counts for nothing."""
    pending = ask()
    blocked = handler.ask(pending)
    assert isinstance(blocked, Blocked)
    assert (blocked.cause, len(handler.ledger)) == (Cause.UNANSWERED, 0)
    assert handler.begin(_WRITE) is blocked


def test_a_channel_that_takes_too_long_is_not_heard(
    handler: ToolHandler, now: list[float], ran: Ran, recorder: MemoryRecorder
) -> None:
    """A yes after the deadline does not count as an answer, and nothing runs."""

    def slow(_: ToolConfirmationRequest) -> ToolConfirmationResponse:
        now[0] = 61.0
        return _YES

    handler.channel = CallbackChannel(slow)
    assert handler.handle(_WRITE).text.startswith(_UNANSWERED)
    assert ran == []
    assert "started" not in [each["event"] for each in recorder.records]


@pytest.mark.parametrize(
    ("given", "error"), [(None, None), (_YES, "the answer came too late"), (True, "the channel answered True")]
)
def test_a_channel_that_was_too_slow_leaves_a_blocked_call(
    handler: ToolHandler, now: list[float], recorder: MemoryRecorder, given: object, error: str | None
) -> None:
    """Whatever it said after the deadline: the question is closed and on record, once, and the outcome stands."""

    def slow(_: ToolConfirmationRequest) -> Any:  # noqa: ANN401 -- wrong answers are among them
        now[0] = 61.0
        return given

    handler.channel = CallbackChannel(slow)
    handler.handle(_WRITE)
    outcome = handler.begin(_WRITE)
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, len(handler.ledger)) == (Cause.UNANSWERED, 0)
    [answered] = [each for each in recorder.records if each["event"] == "answered"]
    assert answered["approved"] is False
    assert str(answered["error"]).startswith(str(error))


@pytest.mark.parametrize(("elsewhere", "runs"), [(_YES, 1), (ToolConfirmationResponse(False), 0)])
def test_an_answer_given_elsewhere_stands(
    handler: ToolHandler, ran: Ran, elsewhere: ToolConfirmationResponse, runs: int
) -> None:
    """While the channel waits, someone else answers; the channel's own answer is then too much."""

    def late(request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        pending = handler.begin(request.call)
        assert isinstance(pending, Pending)
        handler.run(handler.resolve(pending.pending_id, elsewhere))
        return _YES

    handler.channel = CallbackChannel(late)
    assert handler.handle(_WRITE).text.startswith(_UNANSWERED)
    assert len(ran) == runs


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(), GeneratorExit(), asyncio.CancelledError()])
def test_an_interrupted_question_stays_open(
    handler: ToolHandler, answer: Answer, ask: Ask, recorder: MemoryRecorder, interrupt: BaseException
) -> None:
    """Ctrl-C does not count as an answer; the record says so, and the question can still be answered later."""
    pending, other = ask("a", "c1"), ask("b", "c2")
    answer(interrupt)
    with pytest.raises(type(interrupt)):
        handler.ask(pending)
    last = recorder.records[-1]
    assert (last["event"], last["call_id"], last["pending_id"]) == ("interrupted", "c1", pending.pending_id)
    assert last["error"] == type(interrupt).__name__
    for each in (pending, other):
        assert isinstance(handler.resolve(each.pending_id, _YES), Ready)


def test_an_interrupt_after_the_answer_is_none_of_the_question(handler: ToolHandler, ask: Ask, events: Events) -> None:
    """A question that was answered elsewhere while someone waited is not recorded as interrupted."""
    pending = ask()

    def interrupted(_: ToolConfirmationRequest) -> None:
        handler.resolve(pending.pending_id, _YES)
        raise KeyboardInterrupt

    handler.channel = CallbackChannel(interrupted)
    with pytest.raises(KeyboardInterrupt):
        handler.ask(pending)
    assert events() == ["decided", "asked", "answered"]


@pytest.mark.parametrize("error", [TimeoutError("too slow"), EOFError()])
def test_a_channel_that_gives_up_is_no_interrupt(
    handler: ToolHandler, answer: Answer, ask: Ask, events: Events, error: Exception
) -> None:
    """A time limit of its own, or the end of its input: no one answered, and the question is closed."""
    answer(error)
    outcome = handler.ask(ask())
    assert isinstance(outcome, Blocked)
    assert (outcome.cause, events()) == (Cause.UNANSWERED, ["decided", "asked", "answered"])


@pytest.mark.parametrize("swapped", ["call", "request", "both", "id"])
def test_a_human_answers_for_the_call_he_was_shown(
    handler: ToolHandler, answer: Answer, ask: Ask, ran: Ran, swapped: str
) -> None:
    """A question put together from two is not even asked, and runs neither; the true ones stay open."""
    shown, meant = ask("notes", "c1"), ask("secret", "c2")
    parts: dict[str, dict[str, Any]] = {
        "call": {"call": shown.call},
        "request": {"request": shown.request},
        "both": {"call": shown.call, "request": shown.request},
        "id": {"pending_id": shown.pending_id},
    }
    asked = answer(_YES)
    mixed = attrs.evolve(meant, **parts[swapped])
    assert isinstance(handler.ask(mixed), Blocked)
    assert isinstance(asyncio.run(handler.aask(mixed)), Blocked)
    assert (asked, ran, len(handler.ledger)) == ([], [], 2)


def test_the_same_arguments_under_another_id_are_another_question(
    handler: ToolHandler, answer: Answer, ask: Ask
) -> None:
    """Two equal calls are two questions, each answered as itself."""
    shown, meant = ask("notes", "c1"), ask("notes", "c2")
    asked = answer(_YES)
    assert isinstance(handler.ask(attrs.evolve(meant, request=shown.request)), Blocked)
    assert asked == []
    assert isinstance(handler.ask(meant), Ready)


def test_a_question_that_was_answered_is_not_asked_again(handler: ToolHandler, answer: Answer, ask: Ask) -> None:
    """The human is not bothered with what is settled, and the first answer stands."""
    pending = ask()
    outcome = handler.resolve(pending.pending_id, _YES)
    asked = answer(_YES)
    assert isinstance(handler.ask(pending), Blocked)
    assert (asked, handler.begin(pending.call)) == ([], outcome)


def test_a_forged_question_answers_nothing(handler: ToolHandler, answer: Answer, ask: Ask, ran: Ran) -> None:
    """A question the ledger does not know cannot be answered into a run."""
    true = ask()
    answer(_YES)
    forged = Pending("guess", true.call, true.decision, true.request)
    assert isinstance(handler.ask(forged), Blocked)
    assert (ran, len(handler.ledger)) == ([], 1)


class _MuteError(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError


def test_a_channel_whose_failure_cannot_be_shown_is_no_answer(handler: ToolHandler, ran: Ran) -> None:
    """Even an error without words is only a question that no one answered."""

    def fail(_: ToolConfirmationRequest) -> None:
        raise _MuteError

    handler.channel = CallbackChannel(fail)
    assert handler.handle(_WRITE).text.startswith(_UNANSWERED)
    assert ran == []


def test_a_failing_channel_is_logged_and_named_to_the_operator(
    handler: ToolHandler, caplog: pytest.LogCaptureFixture
) -> None:
    """The developer sees what is wrong with the channel; the model does not."""

    def fails(_: ToolConfirmationRequest) -> ToolConfirmationResponse:
        raise KeyError("no window")

    handler.channel = CallbackChannel(fails)
    result = handler.handle(_WRITE)
    assert (result.ok, result.note) == (False, "KeyError: 'no window'")
    assert "window" not in result.text
    expected = "no answer about a call of `write`, so it is blocked: KeyError: 'no window'"
    assert [each.getMessage() for each in caplog.records] == [expected]


def test_a_wrong_answer_is_logged_and_named_to_the_operator(
    handler: ToolHandler, caplog: pytest.LogCaptureFixture
) -> None:
    """A plain True is not an answer, and the log says what one is."""
    handler.channel = CallbackChannel(lambda _: True)  # type: ignore[arg-type, return-value]  # what people write
    result = handler.handle(_WRITE)
    assert result.note == "the channel answered True, not a ToolConfirmationResponse"
    assert caplog.records[0].getMessage().endswith(result.note)


def test_nothing_is_logged_where_the_user_did_not_answer(
    handler: ToolHandler, answer: Callable[[object], object], caplog: pytest.LogCaptureFixture
) -> None:
    """No answer is no fault of the channel."""
    answer(None)
    assert handler.handle(_WRITE).note == ""
    assert not caplog.records
