"""What humans said to the questions in a record."""

from collections.abc import Mapping
from typing import Any

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry_ops.replay.answers import Answered, read_answers
from permitry_ops.replay.record import Circumstances

_CALL = ToolCall("run_shell", {"command": "make test"}, call_id="c1")


def _record(event: str, call: ToolCall = _CALL, **details: object) -> dict[str, Any]:
    return {
        "session": "s",
        "event": event,
        "tool": call.tool,
        "call_id": call.call_id,
        "digest": call.digest,
        **details,
    }


def _decided(verdict: str, call: ToolCall = _CALL, **details: object) -> dict[str, Any]:
    given = {"arguments": call.to_dict(), "mode": "default", "phase": "default", **details}
    return _record("decided", call, verdict=verdict, **given)


def _read(*records: Mapping[str, Any]) -> Answered:
    answered = Answered()
    numbered = ({"number": number, **each} for number, each in enumerate(records, 1))
    read_answers(numbered, answered, name="r", circumstances=Circumstances("/here"))
    return answered


def _counts(answered: Answered) -> tuple[int, int, int]:
    return len(answered.approved), len(answered.refused), answered.unread


def test_an_approved_call_is_known_with_its_context() -> None:
    """As the session began, in the mode of the decision, with its place."""
    began = {"session": "s", "event": "session", "workspace": "/w", "agent": "helper", "attended": False}
    (asked,) = _read(began, _decided("confirm", mode="careful"), _record("answered", approved=True)).approved
    context = asked.context
    assert (asked.call, asked.place) == (_CALL, "r:2")
    assert (context.workspace, context.agent, context.mode, context.attended) == ("/w", "helper", "careful", False)
    (other,) = _read(_decided("confirm"), _record("answered", approved=True)).approved
    assert other.context.workspace == "/here"


@for_each(
    ("records", "counts"),
    [
        ([_decided("block")], (0, 1, 0)),
        ([_decided("allow")], (0, 0, 0)),
        ([_decided("confirm")], (0, 0, 0)),
        ([_decided("confirm"), _record("answered", approved=False)], (0, 1, 0)),
        ([_decided("confirm"), _record("answered", approved=False, error="no answer in time")], (0, 1, 0)),
        ([_decided("confirm"), _record("answered", approved="yes")], (0, 1, 0)),
        ([_decided("confirm"), _record("answered", approved=True, edited=True)], (0, 0, 1)),
        ([_decided("block", phase="input")], (0, 0, 0)),
        ([_record("answered", approved=True)], (0, 0, 0)),
        ([{"event": "unreadable"}, {"event": "decided", "tool": 7, "arguments": 7}], (0, 0, 0)),
    ],
)
def test_only_what_was_approved_counts(records: list[dict[str, Any]], counts: tuple[int, int, int]) -> None:
    """What was blocked, rejected or left without an answer must not run; what is not known is neither."""
    assert _counts(_read(*records)) == counts


def test_a_call_without_its_secrets_is_not_the_one_that_was_approved() -> None:
    """But like one that must not run."""
    left_out: dict[str, Any] = {"arguments": {"command": "login [redacted]"}}
    assert _counts(_read(_decided("confirm", **left_out), _record("answered", approved=True))) == (0, 0, 1)
    assert _counts(_read(_decided("block", **left_out))) == (0, 1, 0)


def test_each_question_counts() -> None:
    """A call that was approved twice was asked about twice; refused ones count once."""
    asked = [_decided("confirm"), _record("answered", approved=True)]
    assert _counts(_read(*asked, *asked)) == (2, 0, 0)
    assert _counts(_read(_decided("block"), _decided("block"))) == (0, 1, 0)
