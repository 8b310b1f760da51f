"""A human's answer."""

from typing import Any

import attrs
import pytest
from tests.tables import for_each

from permitry.channels.response import Approve, Deny, Respond, ToolConfirmationResponse


@for_each(
    ("approved", "abort", "wanted"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
def test_only_a_yes_without_abort_lets_a_call_run(approved: bool, abort: bool, wanted: bool) -> None:  # noqa: FBT001 -- a table of flags
    """An answer that also ends the session is not an approval."""
    assert ToolConfirmationResponse(approved, abort=abort).is_approval is wanted


@for_each(
    ("approved", "abort", "wanted"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
def test_only_an_approval_is_remembered(approved: bool, abort: bool, wanted: bool) -> None:  # noqa: FBT001 -- a table of flags
    """A rejection never remembers anything in the call's favour."""
    assert ToolConfirmationResponse(approved, skip_future=True, abort=abort).is_remembered is wanted


def test_an_approval_is_not_remembered_unasked() -> None:
    """A plain yes counts for one call."""
    assert ToolConfirmationResponse(True).is_remembered is False


@for_each(
    "flags",
    [{"approved": "yes"}, {"approved": 1}, {"approved": None}, {"skip_future": "no"}, {"abort": 0}],
)
def test_a_flag_must_be_a_bool(flags: dict[str, Any]) -> None:
    """A truthy mistake is not an approval."""
    with pytest.raises(TypeError):
        ToolConfirmationResponse(**{"approved": True, **flags})


def test_instructions_must_be_text() -> None:
    """Guidance of another type is refused."""
    instructions: Any = ["use", "tabs"]
    with pytest.raises(TypeError):
        ToolConfirmationResponse(False, instructions=instructions)


@for_each("arguments", ["x", ["b"], 1])
def test_edited_arguments_are_an_object(arguments: Any) -> None:  # noqa: ANN401 -- wrong on purpose
    """A mistake is no answer, so that the question stays open."""
    with pytest.raises(TypeError, match="arguments"):
        ToolConfirmationResponse(True, arguments=arguments)


def test_an_answer_cannot_be_changed() -> None:
    """A no stays a no."""
    response: Any = ToolConfirmationResponse(False)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        response.approved = True


def test_without_validators_a_text_approves_nothing() -> None:
    """They can be switched off for the whole process."""
    with attrs.validators.disabled():
        answers: list[Any] = [{"approved": "no"}, {"approved": True, "abort": "yes"}, {"approved": True, "abort": None}]
        assert not any(ToolConfirmationResponse(**flags).is_approval for flags in answers)
        assert not ToolConfirmationResponse(True, skip_future="no").is_remembered  # type: ignore[arg-type]


def test_a_result_in_place_of_the_tool_lets_nothing_run() -> None:
    """It is neither an approval nor remembered."""
    response = ToolConfirmationResponse(False, result="42")
    assert (response.is_approval, response.is_remembered, response.outcome) == (False, False, "responded")


@for_each(
    "more",
    [{"approved": True}, {"skip_future": True}, {"abort": True}, {"instructions": "no"}, {"arguments": {}}],
    ids=lambda more: next(iter(more)),
)
def test_a_result_goes_with_nothing_else(more: dict[str, Any]) -> None:
    """What a human means by both cannot be known."""
    with pytest.raises(ValueError, match=f"does not go with `{next(iter(more))}`"):
        ToolConfirmationResponse(**{"approved": False, "result": "", **more})


def test_a_result_is_a_text() -> None:
    """Whatever else a host has is not an answer."""
    result: Any = {"rows": 3}
    with pytest.raises(TypeError):
        ToolConfirmationResponse(False, result=result)


def test_without_validators_a_result_approves_nothing() -> None:
    """Also one that is none."""
    with attrs.validators.disabled():
        response = ToolConfirmationResponse(False)
        object.__setattr__(response, "approved", True)
        object.__setattr__(response, "result", 0)
    assert not response.is_approval


def test_answers_have_short_names() -> None:
    """Each makes the one kind of answer that there is."""
    assert Approve() == ToolConfirmationResponse(True)
    assert Approve(remember=True) == ToolConfirmationResponse(True, skip_future=True)
    assert Approve(arguments={"n": 1}) == ToolConfirmationResponse(True, arguments={"n": 1})
    assert Deny("why") == ToolConfirmationResponse(False, instructions="why")
    assert Deny(abort=True) == ToolConfirmationResponse(False, abort=True)
    assert Respond("42") == ToolConfirmationResponse(False, result="42")
