"""What a human is shown when a call needs confirmation."""

import json

import pytest

from permitry.channels.request import ConfirmationRequestFactory, EffectLine, SuggestedGrant, effect_lines
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Phase, Verdict
from permitry.core.spec import ArgumentRole, ToolSpec


def test_a_request_shows_the_call(call: ToolCall, unruled: Decision) -> None:
    """Tool and arguments are those of the call that would run."""
    request = ConfirmationRequestFactory().create(call, unruled)
    assert request.call is call
    assert request.tool == "write_file"
    assert request.arguments == {"path": "a.txt", "content": "hello"}


def test_a_request_is_plain_data_for_another_program(unruled: Decision) -> None:
    """A web page or a chat takes JSON, which the frozen arguments are not."""
    call = ToolCall("write_file", {"path": "a.txt", "lines": [1, {"b": None}]}, call_id="c1")
    request = ConfirmationRequestFactory(lambda _: "+hello").create(call, unruled)
    assert request.arguments == {"path": "a.txt", "lines": [1, {"b": None}]}
    assert json.loads(json.dumps(request.to_dict())) == {
        "tool": "write_file", "arguments": {"path": "a.txt", "lines": [1, {"b": None}]},
        "reason": "no rule allows this call", "call_id": "c1", "digest": call.digest, "path": "a.txt",
        "preview": "+hello",
        "suggested_grants": [
            {"scope": "session", "tool": "write_file", "label": "do not ask about `write_file` again in this session"}
        ],
        "origins": [],
    }  # fmt: skip


def test_a_request_shows_what_would_change(call: ToolCall, unruled: Decision) -> None:
    """The preview is made from the call."""
    factory = ConfirmationRequestFactory(lambda asked: f"+{asked.arguments['content']}")
    assert factory.create(call, unruled).preview == "+hello"


def test_without_a_preview_there_is_none(call: ToolCall, unruled: Decision) -> None:
    """Not every tool can tell what it would change."""
    assert ConfirmationRequestFactory().create(call, unruled).preview is None


def test_a_call_no_rule_speaks_about_is_asked_for_that_reason(call: ToolCall, unruled: Decision) -> None:
    """The human learns that nothing allows the tool."""
    assert ConfirmationRequestFactory().create(call, unruled).reason == "no rule allows this call"


def test_a_restriction_is_named_with_its_reason(call: ToolCall, restricted: Decision) -> None:
    """The human may see the rule, unlike the model."""
    reason = ConfirmationRequestFactory().create(call, restricted).reason
    assert reason == "nobody watches at night (rule `night`)"


def test_a_restriction_without_a_reason_is_still_named(call: ToolCall) -> None:
    """The id is where a reason is missing."""
    decision = Decision(Verdict.CONFIRM, "night", Phase.RESTRICTION, "")
    assert ConfirmationRequestFactory().create(call, decision).reason == "the rule says so (rule `night`)"


@pytest.mark.parametrize("name", ["path", "file_path", "filepath"])
def test_a_path_is_found_by_its_usual_names(name: str, unruled: Decision) -> None:
    """Without a spec, the common names of a path argument are looked at."""
    request = ConfirmationRequestFactory().create(ToolCall("edit", {name: "src/a.py"}), unruled)
    assert request.path == "src/a.py"


@pytest.mark.parametrize("role", [ArgumentRole.WRITE_PATH, ArgumentRole.DELETE_PATH, ArgumentRole.READ_PATH])
def test_a_declared_path_comes_first(role: ArgumentRole, unruled: Decision) -> None:
    """What the spec declares to be a path is one, whatever its name."""
    spec = ToolSpec("edit", roles={"command": ArgumentRole.COMMAND, "target": role})
    call = ToolCall("edit", {"command": "ls", "path": "b.py", "target": "a.py"})
    assert ConfirmationRequestFactory().create(call, unruled, spec).path == "a.py"


def test_of_a_path_that_is_read_and_one_that_is_deleted_neither_is_shown(unruled: Decision) -> None:
    """The one that is shown would be taken for all that the call is about."""
    roles = {"source": ArgumentRole.READ_PATH, "gone": ArgumentRole.DELETE_PATH}
    call = ToolCall("swap", {"source": "a.py", "gone": "b.py"})
    assert ConfirmationRequestFactory().create(call, unruled, ToolSpec("swap", roles=roles)).path is None


@pytest.mark.parametrize(
    ("key", "arguments", "path"),
    [
        ("path|file_path?", {"file_path": "a.py"}, "a.py"),
        ("items[].path", {"items": [{"path": "a.py"}]}, "a.py"),
        ("options.target", {"options": {"target": "a.py"}}, "a.py"),
        ("items[].path", {"items": [{"path": "a.py"}, {"path": "b.py"}]}, None),
    ],
)
def test_a_declared_path_is_found_where_its_key_says(
    key: str, arguments: dict[str, object], path: str | None, unruled: Decision
) -> None:
    """Under one of several names, and inside of an argument; of several paths none is shown."""
    spec = ToolSpec("edit", roles={key: ArgumentRole.WRITE_PATH})
    assert ConfirmationRequestFactory().create(ToolCall("edit", arguments), unruled, spec).path == path


@pytest.mark.parametrize("arguments", [{}, {"path": 3}, {"path": ["a"]}, {"url": "a.py"}])
def test_without_a_path_there_is_none(arguments: dict[str, object], unruled: Decision) -> None:
    """A path of another type than text is not shown as one."""
    assert ConfirmationRequestFactory().create(ToolCall("edit", arguments), unruled).path is None


def test_a_grant_for_the_session_is_suggested(call: ToolCall, unruled: Decision) -> None:
    """The human may stop being asked about the tool."""
    [grant] = ConfirmationRequestFactory().create(call, unruled).suggested_grants
    assert grant == SuggestedGrant("session", "write_file", "do not ask about `write_file` again in this session")


def test_no_grant_is_suggested_when_a_restriction_asks(call: ToolCall, restricted: Decision) -> None:
    """Such a call is asked about every time."""
    assert ConfirmationRequestFactory().create(call, restricted).suggested_grants == ()


def lines(command: str) -> tuple[EffectLine, ...]:
    """Return the lines of a command."""
    policy = create_default_authorization_policy()
    return effect_lines(policy.request(ToolCall("run_shell", {"command": command}), AuthContext()).actions)


def test_a_command_is_shown_as_a_tree() -> None:
    """Each action once, what a loop runs below it, and what is not certain said to be so."""
    shown = lines("cd sub && (rm -r x; echo y) && eval $z")
    assert EffectLine(0, "cd sub") in shown
    assert next(line for line in shown if line.text.startswith("(…): rm -r x")).depth == 1
    assert any(line.text.startswith("not certain: ") for line in shown)
    assert len(shown) == len(set(shown))


def test_what_a_program_changes_is_below_it() -> None:
    """And where it connects to; what it reads is in its command."""
    assert lines("sed -i s/a/b/ x.toml; curl https://a.example/b; cat c") == (
        EffectLine(0, "sed -i s/a/b/ x.toml (`sed -i` changes files)"),
        EffectLine(1, "write x.toml"),
        EffectLine(0, "curl https://a.example/b (`curl` opens network connections)"),
        EffectLine(1, "connect https://a.example/b"),
        EffectLine(0, "cat c"),
    )


def test_what_is_only_possible_says_so() -> None:
    """And only where it says something new."""
    shown = lines("eval 'ls a'; unknown $(( ${x[$(rm b)]} ))")
    possible = [line.text for line in shown if line.text.startswith("perhaps ")]
    assert possible
    assert not {text.removeprefix("perhaps ") for text in possible} & {line.text for line in shown}


def test_a_long_list_says_how_much_is_left_out() -> None:
    """No page grows without a bound."""
    shown = lines("; ".join(f"ls a{number}" for number in range(300)))
    assert len(shown) == 201
    assert shown[-1].text.startswith("and ")


def test_a_call_without_effects_has_no_lines() -> None:
    """What is not known of a tool is not guessed for a human."""
    policy = create_default_authorization_policy()
    assert effect_lines(policy.request(ToolCall("odd", {"x": 1}), AuthContext()).actions) == ()
