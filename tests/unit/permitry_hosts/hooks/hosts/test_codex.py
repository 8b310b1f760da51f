"""Codex: nothing is asked, and permissions are given only where it asks for them."""

import json

from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import CLAUDE, SPECIFIC, Captured, report_result

from permitry_hosts.hooks.host import Effect, Kind, Reply, Verb
from permitry_hosts.hooks.hosts.codex import HOST

CAPTURED = Captured(
    {
        **CLAUDE, "turn_id": "t1", "model": "m", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "?"}, "tool_use_id": "k1",
    },
    {"hookSpecificOutput": SPECIFIC},
    permits=False,
    prompt={"hook_event_name": "UserPromptSubmit"},
    turn="turn_id",
    after=report_result,
)  # fmt: skip
PAYLOAD = CAPTURED.payload
ENVIRON = {"PWD": "/home/ann/project"}


@for_each("verb", [Verb.ALLOW, Verb.ASK, Verb.SILENCE])
def test_before_a_call_there_is_a_no_or_nothing(verb: Verb) -> None:
    """It runs calls that are answered with anything else."""
    assert HOST.write(Effect(verb, "why"), HOST.read(PAYLOAD, ENVIRON)) == Reply()


@for_each(
    ("verb", "decision"),
    [
        (Verb.ALLOW, {"behavior": "allow"}),
        (Verb.DENY, {"behavior": "deny", "message": "NO"}),
        (Verb.ASK, None),
        (Verb.SILENCE, None),
    ],
)
def test_a_request_for_permission_is_answered(verb: Verb, decision: dict[str, str] | None) -> None:
    """With no key that its schema does not have."""
    event = HOST.read({**PAYLOAD, "hook_event_name": "PermissionRequest"}, ENVIRON)
    assert event.kind is Kind.PERMISSION
    reply = HOST.write(Effect(verb, "NO"), event)
    output = {"hookEventName": "PermissionRequest", "decision": decision}
    assert reply.out == ("" if decision is None else json.dumps({"hookSpecificOutput": output}))
    assert (reply.code, reply.err) == ((2, "NO") if verb is Verb.DENY else (0, ""))


def test_a_refusal_holds_whatever_a_shell_has_printed_before() -> None:
    """The document is not read then: what counts is the code, and the words on standard error."""
    reply = HOST.write(Effect(Verb.DENY, "NO"), HOST.read(PAYLOAD, ENVIRON))
    assert (reply.code, reply.err) == (2, "NO")


def test_the_project_is_not_the_folder_that_the_model_chose() -> None:
    """The folder in the payload is that of the command."""
    event = HOST.read({**PAYLOAD, "cwd": "/tmp/x", "agent_id": "a", "agent_type": "worker"}, ENVIRON)  # noqa: S108 -- a name
    assert (event.workspace, event.folder, event.agent) == ("/home/ann/project", "/tmp/x", "worker")  # noqa: S108 -- a name


def test_programs_that_wait_for_commands_are_refused() -> None:
    """What is typed into them reaches no hook."""
    assert HOST.shipped(HOST.read(PAYLOAD, ENVIRON)) == ("permitry:hooks-codex", "permitry:tools-codex")
