"""What a question says that expansions become."""

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.guard.guard import Guard
from permitry.guard.outcome import Ask
from permitry.guard.session import Session
from permitry.guard.value_lines import value_lines


def test_a_question_says_what_an_expansion_becomes() -> None:
    """In the reason as well, which is shown wherever one is asked."""
    guard = Guard(load_policy("permitry:coding-agent"), Session(workspace="/home/ann/project"))
    asked = guard.check(guard.call("run_shell", {"command": "rm -r $(pwd)/src"}, call_id="c1"))
    assert isinstance(asked, Ask)
    assert asked.request.reason.endswith("; `$(pwd)` is now `/home/ann/project`")


def test_nothing_is_said_of_what_expands_nothing() -> None:
    """Nor is the call of a tool read that runs no commands."""
    policy, context = load_policy("permitry:coding-agent"), AuthContext(workspace="/home/ann/project")
    for call in (ToolCall("run_shell", {"command": "rm -r src"}), ToolCall("note", {"text": "$(pwd)"})):
        assert value_lines(policy.request(call, context)) == ()
