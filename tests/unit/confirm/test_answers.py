"""Answers written down beforehand."""

import json

import pytest

from permitry.confirm.answers import AnswersChannel, read_answers
from permitry.confirm.request import ToolConfirmationRequest
from permitry.confirm.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry.errors import ConfigError

_CALL = ToolCall("write_file", {"path": "a.txt"}, call_id="c1")
_YES = ToolConfirmationResponse(True)


def _channel(*answers: dict[str, object]) -> AnswersChannel:
    return read_answers("answers.jsonl", [json.dumps(answer) for answer in answers])


def _asked(channel: AnswersChannel, call: ToolCall = _CALL) -> ToolConfirmationResponse | None:
    return channel.ask(ToolConfirmationRequest(call))


def test_an_answer_is_bound_by_call_id() -> None:
    """The call with that id gets the answer."""
    assert _asked(_channel({"call_id": "c1", "approved": True})) == _YES


def test_an_answer_is_bound_by_digest() -> None:
    """The call with that digest gets the answer, whatever its id."""
    assert _asked(_channel({"digest": _CALL.digest, "approved": True})) == _YES


@pytest.mark.parametrize(
    "binding",
    [
        {"call_id": "c2"},
        {"digest": "0" * 64},
        {"call_id": "c1", "digest": "0" * 64},
        {"call_id": "c1", "tool": "run_shell"},
    ],
)
def test_an_answer_to_another_call_is_none(binding: dict[str, object]) -> None:
    """Every binding must hold; an answer for another call is not used."""
    assert _asked(_channel({**binding, "approved": True})) is None


def test_a_call_without_an_id_is_no_match_for_any_id() -> None:
    """A missing id equals nothing."""
    assert _asked(_channel({"call_id": "c1", "approved": True}), ToolCall("write_file", {"path": "a.txt"})) is None


def test_an_answer_is_used_up() -> None:
    """One line answers one question."""
    channel = _channel({"call_id": "c1", "approved": True})
    _asked(channel)
    assert _asked(channel) is None


def test_the_first_unused_answer_counts() -> None:
    """Several answers to one call are given in the order of their lines."""
    channel = _channel({"call_id": "c1", "approved": False}, {"call_id": "c1", "approved": True})
    assert [_asked(channel), _asked(channel)] == [ToolConfirmationResponse(False), _YES]


def test_every_field_of_a_response_can_be_written() -> None:
    """A line may say all that a human could."""
    fields = {"skip_future": True, "abort": True, "instructions": "stop", "arguments": {"path": "b.txt"}}
    given = _asked(_channel({"call_id": "c1", "approved": True, **fields}))
    assert given == ToolConfirmationResponse(
        True, skip_future=True, abort=True, instructions="stop", arguments={"path": "b.txt"}
    )


def test_answers_nobody_asked_for_are_counted_by_their_lines() -> None:
    """Lines count from 1, blank ones included."""
    lines = ['{"call_id": "c1", "approved": true}', "  ", '{"call_id": "c9", "approved": true}']
    channel = read_answers("answers.jsonl", lines)
    _asked(channel)
    assert channel.unused == (3,)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not valid JSON"),
        ("[]", "an answer is a JSON object"),
        ('{"call_id": "c1"}', "the key `approved` is missing"),
        ('{"approved": true}', "`call_id` or `digest` is missing"),
        ('{"tool": "write_file", "approved": true}', "`call_id` or `digest` is missing"),
        ('{"call_id": 1, "approved": true}', "`call_id`, `digest` and `tool` are strings"),
        ('{"call_id": "c1", "tool": null, "approved": true}', "`call_id`, `digest` and `tool` are strings"),
        ('{"call_id": "c1", "aproved": true}', "unknown key `aproved`; known: abort, approved, arguments"),
        ('{"call_id": "c1", "approved": "yes"}', "'approved' must be"),
        ('{"call_id": "c1", "approved": true, "abort": 1}', "'abort' must be"),
        ('{"call_id": "c1", "approved": true, "instructions": 3}', "'instructions' must be"),
        ('{"call_id": "c1", "approved": true, "arguments": [1]}', "`arguments` must be an object"),
        ('{"call_id": "c1", "approved": true, "approved": false}', "the key `approved` occurs twice"),
    ],
)
def test_every_mistake_is_named(line: str, told: str) -> None:
    """A bad answer is refused before the session begins."""
    with pytest.raises(ConfigError) as caught:
        read_answers("answers.jsonl", [line])
    assert told in caught.value.problems[0].message


@pytest.mark.parametrize(
    "rest", ['"approved": "yes"', '"approved": true, "abort": 1', '"approved": true, "instructions": 3']
)
def test_a_wrong_type_is_told_in_words(rest: str) -> None:
    """The message is a sentence, not the inside of a validator."""
    with pytest.raises(ConfigError) as caught:
        read_answers("answers.jsonl", ['{"call_id": "c1", ' + rest + "}"])
    assert "Attribute(" not in caught.value.problems[0].message


def test_all_bad_lines_are_reported_with_their_places() -> None:
    """Nothing is loaded, and every problem shows its line."""
    with pytest.raises(ConfigError) as caught:
        read_answers("answers.jsonl", ["{}\n", '{"call_id": "c1", "approved": true}\n', "  nonsense\n"])
    places = [(each.path, each.line, each.column, each.span, each.text) for each in caught.value.problems]
    assert places == [("answers.jsonl", 1, 1, 2, "{}"), ("answers.jsonl", 3, 1, 10, "  nonsense")]


def test_null_arguments_are_no_edit() -> None:
    """An explicit null leaves the call's own arguments."""
    assert _asked(_channel({"call_id": "c1", "approved": True, "arguments": None})) == _YES
