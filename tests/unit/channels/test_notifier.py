"""What the model is shown when a call did not run."""

from tests.tables import for_each

from permitry.channels.notifier import ToolRejectionNotifier
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.decision import Decision, Phase, Verdict

_BLOCK = Decision(Verdict.BLOCK, "secret-rule", Phase.RESTRICTION, "for the operator", "Secrets are off limits.")


def test_guidance_of_the_user_reaches_the_model() -> None:
    """The user's words are passed on, trimmed, and marked as the user's."""
    shown = ToolRejectionNotifier().rejected("write_file", ToolConfirmationResponse(False, instructions="  use tabs\n"))
    assert "`write_file`" in shown
    assert "The user says: use tabs\n" in shown


@for_each("instructions", ["", " \n\t"])
def test_without_guidance_the_model_is_reported_that_there_is_none(instructions: str) -> None:
    """Blank guidance is none."""
    shown = ToolRejectionNotifier().rejected("write_file", ToolConfirmationResponse(False, instructions=instructions))
    assert "The user gave no reason." in shown
    assert "The user says" not in shown


def test_a_declined_call_is_said_not_to_have_run() -> None:
    """The model must not go on as if it had happened."""
    assert "it did not run" in ToolRejectionNotifier().rejected("write_file", ToolConfirmationResponse(False))


def test_a_block_tells_the_message_and_not_the_rule() -> None:
    """The rule base does not concern the model."""
    shown = ToolRejectionNotifier().blocked("write_file", _BLOCK)
    assert shown == "The call of `write_file` was blocked. Secrets are off limits."


def test_a_block_without_a_message_says_that_nothing_ran() -> None:
    """There is always a sentence for the model."""
    decision = Decision(Verdict.BLOCK, "secret-rule", Phase.RESTRICTION, "for the operator")
    assert ToolRejectionNotifier().blocked("write_file", decision).endswith("was blocked. It did not run.")


def test_an_unanswered_question_is_reported_as_such() -> None:
    """No one having answered is another thing than a no."""
    shown = ToolRejectionNotifier().unanswered("write_file")
    assert "`write_file`" in shown
    assert "got none; it did not run" in shown


@for_each(
    ("instructions", "end"),
    [
        ("use tabs", "Treat it as not done, and follow this guidance."),
        ("", "Treat it as not done, and ask before you try something else."),
    ],
)
def test_a_declined_call_says_how_to_go_on(instructions: str, end: str) -> None:
    """With guidance the model follows it; without, it asks before it tries its luck."""
    shown = ToolRejectionNotifier().rejected("write_file", ToolConfirmationResponse(False, instructions=instructions))
    assert shown.endswith(f"\n{end}")
