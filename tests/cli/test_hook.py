"""`permitry hook`: one JSON document or nothing, and exit code 0 or 2, whatever happens."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.permitry_hosts.hooks.payloads import command

Run = Callable[..., "subprocess.CompletedProcess[str]"]
_MAIN = "from permitry.cli.main import run_from_shell; run_from_shell()"
CRASH = "import permitry.guard.guard; permitry.guard.guard.Guard.check = lambda *_, **__: 1 / 0; "
DIES = "import os, permitry.guard.guard; permitry.guard.guard.Guard.check = lambda *_, **__: os.abort(); "
SLOW = "import time, permitry.guard.guard; permitry.guard.guard.Guard.check = lambda *_, **__: time.sleep(60); "
BROKEN = "import permitry_hosts.hooks.host as h; h.Reply.of = lambda *_: 7; "
PUSH = json.dumps(command("claude-code", "npm publish"))
MAKE = json.dumps(command("claude-code", "make"))


@pytest.fixture
def hook(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs `permitry hook` on a payload, after some code that breaks it."""
    return _hook(sys.executable, tmp_path_factory.getbasetemp() / "hook-home")


@pytest.fixture
def quick_hook(warm_python: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return the same for a program that has everything imported."""
    return _hook(warm_python, tmp_path_factory.getbasetemp() / "hook-home")


def _hook(python: str, home: Path) -> Run:
    home.mkdir(exist_ok=True)
    script = home / "broken.py"

    def run(payload: str | bytes, *words: str, code: str = "") -> "subprocess.CompletedProcess[str]":
        data = payload.encode() if isinstance(payload, str) else payload
        script.write_text(code + _MAIN, encoding="utf-8")
        program = [python, str(script), "hook", *(words or ("claude-code",))]
        environ = {**os.environ, "HOME": str(home)}
        done = subprocess.run(program, input=data, capture_output=True, env=environ, check=False)
        return subprocess.CompletedProcess(program, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def test_a_call_that_must_not_run_is_denied(hook: Run) -> None:
    """By a document, with the message for the model."""
    done = hook(PUSH)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("encoding", ["utf-16", "cp037"])
def test_the_answer_is_utf8_whatever_the_environment_says(
    hook: Run, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    """A host that cannot read it would go on as without an answer."""
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    assert json.loads(hook(PUSH).stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_silence_is_nothing_at_all(hook: Run) -> None:
    """Not even an empty line."""
    done = hook(MAKE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("code", "words", "problem"),
    [
        (DIES, (), "ended without a reply"),
        (SLOW, ("claude-code", "--deadline", "1"), "no decision within 1 seconds"),
        (BROKEN, (), "AttributeError"),
        ("", ("claude-code", "--deadline", "soon"), "invalid float"),
        ("", ("claude-code", "--no-such-option"), "no option"),
        ("", ("somewhere",), "there is no `somewhere`"),
        ("import sys; sys.modules['permitry_hosts.cli.hook'] = None; ", (), "ModuleNotFoundError"),
    ],
)
def test_whatever_goes_wrong_blocks_the_call(quick_hook: Run, code: str, words: tuple[str, ...], problem: str) -> None:
    """Exit code 2 with a reason, where it is not known what the host asks; another one lets the call run in some."""
    done = quick_hook(PUSH, *words, code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


@pytest.mark.parametrize(
    ("code", "words", "problem"),
    [
        (CRASH, (), "ZeroDivisionError"),
        ("", ("--rules", "nowhere.toml"), "nowhere.toml"),
        ("", ("--record", "/proc/x"), "cannot write the record"),
    ],
)
def test_what_goes_wrong_is_said_to_the_model(quick_hook: Run, code: str, words: tuple[str, ...], problem: str) -> None:
    """As a denial: Copilot drops what a hook that fails says, and Claude Code puts its command line before it."""
    done = quick_hook(PUSH, "claude-code", *words, code=code)
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert (done.returncode, done.stderr, said["permissionDecision"]) == (0, "", "deny")
    assert said["permissionDecisionReason"].startswith("permitry could not decide about this call")
    assert problem in said["permissionDecisionReason"]


def test_a_denial_that_cannot_be_printed_is_a_failure() -> None:
    """Whatever went wrong before it: only exit code 2 is left."""
    words = [sys.executable, "-m", "permitry", "hook", "claude-code", "--rules", "nowhere.toml"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, input=PUSH, text=True, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("payload", [PUSH, ""])
def test_what_can_be_printed_nowhere_blocks_the_call(payload: str) -> None:
    """Neither the denial nor what is wrong with it: another exit code would let the call run."""
    words = [sys.executable, "-m", "permitry", "hook", "claude-code", "--rules", "nowhere.toml"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, input=payload, text=True, stdout=full, stderr=full, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(
    "payload",
    ["", "what?", PUSH + PUSH, PUSH[:-1], b"\xff\xfe", "[]", "{}", PUSH + " " * 8_400_000],
    ids=["empty", "garbage", "two documents", "half", "bytes", "list", "object", "8 MiB"],
)
def test_what_cannot_be_read_blocks_the_call(quick_hook: Run, payload: str | bytes) -> None:
    """It could be about any call."""
    done = quick_hook(payload)
    assert (done.returncode, done.stdout) == (2, "")
    assert "could not decide about this call" in done.stderr


def test_cline_is_answered_with_a_document_in_any_case(quick_hook: Run) -> None:
    """It looks at no exit code."""
    done = quick_hook("what?", "cline")
    assert done.returncode == 0
    assert json.loads(done.stdout)["cancel"] is True


def test_what_would_take_longer_than_the_host_waits_is_not_begun(quick_hook: Run) -> None:
    """It would run the call."""
    done = quick_hook(json.dumps(command("cline", "make")), "cline", "--ask", "wait")
    assert "may take 20 seconds" in json.loads(done.stdout)["errorMessage"]


def test_a_large_call_is_decided(quick_hook: Run) -> None:
    """Up to the size that arguments may have."""
    done = quick_hook(json.dumps(command("claude-code", f"npm publish; echo {'x' * 500_000}")))
    assert "deny" in done.stdout


def test_a_closed_input_blocks_the_call(tmp_path: Path) -> None:
    """There is nothing to decide about."""
    line = f'exec "{sys.executable}" -m permitry hook claude-code <&-'
    done = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_resident_that_cannot_be_started_changes_no_answer(hook: Run) -> None:
    """The call is decided without it."""
    code = "import permitry_hosts.hooks.resident as r; r.start = lambda: 1 / 0; "
    for payload in (PUSH, MAKE):
        done = hook(payload, "claude-code", "--start-resident", code=code)
        assert (done.returncode, done.stdout, done.stderr) == (0, hook(payload).stdout, "")
