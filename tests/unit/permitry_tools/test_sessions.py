"""The tools `exec_command` and `write_stdin`."""

import concurrent.futures
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from permitry.config.load import load_policy
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.decision import Phase, Verdict
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import _process, sessions
from permitry_tools.workspace import Workspace

Use = Callable[..., ToolResult]
QUICK = 250


@pytest.fixture
def registry(root: Path) -> Iterator[ToolRegistry]:
    """Yield a registry of the tools; it is closed in the end."""
    registry = ToolRegistry()
    sessions.register(registry, Workspace(root))
    yield registry
    registry.close()


def _output(result: ToolResult) -> str:
    return result.text.partition("\nOutput:\n")[2]


def _until(use: Use, session: int, shown: str, **arguments: Any) -> str:  # noqa: ANN401 -- arguments of the tool
    """Return what a session puts out until `told` is there; `arguments` are for the first look."""
    output = ""
    for _ in range(100):
        result = use("write_stdin", session_id=session, yield_time_ms=QUICK, **arguments)
        arguments = {}
        output += _output(result)
        if shown in output + result.text:
            return output
    pytest.fail(f"never shown: {shown}; but: {output}")


def _up(use: Use, command: str, **arguments: Any) -> None:  # noqa: ANN401 -- arguments of the tool
    """Start a command on a terminal as session 1, and return once it has said `up`."""
    if "up" not in _output(use("exec_command", cmd=command, tty=True, yield_time_ms=QUICK, **arguments)):
        _until(use, 1, "up")


def _pid_in(root: Path) -> int:
    """Return the number that a command writes to the file `pid`, with a period behind it."""
    for _ in range(1000):
        text = (root / "pid").read_text(encoding="utf-8") if (root / "pid").exists() else ""
        if text.endswith(".\n"):
            return int(text[:-2])
        time.sleep(0.01)
    pytest.fail("it was not started")


def _is_gone(pid: int) -> bool:
    """Return whether a process ends soon; one that no one has waited for yet is gone as well."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


# Commands ---------------------------------------------------------------------------------------------------------


def test_a_short_command_is_reported_whole(use: Use) -> None:
    """The answer has how it ended, how much it wrote, and the output of both streams."""
    done = use("exec_command", cmd="echo out; echo err >&2; exit 3")
    assert done.ok is False
    assert re.fullmatch(
        r"Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 3\n"
        r"Original token count: 2\nOutput:\nout\nerr\n",
        done.text,
    )


def test_success_is_exit_code_zero(use: Use) -> None:
    """A signal is reported as shells do."""
    assert use("exec_command", cmd="true").ok
    assert "code 137\n" in use("exec_command", cmd="kill -9 $$").text


def test_a_long_command_goes_on_as_a_session(use: Use) -> None:
    """What comes later is reported later, each piece once."""
    begun = use("exec_command", cmd="echo one; until [ -e go ]; do sleep 0.02; done; echo two", yield_time_ms=QUICK)
    assert begun.ok
    assert "\nProcess running with session ID 1\n" in begun.text
    seen = _output(begun) + ("" if _output(begun) else _until(use, 1, "one"))
    assert seen == "one\n"
    assert use("exec_command", cmd="touch go").ok
    assert _until(use, 1, "exited with code 0") == "two\n"
    assert use("write_stdin", session_id=1) == ToolResult(False, "Unknown process id 1")


def test_a_look_waits_for_the_end(root: Path, use: Use) -> None:
    """It answers as soon as the command is over."""
    use("exec_command", cmd="until [ -e go ]; do sleep 0.02; done", yield_time_ms=QUICK)
    (root / "go").touch()
    assert "exited with code 0" in use("write_stdin", session_id=1, yield_time_ms=60_000).text


def test_output_is_cut_to_size(use: Use) -> None:
    """In tokens of four characters; how many there were is reported."""
    done = use("exec_command", cmd="printf 'a%0998dz' 0", max_output_tokens=10)
    assert "\nOriginal token count: 250\n" in done.text
    assert _output(done).startswith("a0000")
    assert _output(done).endswith("0000z")
    assert "\n...[960 characters left out" in done.text


def test_much_output_costs_little(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what no one has looked at, the beginning and the end are kept."""
    monkeypatch.setattr(sessions, "_KEEP", 5)
    output = _output(use("exec_command", cmd="printf aaaaa%050dzzzzz 0"))
    assert re.fullmatch(r"aaaaa\n\.\.\.\[50 characters left out[^\n]*\]\.\.\.\nzzzzz", output)


def test_the_last_output_is_not_missed(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who tells the end of a command has read all of its output."""

    def slow(file: int) -> bytes:
        time.sleep(0.3)
        return chunk(file)

    chunk = _process._chunk  # noqa: SLF001 -- the one place where output is read
    monkeypatch.setattr(_process, "_chunk", slow)
    assert _output(use("exec_command", cmd="echo last")) == "last\n"


def test_a_character_is_not_torn_apart(root: Path, use: Use) -> None:
    """Half of it waits for the other half."""
    command = r"printf 'a\303'; until [ -e go ]; do sleep 0.02; done; printf '\244z'"
    seen = _output(use("exec_command", cmd=command, yield_time_ms=QUICK)) or _until(use, 1, "a")
    assert seen == "a"
    (root / "go").touch()
    assert _until(use, 1, "exited") == "äz"


def test_it_starts_in_a_folder_of_the_workspace(root: Path, use: Use) -> None:
    """And nowhere else."""
    (root / "sub").mkdir()
    assert _output(use("exec_command", cmd="pwd -P", workdir="sub")) == f"{root.resolve()}/sub\n"
    assert "outside the workspace" in use("exec_command", cmd="pwd", workdir="..").text


# Typing -----------------------------------------------------------------------------------------------------------


def test_a_session_with_a_terminal_can_be_typed_into(use: Use) -> None:
    """The terminal shows what was typed, and the command gets it."""
    use("exec_command", cmd='tty >/dev/null && read -r line && echo "got <$line>"', tty=True, yield_time_ms=QUICK)
    assert "got <a b>" in _until(use, 1, "exited with code 0", chars="a b\n")


def test_an_interrupt_can_be_typed(use: Use) -> None:
    """The terminal is the command's own; bash would take it by itself, other shells do not."""
    _up(use, "echo up; exec sleep 60", shell="sh")  # noqa: S604 -- the argument of the tool, not of `subprocess`
    _until(use, 1, "exited with code 130", chars="\x03")


def test_programs_on_a_terminal_get_their_signals(use: Use) -> None:
    """Nothing is left ignored by who started them."""
    assert _output(use("exec_command", cmd="yes | head -n 1; trap", tty=True)) == "y\r\n"


def test_a_terminal_has_a_size(use: Use) -> None:
    """Programs that ask for it are not told zero."""
    assert _output(use("exec_command", cmd="stty size", tty=True)) == "24 80\r\n"


def test_without_a_terminal_there_is_nothing_to_type_into(use: Use) -> None:
    """The input is empty, and the model is shown the way out."""
    assert _output(use("exec_command", cmd="cat | wc -c | tr -d ' '")) == "0\n"
    use("exec_command", cmd="sleep 60", yield_time_ms=QUICK)
    assert use("write_stdin", session_id=2, chars="a") == ToolResult(
        False, "stdin is closed for this session; rerun exec_command with tty=true to keep stdin open"
    )


def test_who_does_not_read_is_not_waited_for(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that takes no input does not hang the call."""
    monkeypatch.setattr("permitry_tools.shell.terminal._PATIENCE", 0.1)
    _up(use, "stty raw -echo; echo up; exec sleep 60")
    shown = use("write_stdin", session_id=1, chars="a" * 900_000)
    assert (shown.ok, shown.text.partition(":")[0]) == (False, "The command takes no more input")


def test_what_no_one_reads_is_typed_in_vain(root: Path, use: Use) -> None:
    """A command may let go of its terminal and go on."""
    _up(use, "echo up; exec </dev/null >/dev/null 2>&1; touch gone; exec sleep 60")
    while not (root / "gone").exists():
        time.sleep(0.01)
    assert "\nProcess running with session ID 1\n" in use("write_stdin", session_id=1, chars="a\n").text


def test_what_has_ended_cannot_be_typed_into(root: Path, use: Use) -> None:
    """Its end is reported instead."""
    use("exec_command", cmd="until [ -e go ]; do sleep 0.02; done; exit 4", tty=True, yield_time_ms=QUICK)
    (root / "go").touch()
    _until(use, 1, "exited with code 4", chars="a")


# Ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tty", [False, True])
def test_closing_the_registry_kills_all_sessions(registry: ToolRegistry, root: Path, use: Use, tty: bool) -> None:  # noqa: FBT001 -- a column of the table
    """Also what ignores every other signal, and what a shell runs as a job of its own."""
    command = "set -m; trap '' TERM INT HUP; (trap '' HUP; exec sleep 60) & echo $!. >pid; sleep 60"
    use("exec_command", cmd=command, tty=tty, yield_time_ms=QUICK)
    pid = _pid_in(root)
    registry.close()
    assert _is_gone(pid)
    assert use("write_stdin", session_id=1).text == "Unknown process id 1"
    assert use("exec_command", cmd="true").text == "The tools are closed; nothing is started any more."


@pytest.mark.parametrize("tty", [False, True])
def test_what_a_command_leaves_behind_ends_with_it(root: Path, use: Use, tty: bool) -> None:  # noqa: FBT001 -- a column of the table
    """A session that is over has no processes."""
    command = "set -m; (trap '' HUP; exec sleep 60) & echo $!. >pid"
    result = use("exec_command", cmd=command, tty=tty)
    assert "exited with code 0" in result.text
    assert _is_gone(_pid_in(root))


@pytest.mark.parametrize("tool", ["exec_command", "write_stdin"])
def test_a_cancelled_call_leaves_nothing_behind(registry: ToolRegistry, root: Path, use: Use, tool: str) -> None:
    """Neither the one that starts a session nor one that waits for it."""
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    command = "echo $$. >pid; exec sleep 60"
    arguments: dict[str, Any] = {"cmd": command, "yield_time_ms": 30_000}
    if tool == "write_stdin":
        use("exec_command", cmd=command, yield_time_ms=QUICK)
        arguments = {"session_id": 1, "yield_time_ms": 30_000}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        running = pool.submit(handler.handle, ToolCall(tool, arguments, call_id="c1"))
        pid = _pid_in(root)
        while not registry.cancel("c1"):
            time.sleep(0.01)
        assert not running.result().ok
    assert _is_gone(pid)


def test_there_are_only_so_many_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused until one is over."""
    registry = ToolRegistry()
    monkeypatch.setattr(sessions, "_MOST_SESSIONS", 1)
    sessions.register(registry, Workspace("."))
    handle = ToolHandler(Session(yolo_mode=True), registry=registry).handle
    handle(ToolCall("exec_command", {"cmd": "sleep 60", "yield_time_ms": QUICK}))
    assert handle(ToolCall("exec_command", {"cmd": "true"})).text.startswith("There are 1 sessions; ")
    registry.close()


def test_a_command_that_cannot_be_started_is_no_session(root: Path, use: Use) -> None:
    """It is reported, with or without a terminal."""
    root.rmdir()
    for tty in (False, True):
        assert use("exec_command", cmd="true", tty=tty).text.startswith("The command cannot be started: ")
    assert use("write_stdin", session_id=1).text == "Unknown process id 1"


# Shells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "sh", "/bin/sh", "/usr/bin/bash"])
def test_known_shells_may_be_named(use: Use, shell: str) -> None:
    """By name, or by the path under which they are installed."""
    if not (Path(shell).exists() or shutil.which(shell)):
        pytest.skip(f"there is no {shell} here")
    assert _output(use("exec_command", cmd="echo $0", shell=shell)).strip().endswith(shell)


@pytest.mark.parametrize("shell", ["fish", "./bash", "/opt/bash", "python3", "", "../bin/sh", "/bin/../bin/bash"])
def test_other_shells_are_refused(use: Use, shell: str) -> None:
    """They would read the text otherwise than it was judged, or be something else altogether."""
    assert use("exec_command", cmd="true", shell=shell).text.startswith(
        f"`{shell}` is not a shell that can be used here"
    )


def test_a_program_that_is_no_shell_is_no_question(registry: ToolRegistry) -> None:
    """The model hears of it before anybody is asked."""
    decision = ToolHandler(Session(), registry=registry).decide(
        ToolCall("exec_command", {"cmd": "ls", "shell": "fish"})
    )
    assert decision.phase is Phase.INPUT
    assert "`fish` is not a shell" in (decision.message or "")


def test_a_login_shell_reads_the_profile(root: Path, use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only when it is asked for."""
    for name in (".bash_profile", ".profile"):
        (root / name).write_text("echo profile\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(root))
    assert "profile\n" in _output(use("exec_command", cmd="true", login=True))
    assert "profile\n" not in _output(use("exec_command", cmd="true"))


# What is asked about ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        ({"cmd": "ls"}, Verdict.ALLOW),
        ({"cmd": "ls", "workdir": "", "yield_time_ms": 500, "max_output_tokens": 5}, Verdict.ALLOW),
        ({"cmd": "ls", "justification": "x", "sandbox_permissions": "use_default"}, Verdict.ALLOW),
        ({"cmd": "rm a"}, Verdict.CONFIRM),
        ({"cmd": "bash"}, Verdict.CONFIRM),
        ({"cmd": "ls", "tty": True}, Verdict.ALLOW),
        ({"cmd": "touch a", "tty": True}, Verdict.CONFIRM),
        ({"cmd": "bash", "tty": True}, Verdict.CONFIRM),
        ({"cmd": "ls", "login": True}, Verdict.CONFIRM),
        ({"cmd": "ls", "shell": "zsh"}, Verdict.CONFIRM),
    ],
)
def test_a_command_is_judged_by_what_it_does(
    root: Path, registry: ToolRegistry, arguments: dict[str, Any], verdict: Verdict
) -> None:
    """What changes how it runs is asked about."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    for kind in (PayloadKind.FUNCTION, PayloadKind.UNIFIED_EXEC):
        assert handler.decide(ToolCall("exec_command", arguments, kind=kind)).verdict is verdict


@pytest.mark.parametrize(
    "chars", ["ls\n", "w\n", "cd /\n", "hostname", " ls\n", "y\n", "\x1b", "\n", "rm -rf /\n", "\x03ls\n"]
)
def test_whatever_is_typed_is_asked_about(root: Path, registry: ToolRegistry, chars: str) -> None:
    """What harmless words do depends on who reads them, where it is, and what was typed before."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    decision = handler.decide(ToolCall("write_stdin", {"session_id": 1, "chars": chars}))
    assert decision.verdict is Verdict.CONFIRM


def test_restrictions_look_into_what_is_typed(tmp_path: Path, registry: ToolRegistry) -> None:
    """A command that is blocked is blocked here as well."""
    rules = '[[rule]]\nid = "no-rm"\neffect = "block"\nwhen.command = ["rm *"]\nreason = "x"\n'
    (tmp_path / "rules.toml").write_text(f"schema = 1\n{rules}", encoding="utf-8")
    handler = ToolHandler(Session(yolo_mode=True), registry=registry, policy=load_policy(str(tmp_path / "rules.toml")))
    decision = handler.decide(ToolCall("write_stdin", {"session_id": 1, "chars": "cd a; rm -r b\n"}))
    assert (decision.verdict, decision.rule_id) == (Verdict.BLOCK, "no-rm")


def test_looking_is_free(root: Path, registry: ToolRegistry) -> None:
    """The command was judged when it was started; Ctrl-C and Ctrl-D start nothing."""
    handler = ToolHandler(Session(workspace=str(root)), registry=registry)
    for more in (
        {},
        {"chars": ""},
        {"chars": "\x03"},
        {"chars": "\x04\x04"},
        {"yield_time_ms": 500, "max_output_tokens": 9},
    ):
        decision = handler.decide(ToolCall("write_stdin", {"session_id": 1, **more}))
        assert (decision.verdict, decision.rule_id) == (Verdict.ALLOW, "read-only")


@pytest.mark.parametrize(
    ("rules", "typed"),
    [
        ("permitry:base", Verdict.CONFIRM),
        ("permitry:coding-agent", Verdict.CONFIRM),
        ("permitry:read-only", Verdict.BLOCK),
    ],
)
def test_the_shipped_rules_tell_looking_from_typing(registry: ToolRegistry, rules: str, typed: Verdict) -> None:
    """To look runs unasked wherever reading does; to type is not a reading."""
    handler = ToolHandler(Session(), registry=registry, policy=load_policy(rules))
    assert handler.decide(ToolCall("write_stdin", {"session_id": 1})).verdict is Verdict.ALLOW
    assert handler.decide(ToolCall("write_stdin", {"session_id": 1, "chars": "ls\n"})).verdict is typed


def test_plan_mode_lets_look_and_not_type(registry: ToolRegistry) -> None:
    """What only looks at output changes nothing."""
    handler = ToolHandler(Session(is_plan_mode=True), registry=registry)
    assert handler.decide(ToolCall("write_stdin", {"session_id": 1})).verdict is Verdict.ALLOW
    typing = handler.decide(ToolCall("write_stdin", {"session_id": 1, "chars": "\n"}))
    assert (typing.verdict, typing.rule_id) == (Verdict.BLOCK, "plan-mode")


def test_a_patch_is_applied_instead_of_a_session(root: Path, use: Use) -> None:
    """There is no program to be found, and nothing is left to look at."""
    script = "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n"
    (root / "sub").mkdir()
    assert use("exec_command", cmd=script, tty=True).text == "Success. Updated the following files:\nA a\n"
    assert (root / "sub" / "a").read_text() == "x\n"
    assert not use("write_stdin", session_id=1).ok


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("exec_command", {}), ("exec_command", {"cmd": ""}), ("exec_command", {"cmd": ["ls"]}),
        ("exec_command", {"cmd": "ls", "yield_time_ms": 249}), ("exec_command", {"cmd": "ls", "yield_time_ms": 30_001}),
        ("exec_command", {"cmd": "ls", "max_output_tokens": 0}), ("exec_command", {"cmd": "ls", "env": {}}),
        ("exec_command", {"cmd": "ls", "sandbox_permissions": "require_escalated"}),
        ("write_stdin", {}), ("write_stdin", {"session_id": "1"}), ("write_stdin", {"session_id": 1, "chars": 1}),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_run_nothing(use: Use, tool: str, arguments: dict[str, Any]) -> None:
    """The model is shown what is wrong before anything starts."""
    done = use(tool, **arguments)
    assert (done.ok, done.text.split(":")[0]) == (False, "The arguments do not fit")
