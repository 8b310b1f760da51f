"""Commands that read or change what a policy protects, and connections it stops, in the mode that asks the least."""

import pytest

from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.policy import AuthorizationPolicy
from tests.tables import for_each

_HOSTS = """
schema = 1
[[rule]]
id = "all"
effect = "allow"
tools = ["*"]
[[rule]]
id = "no-evil"
effect = "block"
when.host = ["evil.com", "*.evil.com"]
"""


@pytest.fixture(scope="module")
def agent() -> AuthorizationPolicy:
    """Return the rules for a coding agent."""
    return load_policy("permitry:coding-agent")


@pytest.fixture(scope="module")
def hosts() -> AuthorizationPolicy:
    """Return a policy that permits everything but one host."""
    return load_policy(_HOSTS)


def _verdict(policy: AuthorizationPolicy, command: str) -> Verdict:
    call = ToolCall("bash", {"command": command})
    return policy.decide(call, AuthContext(workspace="/w", yolo_mode=True)).verdict


@for_each("command")
def test_what_is_protected_is_asked_about(agent: AuthorizationPolicy, command: str) -> None:
    """Or blocked."""
    assert _verdict(agent, command) is not Verdict.ALLOW


@for_each("command")
def test_a_host_in_a_variable_is_asked_about(hosts: AuthorizationPolicy, command: str) -> None:
    """It is where a program connects to, or what it connects through."""
    assert _verdict(hosts, command) is not Verdict.ALLOW


@for_each("command")
def test_what_looks_alike_runs(agent: AuthorizationPolicy, command: str) -> None:
    """A needless question is a defect as well."""
    assert _verdict(agent, command) is Verdict.ALLOW


@for_each("command", ["http_proxy=http://good.com curl good.com", "x=http://evil.com; ls"])
def test_another_host_is_not_asked_about(hosts: AuthorizationPolicy, command: str) -> None:
    """Nor an address that no command gets."""
    assert _verdict(hosts, command) is Verdict.ALLOW


# Programs that wait to be typed into ---------------------------------------------------------------------------------

_WAITS_ANYWHERE = (
    "bash -i", "/bin/sh -il", "cd x && zsh -i", "bash --norc -i", "bash -c 'bash -i'", "setsid bash -i", "python3 -i",
    "python3 -i x.py", "python3.12 -q -i", "nohup python3 -iq", "node -i", "php -a", "lua5.4 -i", "deno repl",
    "sudo -s", "sudo su", "su - pg",
)  # fmt: skip
_WAITS_IN_A_TERMINAL = (
    "bash", "zsh -l", "exec sh", "(bash)", "make; bash", "busybox sh", "python3", "env python3", "uv run python",
    "python3 -u -q", "python3 manage.py shell", "python3 -m pdb x.py", "irb", "node", "lua", "R", "psql shop",
    "sqlite3 a.db", "mysql -u root -p shop", "redis-cli", "gdb ./a", "ssh host", "ssh -p 22 host",
    "docker exec -it c bash", "tmux", "perl -de 0", "npx ts-node",
)  # fmt: skip
_WAITS_NOWHERE = (
    "bash -c 'touch a'", "bash x.sh -i", "python3 x.py -i", "python3 -m pip install -i u x", "node x.js",
    "psql -c 'select 1'",
    "sqlite3 a.db .tables", "ssh host uptime", "mysql -e 'select 1' shop", "gdb -batch -ex bt a c", "redis-cli get x",
    "uv run pytest", "su pg -c ls", "perl -i -pe s/a/b/ x", "npm test", "cat a",
)  # fmt: skip


def _started(policy: AuthorizationPolicy, command: str, **more: object) -> tuple[Verdict, str | None]:
    call = ToolCall("exec_command", {"cmd": command, **more})
    decision = policy.decide(call, AuthContext(workspace="/w", yolo_mode=True))
    return decision.verdict, decision.rule_id


@for_each("command", _WAITS_ANYWHERE)
def test_what_is_made_to_be_typed_into_is_asked_about(agent: AuthorizationPolicy, command: str) -> None:
    """With a terminal or without one."""
    expected = (Verdict.CONFIRM, "ask-interactive-program")
    assert _started(agent, command) == _started(agent, command, tty=True) == expected


@for_each("command", _WAITS_IN_A_TERMINAL)
def test_what_waits_in_a_terminal_is_asked_about(agent: AuthorizationPolicy, command: str) -> None:
    """Also where the word for a terminal is of another type; without one there is nothing to wait for."""
    expected = (Verdict.CONFIRM, "ask-interactive-in-terminal")
    assert _started(agent, command, tty=True) == _started(agent, command, tty="yes") == expected
    assert _started(agent, command)[1] != "ask-interactive-in-terminal"


def test_a_terminal_alone_is_no_reason_to_ask(agent: AuthorizationPolicy) -> None:
    """What waits for no one does in it what it does elsewhere."""
    asked = [each for each in _WAITS_NOWHERE if _started(agent, each, tty=True)[0] is not Verdict.ALLOW]
    assert asked == []


@for_each("typed", ["ls\n", "ls", "\n", "y\n", "\x1b:q\n", "\x03ls\n", "import os\n", "\x16\x04", "\t"])
def test_what_is_typed_is_asked_about_in_every_mode(agent: AuthorizationPolicy, typed: str) -> None:
    """Who reads it, and what earlier lines have made of its words, is not known."""
    call = ToolCall("write_stdin", {"session_id": 1, "chars": typed})
    assert agent.decide(call, AuthContext(workspace="/w", yolo_mode=True)).verdict is Verdict.CONFIRM


def test_what_is_typed_is_restricted_as_a_command(agent: AuthorizationPolicy) -> None:
    """A shell may read it."""
    for typed in ("git push\n", "cd x; git push origin\n", "ls\ngit push\n"):
        call = ToolCall("write_stdin", {"session_id": 1, "chars": typed})
        assert agent.decide(call, AuthContext(workspace="/w", yolo_mode=True)).verdict is Verdict.BLOCK


@for_each("typed", ["", "\x03", "\x04", "\x03\x03\x04"])
def test_what_only_ends_something_is_not_asked_about(agent: AuthorizationPolicy, typed: str) -> None:
    """Ctrl-C and Ctrl-D start nothing."""
    call = ToolCall("write_stdin", {"session_id": 1, "chars": typed})
    assert agent.decide(call, AuthContext(workspace="/w", is_plan_mode=True)).verdict is Verdict.ALLOW


def test_a_permission_for_paths_holds_in_a_terminal() -> None:
    """The argument `tty` has a role, by the name of the tool and in the tools of Codex."""
    rule = 'id = "p"\neffect = "allow"\ntools = ["@shell"]\nwhen.command = ["mkdir *"]\nwhen.path = ["./**"]\n'
    for extends in ("", 'extends = ["permitry:tools-codex"]\n'):
        call = ToolCall("exec_command", {"cmd": "mkdir a", "tty": True})
        assert (
            load_policy(f"schema = 1\n{extends}[[rule]]\n{rule}").decide(call, AuthContext(workspace="/w")).rule_id
            == "p"
        )
