"""Qwen Code: refusals that no other hook takes back, servers and sub-agents, and what is reported."""

import json

from tests.tables import for_each
from tests.unit.permitry_hosts.hooks.payloads import CLAUDE, SPECIFIC, Captured, as_text

from permitry_hosts.hooks.host import Effect, Kind, Reply, Verb
from permitry_hosts.hooks.hosts.qwen import HOST

CAPTURED = Captured(
    {
        **CLAUDE, "hook_event_name": "PreToolUse", "timestamp": "2026-11-30T08:39:52.657Z", "prompt_id": "s1########0",
        "tool_name": "run_shell_command", "tool_input": {"command": "?", "is_background": False},
        "tool_use_id": "toolu_1796027992657_kb6lluixl", "tool_call_id": "toolu_call_0_0",
    },
    {"continue": False, "stopReason": "NO", "hookSpecificOutput": SPECIFIC},
    permits=False,
    prompt={"hook_event_name": "UserPromptSubmit", "submitted_prompt": "?"},
    turn="prompt_id",
    after=lambda result: {
        "hook_event_name": "PostToolUse", "tool_response": {"llmContent": as_text(result), "returnDisplay": ""},
    },
    own="glob",
)  # fmt: skip
PAYLOAD = CAPTURED.payload
ENVIRON = {"QWEN_PROJECT_DIR": "/home/ann"}


@for_each("verb", [Verb.ALLOW, Verb.ASK, Verb.SILENCE])
def test_before_a_call_there_is_a_no_or_nothing(verb: Verb) -> None:
    """It asks its user as it would without the hook."""
    event = HOST.read(PAYLOAD, ENVIRON)
    assert not event.can_ask
    assert HOST.write(Effect(verb, "why"), event) == Reply()


def test_a_refusal_is_not_taken_back_by_the_hook_after_it() -> None:
    """Of several decisions the last one counts, but that the agent does not go on stays."""
    said = json.loads(HOST.write(Effect(Verb.DENY, "NO"), HOST.read(PAYLOAD, ENVIRON)).out)
    assert said["continue"] is False
    assert said["stopReason"] == "NO"


def test_servers_folders_and_sub_agents_are_read() -> None:
    """A sub-agent has an id alone."""
    call = {"tool_name": "mcp__bank__pay", "agent_id": "general-purpose-toolu_call_5_0"}
    event = HOST.read({**PAYLOAD, **call}, ENVIRON)
    assert (event.server, event.tool, event.agent) == ("bank", "pay", "sub-agent")
    assert (event.workspace, event.folder) == ("/home/ann", "/home/ann/project")
    assert event.call_id == "general-purpose-toolu_call_5_0/toolu_1796027992657_kb6lluixl"


def test_a_prompt_is_not_heard() -> None:
    """It also comes, empty, for each result of a call, and for what the model has scheduled."""
    event = HOST.read({**PAYLOAD, "hook_event_name": "UserPromptSubmit", "prompt": "touch bad"}, ENVIRON)
    assert (event.kind, event.text) == (Kind.PROMPT, None)
    assert Kind.PROMPT not in HOST.hears
    assert HOST.write(Effect(Verb.DENY, "NO"), event) == Reply()


def test_the_result_of_a_call_is_what_the_model_is_shown() -> None:
    """Not what its user is shown."""
    response = {"llmContent": [{"text": "a"}, {"text": "b"}], "returnDisplay": "c"}
    after = {**PAYLOAD, "hook_event_name": "PostToolUse"}
    assert HOST.read({**after, "tool_response": response}, ENVIRON).result == response["llmContent"]
    assert HOST.read({**after, "tool_response": None}, ENVIRON).result is None


def test_its_shell_reads_no_file_at_the_start() -> None:
    """What such a file prints comes before the document, and lets the call run; it may also end the shell."""
    (entry,) = HOST.settings.entries("x", 30)["PreToolUse"]["hooks"]
    assert entry["env"] == {"BASH_ENV": "", "SHLVL": "9"}
    assert entry["timeout"] == 30_000
