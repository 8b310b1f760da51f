"""Answers written down beforehand."""

import json

import attrs
import pytest
from tests.tables import for_each

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.answers import AnswersChannel, read_answers
from permitry.core.call import ToolCall
from permitry.errors import ConfigError

_CALL = ToolCall("write_file", {"path": "a.txt"}, call_id="c1")
_YES = ToolConfirmationResponse(True)
_EDIT = {"path": "b.txt"}
_APPROVAL = {"digest": _CALL.digest, "approved": True}
_UNBOUND = "an approval is bound to one call: `digest` is missing (or `call_id`, `tool` and `arguments`)"


def _channel(*answers: dict[str, object]) -> AnswersChannel:
    return read_answers("answers.jsonl", [json.dumps(answer) for answer in answers])


def _asked(channel: AnswersChannel, call: ToolCall = _CALL) -> ToolConfirmationResponse | None:
    return channel.ask(ToolConfirmationRequest(call))


@for_each("binding", [{"call_id": "c1"}, {"digest": _CALL.digest}])
def test_a_rejection_is_bound_by_call_id_or_digest(binding: dict[str, object]) -> None:
    """The call with that id, or that digest, does not run."""
    assert _asked(_channel({**binding, "approved": False})) == ToolConfirmationResponse(False)


@for_each("call_id", ["c1", "c9", None])
def test_an_approval_is_bound_by_digest(call_id: str | None) -> None:
    """The call with that digest gets the answer, whatever its id."""
    assert _asked(_channel(_APPROVAL), attrs.evolve(_CALL, call_id=call_id)) == _YES


@for_each("rest", [{}, {"call_id": "c1"}])
def test_an_approval_of_one_call_is_none_of_another_with_its_id(rest: dict[str, object]) -> None:
    """The model chooses the ids: the same id with other arguments is not what was approved."""
    assert _asked(_channel({**_APPROVAL, **rest}), attrs.evolve(_CALL, arguments={"path": "/etc/passwd"})) is None


@for_each(
    "rest",
    [
        {},
        {"tool": "write_file"},
        {"arguments": _EDIT},
        {"tool": "write_file", "arguments": None},
        {"skip_future": True},
        {"abort": True},
    ],
)
def test_a_call_id_alone_never_approves(rest: dict[str, object]) -> None:
    """An approval without a digest, or without tool and arguments to run, is refused before the session begins."""
    with pytest.raises(ConfigError) as caught:
        _channel({"call_id": "c1", "approved": True, **rest})
    assert [problem.message for problem in caught.value.problems] == [_UNBOUND]
    assert "permitry run --unattended queue" in str(caught.value.problems[0].hint)


@for_each("arguments", [_EDIT, {}])
def test_an_approval_may_name_the_tool_and_what_it_is_to_do(arguments: dict[str, object]) -> None:
    """With the arguments to run, nothing the model chose is left to run."""
    answer = {"call_id": "c1", "tool": "write_file", "approved": True, "arguments": arguments}
    assert _asked(_channel(answer)) == ToolConfirmationResponse(True, arguments=arguments)


def test_arguments_for_one_tool_are_not_given_to_another() -> None:
    """The same words mean another thing to another tool."""
    answer = {"call_id": "c1", "tool": "write_file", "approved": True, "arguments": _EDIT}
    assert _asked(_channel(answer), attrs.evolve(_CALL, name="delete_file")) is None


@for_each(
    "binding",
    [
        {"digest": "0" * 64},
        {"call_id": "c1", "digest": "0" * 64},
        {"call_id": "c2", "digest": _CALL.digest},
        {"tool": "run_shell", "digest": _CALL.digest},
        {"call_id": "c2", "tool": "write_file", "arguments": _EDIT},
        {"call_id": "c1", "tool": "run_shell", "arguments": _EDIT},
    ],
)
def test_an_answer_to_another_call_is_none(binding: dict[str, object]) -> None:
    """Every binding must hold; an answer for another call is not used."""
    for approved in (True, False):
        assert _asked(_channel({**binding, "approved": approved})) is None


def test_a_call_without_an_id_is_no_match_for_any_id() -> None:
    """A missing id equals nothing."""
    nameless = attrs.evolve(_CALL, call_id=None)
    assert _asked(_channel({"call_id": "c1", "approved": False}), nameless) is None
    assert _asked(_channel({"call_id": "c1", **_APPROVAL}), nameless) is None


def test_an_answer_is_used_up() -> None:
    """One line answers one question."""
    channel = _channel(_APPROVAL)
    _asked(channel)
    assert _asked(channel) is None


def test_the_first_unused_answer_counts() -> None:
    """Several answers to one call are given in the order of their lines."""
    channel = _channel({"call_id": "c1", "approved": False}, _APPROVAL)
    assert [_asked(channel), _asked(channel)] == [ToolConfirmationResponse(False), _YES]


def test_every_field_of_a_response_can_be_written() -> None:
    """A line may say all that a human could."""
    fields = {"skip_future": True, "abort": True, "instructions": "stop", "arguments": _EDIT}
    given = _asked(_channel({**_APPROVAL, **fields}))
    assert given == ToolConfirmationResponse(True, skip_future=True, abort=True, instructions="stop", arguments=_EDIT)


def test_a_line_may_answer_in_place_of_the_tool() -> None:
    """That lets nothing run, so that the id of the call is enough."""
    given = _asked(_channel({"call_id": "c1", "approved": False, "result": "3 files"}))
    assert given == ToolConfirmationResponse(False, result="3 files")


def test_answers_no_one_asked_for_are_counted_by_their_lines() -> None:
    """Lines count from 1, blank ones included."""
    lines = ['{"call_id": "c1", "approved": false}', "  ", '{"call_id": "c9", "approved": false}']
    channel = read_answers("answers.jsonl", lines)
    _asked(channel)
    assert channel.spare_lines == (3,)


@for_each(("line", "expected"))
def test_every_mistake_is_named(line: str, expected: str) -> None:
    """A bad answer is refused before the session begins."""
    with pytest.raises(ConfigError) as caught:
        read_answers("answers.jsonl", [line])
    assert expected in caught.value.problems[0].message


@for_each("rest", ['"approved": "yes"', '"approved": true, "abort": 1', '"approved": true, "instructions": 3'])
def test_a_wrong_type_is_reported_in_words(rest: str) -> None:
    """The message is a sentence, not the inside of a validator."""
    with pytest.raises(ConfigError) as caught:
        read_answers("answers.jsonl", ['{"digest": "d", ' + rest + "}"])
    assert "Attribute(" not in caught.value.problems[0].message


def test_all_bad_lines_are_reported_with_their_places() -> None:
    """Nothing is loaded, and every problem shows its line."""
    with pytest.raises(ConfigError) as caught:
        read_answers("answers.jsonl", ["{}\n", '{"call_id": "c1", "approved": false}\n', "  nonsense\n"])
    places = [(each.path, each.line, each.column, each.span, each.text) for each in caught.value.problems]
    assert places == [("answers.jsonl", 1, 1, 2, "{}"), ("answers.jsonl", 3, 1, 10, "  nonsense")]


def test_null_arguments_are_no_edit() -> None:
    """An explicit null leaves the call's own arguments."""
    assert _asked(_channel({**_APPROVAL, "arguments": None})) == _YES
