"""`permitry inbox`: the program, as a browser meets it."""

import contextlib
import errno
import os
import pty
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.tables import for_each
from tests.unit.channels.stored_calls import asked, fresh

from permitry.guard.ledgers import questions_at


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def run(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401 -- options of subprocess
    """Run the command without a terminal."""
    command = [sys.executable, "-m", "permitry", "inbox", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def read_until(terminal: int, pattern: str) -> str:
    """Return what a terminal shows, as soon as there is a match."""
    text, end = "", time.monotonic() + 30
    while not re.search(pattern, text):
        assert time.monotonic() < end, text
        text += os.read(terminal, 4096).decode()
    return text


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with a question that another process asked."""
    path = tmp_path / "permitry.db"
    asked(fresh(path))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE question SET above = '[1]'")
    return path


@contextlib.contextmanager
def start(*words: str, **more: Any) -> Iterator[tuple[int, str]]:  # noqa: ANN401 -- as above
    """Yield the terminal of an inbox that runs, and its address."""
    ours, theirs = pty.openpty()
    port = free_port()
    command = [sys.executable, "-m", "permitry", "inbox", "--listen", f"127.0.0.1:{port}", "--user", "ann", *words]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, **more)
    os.close(theirs)
    yield ours, f"http://127.0.0.1:{port}"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    os.close(ours)


@pytest.fixture
def started(store: Path) -> Iterator[tuple[int, str]]:
    """Yield the terminal and the address of an inbox with a store."""
    with start("--store", str(store), "--user", "eve:viewer") as running:
        yield running


def test_a_question_is_answered_in_a_browser(started: tuple[int, str], store: Path) -> None:
    """From the link on the terminal to the answer in the store."""
    terminal, origin = started
    text = read_until(terminal, "15 minutes")
    token = re.findall(rf"ann \(approver\): {origin}/login#([\w-]+)", text)
    assert len(re.findall("login#", text)) == 2
    with httpx.Client(base_url=origin, headers={"Origin": origin}, trust_env=False, timeout=20) as browser:
        assert browser.post("/login", data={"token": token[0]}).status_code == 303
        name = re.findall(r"/questions/(\w+)", browser.get("/").text)[0]
        page = browser.get(f"/questions/{name}").text
        fields = dict(re.findall(r'type="hidden" name="(csrf|digest)" value="([^"]*)"', page))
        answer = browser.post(f"/questions/{name}/answer", data={**fields, "action": "approve"})
        assert answer.status_code == 303
    row = questions_at(store).find(name)
    assert row is not None
    assert (row["answered_by"], '"approved": true' in row["answer"]) == ("ann", True)


def test_rules_are_tried_in_a_browser(tmp_path: Path) -> None:
    """From the link on the terminal to the verdict; nothing is left on the disk, not even a store."""
    rules = tmp_path / "rules.toml"
    rules.write_text('schema = 1\n[[rule]]\nid = "no-push"\neffect = "block"\nwhen.command = ["git push *"]\n')
    place = {"XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    with start("--try", "rules.toml", cwd=tmp_path, env={**os.environ, **place}) as (terminal, origin):
        text = read_until(terminal, "15 minutes")
        [token] = re.findall(rf"ann \(approver\): {origin}/login#([\w-]+)", text)
        with httpx.Client(base_url=origin, headers={"Origin": origin}, trust_env=False, timeout=60) as browser:
            assert browser.post("/login", data={"token": token}).status_code == 303
            [csrf] = re.findall('name="csrf" value="([^"]*)"', browser.get("/").text)[-1:]
            call = {"what": "command", "command": "git push", "workspace": str(tmp_path)}
            page = browser.post("/", data={"csrf": csrf, "rules": "schema = 1\n", **call}).text
    assert "Before your change: <strong" in page
    assert "More is allowed: 1 way." in page
    assert [each.name for each in tmp_path.iterdir()] == ["rules.toml"]


def test_links_are_for_a_terminal(store: Path) -> None:
    """What an agent starts has none."""
    result = run("--store", str(store), "--listen", f"127.0.0.1:{free_port()}")
    assert result.returncode == 4
    assert "login#" not in result.stdout
    assert "--tokens" in result.stderr


@for_each(("words", "said"))
def test_what_cannot_be_is_said(words: list[str], said: str, tmp_path: Path) -> None:
    """Before anything listens."""
    result = run(*words, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}, cwd=tmp_path)
    assert result.returncode == 4
    assert said in result.stderr


def test_a_port_that_is_taken_is_named_once(tmp_path: Path) -> None:
    """With what is in the way, and the option that names another one."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"ann approver {'k' * 32}\n")
    tokens.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as server:
        at = f"127.0.0.1:{server.getsockname()[1]}"
        words = ["--listen", at, "--tokens", str(tokens)]
        result = run(*words, env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}, cwd=tmp_path)
    said = f"permitry: cannot listen at {at}: {os.strerror(errno.EADDRINUSE)}; name another port with --listen\n"
    assert (result.returncode, result.stderr) == (4, said)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, cli: Any) -> None:  # noqa: ANN401 -- a fixture
    """Its package brings the server."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in [name for name in sys.modules if name.startswith("permitry_ops.inbox")]:
        monkeypatch.delitem(sys.modules, name)
    code, _, errors = cli("inbox")
    assert (code, "permitry[inbox]" in errors) == (4, True)
