"""The tool `unified_exec`: starting and typing in one form, judged as `exec_command` and `write_stdin` are."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.config.load import load_policy
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.decision import Verdict
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.schema import exported
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import sessions
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]
RULES = """
schema = 1
[[rule]]
id = "mkdir"
effect = "allow"
tools = ["@shell"]
when.command = ["mkdir *"]
[[rule]]
id = "no-push"
effect = "block"
when.command = ["git push *"]
"""


@pytest.fixture
def registry(root: Path) -> Iterator[ToolRegistry]:
    """Yield a registry with both forms; it is closed in the end."""
    registry = ToolRegistry()
    sessions.register(registry, Workspace(root), forms=sessions.FORMS)
    yield registry
    registry.close()


@pytest.fixture
def handler(root: Path, tmp_path: Path, registry: ToolRegistry) -> ToolHandler:
    """Return a handler under a few rules, with no one to ask."""
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    policy = load_policy(str(tmp_path / "rules.toml"))
    return ToolHandler(Session(workspace=str(root)), policy, registry=registry)


def _verdict(handler: ToolHandler, **arguments: Any) -> tuple[Verdict, str | None]:  # noqa: ANN401 -- of the tool
    decision = handler.decide(ToolCall("unified_exec", arguments))
    return decision.verdict, decision.rule_id


def _until(use: Use, expected: str) -> str:
    """Return what session 1 puts out until `told` is there."""
    output = ""
    for _ in range(100):
        output += use("unified_exec", input=[], session_id=1, timeout_ms=250).text
        if expected in output:
            return output
    pytest.fail(f"never shown: {expected}; but: {output}")


def test_a_session_is_started_and_typed_into(use: Use) -> None:
    """The list that is typed is joined, as it is; the one that starts is a program and its arguments."""
    begun = use("unified_exec", input=["sh", "-c", 'read -r name; echo "hello $name"'], timeout_ms=250)
    assert "\nProcess running with session ID 1\n" in begun.text
    answer = use("unified_exec", input=["A", "da\n"], session_id="1", timeout_ms=10_000).text
    assert "hello Ada" in answer + ("" if "code 0" in answer else _until(use, "exited with code 0"))


def test_a_text_is_started_by_a_shell(use: Use) -> None:
    """As for `bash -c`; without a terminal it cannot be typed into."""
    assert use("unified_exec", input="echo $((1 + 1))", tty=False).text.endswith("Output:\n2\n")
    assert use("unified_exec", input=["echo", "$((1 + 1))"], tty=False).text.endswith("Output:\n$((1 + 1))\n")
    use("unified_exec", input="sleep 60", tty=False, timeout_ms=250)
    assert "stdin is closed" in use("unified_exec", input="x", session_id=3).text


def test_both_forms_have_the_same_sessions(use: Use) -> None:
    """What one starts the other types into."""
    use("unified_exec", input=["cat"], timeout_ms=250)
    typed = use("write_stdin", session_id=1, chars="typed\n", yield_time_ms=250).text
    assert "typed" in (typed if "typed" in typed else _until(use, "typed"))


@pytest.mark.parametrize(
    ("arguments", "verdict", "rule"),
    [
        ({"input": ["mkdir", "a"], "tty": False}, Verdict.ALLOW, "mkdir"),
        ({"input": "mkdir a", "tty": False}, Verdict.ALLOW, "mkdir"),
        ({"input": ["mkdir", "a"]}, Verdict.ALLOW, "mkdir"),
        ({"input": ["make"]}, Verdict.CONFIRM, None),
        ({"input": ["bash", "-i"]}, Verdict.CONFIRM, "no-push"),
        ({"input": "git push origin", "tty": False}, Verdict.BLOCK, "no-push"),
        ({"input": ["bash", "-c", "cd x; git push origin"]}, Verdict.BLOCK, "no-push"),
        ({"input": "echo a\n", "session_id": 1}, Verdict.CONFIRM, "no-push"),
        ({"input": ["git push", " origin\n"], "session_id": 1}, Verdict.BLOCK, "no-push"),
        ({"input": [], "session_id": 1}, Verdict.ALLOW, "read-only"),
        ({"input": "", "session_id": "1"}, Verdict.ALLOW, "read-only"),
    ],
)
def test_rules_see_what_is_started_and_what_is_typed(
    handler: ToolHandler, arguments: dict[str, Any], verdict: Verdict, rule: str | None
) -> None:
    """Just as those of the other form: a command that starts, input that is typed."""
    assert _verdict(handler, **arguments) == (verdict, rule)
    canonical = handler.registry.resolved(ToolCall("unified_exec", arguments)).to_dict()
    tool = "exec_command" if canonical.pop("action") == "start" else "write_stdin"
    other = handler.decide(ToolCall(tool, canonical))
    assert (other.verdict, other.rule_id) == (verdict, rule)


def test_a_permission_for_paths_holds_for_a_patch_in_a_terminal(root: Path, registry: ToolRegistry) -> None:
    """A call that says nothing of a terminal gets one, and the patch is applied without a shell."""
    rules = 'schema = 1\n[[rule]]\nid = "src"\neffect = "allow"\ntools = ["@shell"]\nwhen.path = ["./src/**"]\n'
    handler = ToolHandler(Session(workspace=str(root)), load_policy(rules), registry=registry)
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {}/a\n+x\n*** End Patch\nEOF\n"
    assert _verdict(handler, input=patch.format("src")) == (Verdict.ALLOW, "src")
    assert _verdict(handler, input=patch.format("lib")) == (Verdict.CONFIRM, None)


def test_looking_is_all_that_plan_mode_leaves(handler: ToolHandler) -> None:
    """And what only reads."""
    handler.session.switch_mode("plan")
    assert _verdict(handler, input=[], session_id=1)[0] is Verdict.ALLOW
    assert _verdict(handler, input=["touch", "a"])[0] is Verdict.BLOCK
    assert _verdict(handler, input="w", session_id=1)[0] is Verdict.BLOCK
    assert handler.is_tool_blocked("unified_exec")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "`input` is missing"),
        ({"input": []}, "`input` is empty"),
        ({"input": 1}, "`input` must be a list or a text."),
        ({"input": ["ls"], "session_id": "one"}, "Unknown process id one"),
        ({"input": ["ls"], "session_id": "9" * 5_000}, "Unknown process id 9"),
        ({"input": ["ls"], "workdir": "/"}, "`workdir` is not an argument"),
        ({"input": ["ls"], "timeout_ms": 1}, "`timeout_ms`"),
        ({"action": "start", "cmd": "ls", "session_id": 1}, "`session_id` is not an argument"),
        ({"action": "type", "session_id": 1, "cmd": "ls"}, "`cmd` is not an argument"),
        ({"input": "apply_patch <<'EOF'\n*** Begin Patch\nEOF\n"}, "apply_patch verification failed"),
        ({"action": ["start"]}, "`action` is start or type"),
    ],
)
def test_a_call_that_does_not_fit_is_answered(handler: ToolHandler, arguments: dict[str, Any], expected: str) -> None:
    """Before anybody is asked."""
    decision = handler.decide(ToolCall("unified_exec", arguments))
    assert decision.verdict is Verdict.BLOCK
    assert expected in (decision.message or "")


def test_a_human_sees_and_edits_the_form_that_is_judged(handler: ToolHandler) -> None:
    """Either form may be what is edited into; it is judged again, and runs as judged."""
    asked: list[ToolConfirmationRequest] = []

    def answer(arguments: dict[str, Any]) -> Callable[[ToolConfirmationRequest], ToolConfirmationResponse]:
        def answered(request: ToolConfirmationRequest) -> ToolConfirmationResponse:
            asked.append(request)
            return ToolConfirmationResponse(approved=True, arguments=arguments)

        return answered

    handler.channel = CallbackChannel(answer({"input": ["echo", "edited"], "tty": False}))
    assert handler.handle(ToolCall("unified_exec", {"input": ["make"]})).text.endswith("Output:\nedited\n")
    assert asked[0].call.to_dict() == {"action": "start", "cmd": "make", "tty": True}
    handler.channel = CallbackChannel(answer({"input": "git push origin", "tty": False}))
    assert "blocked" in handler.handle(ToolCall("unified_exec", {"input": ["make"]})).text


def test_calls_may_come_as_their_own_kind_and_from_providers(registry: ToolRegistry, handler: ToolHandler) -> None:
    """The model sees `input` and `session_id`."""
    call = ToolCall("unified_exec", {"input": "mkdir a", "tty": False}, kind=PayloadKind.UNIFIED_EXEC)
    assert handler.decide(call).verdict is Verdict.ALLOW
    spec = registry.get("unified_exec")
    assert spec is not None
    properties = exported(spec, "openai-chat")["function"]["parameters"]["properties"]
    assert set(properties) == {"input", "session_id", "timeout_ms", "tty"}


def test_a_form_that_was_not_read_does_not_run(registry: ToolRegistry) -> None:
    """What no rule has seen as a command is none."""
    raw = ToolCall("unified_exec", {"input": ["ls"]})
    assert "in no form that the tool takes" in str(registry.misfit(raw))
    assert registry.misfit(registry.resolved(raw)) is None
