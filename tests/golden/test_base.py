"""What `permitry:base` asks about and blocks, whatever else is permitted; the calls are in `base.toml`."""

import tomllib
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.actions.extract import ReadActions
from permitry.config.load import load_policy, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from permitry.core.rule import Unsure
from permitry.rules.configured import ConfiguredRule
from tests.tables import for_each

_CALLS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("base.toml").read_text(encoding="utf-8"))
_READER = ReadActions("/home/ann", has_disk=False)
_CONTEXT = AuthContext(workspace="/home/ann/project", yolo_mode=True)


@pytest.fixture(scope="module")
def base() -> AuthorizationPolicy:
    """Return the set alone; in YOLO mode what is not restricted runs."""
    return attrs.evolve(load_policy("permitry:base"), reader=_READER)


def _verdict(policy: AuthorizationPolicy, name: str, **arguments: object) -> Verdict:
    return policy.decide(ToolCall(name, arguments), _CONTEXT).verdict


def _answer(policy: AuthorizationPolicy, rule_id: str, command: str) -> bool | Unsure:
    """Return what one rule alone says about a command."""
    rule = next(rule for rule in policy.rules if isinstance(rule, ConfiguredRule) and rule.id == rule_id)
    return rule.matches(policy.request(ToolCall("run_shell", {"command": command}), _CONTEXT))


def _pairs(kind: str) -> list[tuple[str, str]]:
    return [(rule, command) for rule, commands in _CALLS[kind].items() for command in commands]


@for_each("path", _CALLS["edits"])
@for_each("tool", ["write_file", "edit_file"])
def test_the_template_edit_does_not_edit_what_runs(path: str, tool: str) -> None:
    """`git status`, which runs unasked, would run `core.fsmonitor` of a `.git/config` that was written unasked."""
    rules = load_rules(["permitry:coding-agent"])
    policy = attrs.evolve(rules.policy(), reader=_READER)
    context = AuthContext(workspace="/home/ann/project", active_template=rules.templates["edit"])
    decision = policy.decide(ToolCall(tool, {"path": path, "content": "x"}), context)
    assert (decision.verdict, decision.phase.value) == (Verdict.CONFIRM, "restriction")
    plain = policy.decide(ToolCall(tool, {"path": "src/a.py", "content": "x"}), context)
    assert plain.verdict is Verdict.ALLOW


@for_each("command", _CALLS["texts"])
def test_a_text_is_not_asked_about(base: AuthorizationPolicy, command: str) -> None:
    """The value of an option that is neither a path nor an option, whatever its expansion becomes."""
    assert _verdict(base, "run_shell", command=command) is Verdict.ALLOW


@for_each("command", _CALLS["git"])
def test_git_itself_is_not_asked_about(base: AuthorizationPolicy, command: str) -> None:
    """Git keeps its own files, and may."""
    assert _verdict(base, "run_shell", command=command) is Verdict.ALLOW


@for_each("name", ["read_file", "list_files", "grep"])
@for_each("path", [".git/config", ".vscode/settings.json", "~/.bashrc", ".mcp.json"])
def test_reading_what_runs_is_not_asked_about(base: AuthorizationPolicy, name: str, path: str) -> None:
    """What is read runs nothing."""
    assert _verdict(base, name, path=path) is Verdict.ALLOW


def test_a_link_to_what_runs_is_seen(tmp_path: Path) -> None:
    """Writing through a link writes what it leads to."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").symlink_to(".git/config")
    context = AuthContext(workspace=str(tmp_path), yolo_mode=True)
    decision = load_policy("permitry:base").decide(ToolCall("write_file", {"path": "notes", "content": "x"}), context)
    assert (decision.verdict, decision.phase.value) == (Verdict.CONFIRM, "restriction")


@for_each(("rule", "command"), _pairs("blocks"))
def test_what_destroys_a_machine_is_blocked(base: AuthorizationPolicy, rule: str, command: str) -> None:
    """No ordinary work needs it, so the user is not asked either."""
    assert _verdict(base, "run_shell", command=command) is Verdict.BLOCK
    assert _answer(base, rule, command) is True


@for_each(("rule", "command"), _pairs("asks"))
def test_what_loses_work_is_asked_about(base: AuthorizationPolicy, rule: str, command: str) -> None:
    """The user may want it."""
    assert _verdict(base, "run_shell", command=command) is Verdict.CONFIRM
    assert _answer(base, rule, command) is not False


@for_each("command", _CALLS["guesses"])
def test_what_may_destroy_is_asked_about(base: AuthorizationPolicy, command: str) -> None:
    """An expansion may be anything: a guess, and a guess does not block."""
    assert _verdict(base, "run_shell", command=command) is Verdict.CONFIRM


@for_each("command", _CALLS["free"])
def test_what_an_exception_names_is_not_asked_about(base: AuthorizationPolicy, command: str) -> None:
    """Reading a setting, and settings that run nothing, need no human."""
    assert _verdict(base, "run_shell", command=command) is Verdict.ALLOW


@for_each("command", _CALLS["neighbours"])
def test_a_harmless_neighbour_is_not_asked_about(base: AuthorizationPolicy, command: str) -> None:
    """A needless request is a defect as well."""
    assert _verdict(base, "run_shell", command=command) is Verdict.ALLOW


@for_each("command")
def test_deleting_what_may_be_the_source_is_no_block(base: AuthorizationPolicy, command: str) -> None:
    """Behind an option that is not known it is not certain which operand is deleted, and a guess does not block."""
    assert _verdict(base, "run_shell", command=command) is Verdict.CONFIRM


_PUBLISHES = (
    "mcp:git/push", "mcp:github/push_files", "mcp:github/merge_pull_request", "mcp:github/create_release", "deploy",
    "publish", "release", "push", "mcp:ci/deploy", "mcp:npm/publish", "mcp:x/npm_publish", "mcp__git__push", "mcp:a/Deploy",
)  # fmt: skip
_RUNS = (
    "mcp:x/exec", "mcp:x/run", "mcp:x/eval", "mcp__x__exec", "mcp__x_exec", "mcp:x/run_code", "mcp:x/run_python",
    "mcp__bank_send_money", "mcp_bank_send_money", "mcp__bank_pay_invoice", "mcp__github_delete_file",
)  # fmt: skip
_RUN_FREELY = (
    "mcp:git/pull", "mcp:git/status", "mcp:github/get_latest_release", "mcp:github/list_releases", "mcp:ci/list_runs",
    "mcp:ci/get_deploy_status", "push_notification", "mcp:db/get_exec_plan", "mcp__bank_get_balance",
    "mcp__bank_list_payees", "mcp:github/create_pull_request", "deployments",
)  # fmt: skip


@for_each(
    ("name", "verdict"),
    [
        *((name, Verdict.BLOCK) for name in _PUBLISHES),
        *((name, Verdict.CONFIRM) for name in _RUNS),
        *((name, Verdict.ALLOW) for name in _RUN_FREELY),
    ],
)
def test_a_coding_agent_publishes_nothing_and_runs_nothing_unasked(name: str, verdict: Verdict) -> None:
    """In YOLO mode, where what is not restricted runs; one `_` may stand between a server and its tool."""
    policy = attrs.evolve(load_policy("permitry:coding-agent"), reader=_READER)
    assert policy.decide(ToolCall(name, {}), _CONTEXT).verdict is verdict


@for_each("command", _CALLS["walks"])
def test_what_a_walk_may_meet_is_no_block(base: AuthorizationPolicy, command: str) -> None:
    """`find` deletes what fits its tests, which need not be a rule file."""
    assert _verdict(base, "run_shell", command=command) is Verdict.CONFIRM


@for_each(("command", "rule"))
def test_the_reason_is_that_of_what_is_destroyed(base: AuthorizationPolicy, command: str, rule: str) -> None:
    """Not that the rules of permitry lie somewhere below."""
    decision = base.decide(ToolCall("run_shell", {"command": command}), _CONTEXT)
    assert (decision.verdict, decision.rule_id) == (Verdict.BLOCK, rule)


def test_every_reason_and_message_is_given() -> None:
    """The user sees why, and the model what it may do instead."""
    rules = [rule for rule in load_rules(["permitry:base"]).rules if rule.id.startswith(("block-", "ask-", "protect-"))]
    assert len(rules) > 15
    assert all(rule.reason not in ("", rule.message) for rule in rules)
    brief = {"ask-access-change", "ask-credentials", "ask-deletion", "ask-payment"}
    assert {rule.id for rule in rules if not rule.message} == brief
