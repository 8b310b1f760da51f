"""The resident: as strict as the hook in process, whatever happens to it, and there only as long as it is needed."""

import contextlib
import functools
import itertools
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from tests.unit.permitry_hosts.hooks.payloads import command

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore
from permitry_hosts.hooks import client
from permitry_hosts.hooks.places import place
from permitry_hosts.hooks.resident import start

CLIENT = client.__file__
MAIN = """
import functools, os, sys, time
from permitry_hosts.cli.hook import respond
from permitry.config.rule_memory import RuleMemory
from permitry_hosts.hooks.policies import Policies
from permitry_hosts.hooks.stores import Stores
import permitry_hosts.hooks.resident as resident
from permitry_hosts.hooks.places import place
import permitry.guard.guard as guard
check = guard.Guard.check
def broken(self, call, *rest, **named):
    text = str(call.to_dict())
    if "CRASH" in text: raise ZeroDivisionError
    if "DIE" in text: os.abort()
    if "SLOW" in text: time.sleep(60)
    return check(self, call, *rest, **named)
guard.Guard.check = broken
CODE
stores = Stores(is_kept=True)
answer = functools.partial(respond, Policies(RuleMemory()), stores)
resident.Resident(place(), answer, stores.close, idle=IDLE, period=0.2).run()
"""
RULE = """\
schema = 1
[[rule]]
id = "own-rule"
effect = "{effect}"
when.command = "touch x"
message = "OWN RULE"
"""


@attrs.frozen
class Home:
    """A user with a resident, or without one."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        """What the installed command sets, and a path."""
        below = {"CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache"}
        xdg = {f"XDG_{name}_HOME": str(self.folder / path) for name, path in below.items()}
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"], **xdg}

    @property
    def place(self) -> Path:
        """Where the socket is."""
        return self.folder / ".local/state/permitry/resident" / place().name

    @property
    def rules(self) -> Path:
        """The rule file of the user."""
        path = self.folder / ".config/permitry/rules.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @contextlib.contextmanager
    def resident(self, *, idle: float = 60, code: str = "") -> Iterator["subprocess.Popen[bytes]"]:
        """Run a resident, broken for some commands; nothing of it is left afterwards."""
        text = MAIN.replace("IDLE", str(idle)).replace("CODE", code)
        words = [sys.executable, "-I", "-c", text]
        with subprocess.Popen(words, env=self.environ, cwd="/", stdin=subprocess.DEVNULL) as process:
            try:
                self.wait(lambda: len(workers(process.pid)) == 2)
                yield process
            finally:
                below = workers(process.pid)
                process.terminate()
                process.wait(20)
                self.wait(lambda: not any(is_alive(each) for each in below))

    @staticmethod
    def wait(until: Callable[[], object]) -> None:
        """Wait until something is the case."""
        end = time.monotonic() + 60
        while not until() and time.monotonic() < end:
            time.sleep(0.02)
        assert until()

    def words(self, *options: str, seconds: float = 20) -> list[str]:
        """Return the words of the client; in process, it would only say so."""
        told = ["/bin/sh", "-c", "echo IN PROCESS; exit 2", "hook", "claude-code", *options]
        return [sys.executable, "-I", "-S", CLIENT, str(self.place), str(seconds), *told]

    def call(
        self,
        text: str,
        *options: str,
        seconds: float = 20,
        session: str = "s1",
        environ: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Return what the client says about a command."""
        payload = json.dumps({**command("claude-code", text), "cwd": str(self.folder), "session_id": session})
        return subprocess.run(
            self.words(*options, seconds=seconds),
            input=payload,
            capture_output=True,
            text=True,
            env=environ or self.environ,
            cwd=self.folder,
            check=False,
        )


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home folder whose name is short enough for a socket."""
    return Home(tmp_path_factory.mktemp("r"))


def workers(process: int) -> list[int]:
    """Return the processes below one."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [int(each) for each in text.split()]


def waiting(process: int) -> list[int]:
    """Return the processes below the workers of a resident: those that wait for a human."""
    return [below for each in workers(process) for below in workers(each)]


def is_alive(process: int) -> bool:
    """Return whether a process is there, and has not closed all that it had."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def is_denied(done: "subprocess.CompletedProcess[str]", why: str = "") -> bool:
    """Return whether the host is answered that a call must not run."""
    return done.returncode == 0 and '"deny"' in done.stdout and why in done.stdout


def is_silent(done: "subprocess.CompletedProcess[str]") -> bool:
    """Return whether the host goes its own way."""
    return (done.returncode, done.stdout, done.stderr) == (0, "", "")


def is_blocked(done: "subprocess.CompletedProcess[str]", why: str = "") -> bool:
    """Return whether the call is blocked without a document."""
    return (done.returncode, done.stdout) == (2, "") and why in done.stderr


def is_in_process(done: "subprocess.CompletedProcess[str]") -> bool:
    """Return whether the resident was left out."""
    return (done.returncode, done.stdout) == (2, "IN PROCESS\n")


def test_it_answers_as_the_hook_in_process(home: Home) -> None:
    """Silence, refusals, options, garbage."""
    with home.resident():
        assert is_silent(home.call("make"))
        assert is_denied(home.call("npm publish"), "Publishing")
        assert is_blocked(home.call("make", "--no-such-option"), "--no-such-option")
        assert is_denied(home.call("make", "--rules", "nowhere.toml"), "nowhere.toml")
        assert is_blocked(home.call("make", "--deadline", "0"), "a deadline is more than 0")
        assert is_blocked(home.call("make", "--deadline", "nan"), "a deadline is more than 0")
        done = subprocess.run(
            home.words(), input="what?", capture_output=True, text=True, env=home.environ, check=False
        )
        assert is_blocked(done, "not valid JSON")
    records = records_at(home.folder / ".local/state/permitry/permitry.db", RecordFilter(text="npm publish"))
    assert [each["event"] for each in records] == ["decided"]


HEARD = """\
schema = 1
[[rule]]
id = "own-rule"
effect = "block"
when.args.command.not_from = ["user", "look#run"]
message = "OWN RULE"
"""


_ALL_WAYS = list(itertools.product((True, False), repeat=3))
_PAIRS = [ways for ways in _ALL_WAYS if sum(ways) in (1, 3)]
"""Ways of which each two are there in each combination."""


@pytest.mark.parametrize("all_ways", [_PAIRS, pytest.param(_ALL_WAYS, marks=pytest.mark.large)], ids=["pairs", "all"])
def test_what_is_heard_is_known_whoever_answers(
    home: Home, warm_program: Path, all_ways: list[tuple[bool, ...]]
) -> None:
    """Each report, and each call, in process or by the resident: all ways have the same answers."""
    home.rules.write_text(HEARD)
    transcript = home.folder / "t.jsonl"
    entry = {"type": "user", "promptId": "p1", "turnOrigin": "human", "message": {"content": "make this"}}
    transcript.write_text(json.dumps(entry) + "\n")
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "make this"}
    result = {"hook_event_name": "PostToolUse", "tool_name": "look", "tool_response": {"run": "make that"}}

    def send(text: str, session: str, more: Mapping[str, object], *, is_resident: bool) -> str:
        about = {"cwd": str(home.folder), "session_id": session, "transcript_path": str(transcript), **more}
        payload = json.dumps({**command("claude-code", text), **about})
        alone = [str(warm_program), "hook", "claude-code"]
        done = subprocess.run(
            home.words() if is_resident else alone, input=payload, capture_output=True, text=True, env=home.environ,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    with home.resident():
        for ways in all_ways:
            session = f"s{ways}"
            asked, said, run = (functools.partial(send, session=session, is_resident=way) for way in ways)
            assert "OWN RULE" in asked("make this", more={})
            assert said("", more=prompt) == run("", more=result) == ""
            assert asked("make this", more={}) == asked("make that", more={}) == ""
            assert "OWN RULE" in asked("make those", more={})


def test_it_answers_hosts_and_nothing_else(home: Home) -> None:
    """It changes no settings."""
    words = home.words()
    words[words.index("claude-code")] = "install"
    with home.resident():
        done = subprocess.run([*words, "codex"], input=b"{}", capture_output=True, env=home.environ, check=False)
    assert done.returncode == 2
    assert b"answers hosts, and nothing else" in done.stderr
    assert not (home.folder / ".codex").exists()


def test_a_rule_file_counts_as_soon_as_it_is_written(home: Home) -> None:
    """Also when size and times stay the same, and for a layer that is new, or gone."""
    with home.resident():
        assert is_silent(home.call("touch x"))
        home.rules.write_text(RULE.format(effect="block"))
        assert is_denied(home.call("touch x"), "OWN RULE")
        home.rules.write_text(RULE.format(effect="allow"))
        assert is_silent(home.call("touch x"))
        before = home.rules.stat()
        home.rules.write_text(RULE.format(effect="block"))
        os.utime(home.rules, ns=(before.st_atime_ns, before.st_mtime_ns))
        for _ in range(3):
            assert is_denied(home.call("touch x"), "OWN RULE")
        project = home.folder / ".permitry/rules.toml"
        project.parent.mkdir()
        project.write_text(RULE.format(effect="block").replace("touch x", "touch y").replace("own-", "project-"))
        assert is_denied(home.call("touch y"), "OWN RULE")
        home.rules.write_text("schema = 7")
        assert is_denied(home.call("touch y"), "schema")
        home.rules.unlink()
        assert is_silent(home.call("touch x"))


def test_folder_and_environment_are_those_of_the_client(home: Home, tmp_path: Path) -> None:
    """Not those of the resident, nor of the call before."""
    other = Home(tmp_path / "o")
    other.rules.write_text(RULE.format(effect="block"))
    (tmp_path / "o/here.toml").write_text(RULE.format(effect="block").replace("OWN RULE", "HERE"))
    with home.resident():
        assert is_silent(home.call("touch x"))
        assert is_denied(home.call("touch x", environ=other.environ), "OWN RULE")
        assert is_silent(home.call("touch x"))
        payload = json.dumps(command("claude-code", "touch x"))
        done = subprocess.run(
            home.words("--rules", "here.toml"),
            input=payload, capture_output=True, text=True, env=home.environ, cwd=other.folder, check=False,
        )  # fmt: skip
        assert is_denied(done, "HERE")
        assert is_denied(home.call("touch x", "--rules", "here.toml"), "here.toml")
        project = tmp_path / "p/.permitry/rules.toml"
        project.parent.mkdir(parents=True)
        project.write_text(RULE.format(effect="block"))
        there = {**home.environ, "CLAUDE_PROJECT_DIR": str(tmp_path / "p")}
        for _ in range(3):
            assert is_denied(home.call("touch x", environ=there), "OWN RULE")
            assert is_silent(home.call("touch x"))


def test_a_call_that_goes_wrong_fails_no_other(home: Home) -> None:
    """A rule that raises, one that ends the process, one that takes too long; others are answered meanwhile."""
    with home.resident() as process:
        assert is_silent(home.call("make"))
        assert is_denied(home.call("echo CRASH"), "ZeroDivisionError")
        assert is_blocked(home.call("echo DIE"), "did not answer")
        assert is_silent(home.call("make"))
        before = workers(process.pid)
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(home.call, "echo SLOW", "--deadline", "1")
            begun = time.monotonic()
            assert all(is_silent(home.call("make")) for _ in range(3))
            assert is_blocked(slow.result(), "did not answer")
        assert time.monotonic() - begun < 10
        home.wait(lambda: len(workers(process.pid)) == len(before) and workers(process.pid) != before)


def test_the_deadline_of_a_call_ends_with_it(home: Home) -> None:
    """A worker that has answered in time goes on."""
    with home.resident() as process:
        before = workers(process.pid)
        assert all(is_silent(home.call("make", "--deadline", "3")) for _ in range(4))
        time.sleep(3.2)
        assert workers(process.pid) == before


def test_no_call_leaves_a_file_open(home: Home) -> None:
    """Or after a thousand there is none left to open, and good calls are blocked."""
    with home.resident() as process:
        assert all(is_silent(home.call(f"touch {number}")) for number in range(4))
        files = [file for worker in workers(process.pid) for file in Path(f"/proc/{worker}/fd").iterdir()]
        assert not [file for file in files if str(file.readlink()).startswith(f"{home.folder}/.local/state/permitry/a")]


def test_twelve_at_once_are_all_answered(home: Home) -> None:
    """Each its own call."""
    with home.resident():
        home.call("make")
        both = [f"touch {number}" if number % 2 else f"npm publish {number}" for number in range(12)]
        with ThreadPoolExecutor(12) as pool:
            said = list(pool.map(home.call, both))
        assert [is_denied(done) for done in said] == ["publish" in text for text in both]
        assert [is_silent(done) for done in said] == ["publish" not in text for text in both]


def _taken(home: Home) -> socket.socket:
    """Return a line that the resident has taken, and that says nothing."""
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(30)
    line.connect(str(home.place))
    assert line.recv(1) == b"+"
    return line


def test_a_worker_that_is_killed_blocks_the_call_that_it_had_taken(home: Home) -> None:
    """`kill -9` between accept and reply; the next call is answered."""
    with home.resident() as process, ThreadPoolExecutor() as pool:
        for _ in range(3):
            slow = pool.submit(home.call, "echo SLOW")
            time.sleep(0.5)
            for worker in workers(process.pid):
                os.kill(worker, signal.SIGKILL)
            assert is_blocked(slow.result(), "did not answer")
            assert is_silent(home.call("make"))


def test_a_resident_that_is_killed_leaves_calls_to_the_hook_in_process(home: Home) -> None:
    """No worker is left, and another resident can take the place."""
    with home.resident() as process:
        below = workers(process.pid)
        assert below
        process.kill()
        process.wait(10)
        home.wait(lambda: not any(is_alive(each) for each in below))
        assert is_in_process(home.call("make"))
    assert home.place.exists()
    home.place.unlink()
    with home.resident():
        assert is_silent(home.call("make"))


def test_clients_that_say_nothing_leave_others_to_the_hook_in_process(home: Home) -> None:
    """Nor do those that send a byte now and then; then they are dropped, and calls are answered again."""
    code = "import permitry_hosts.hooks.request as r; r.PATIENCE = 6"
    with home.resident(code=code), _taken(home) as first, _taken(home) as second:
        assert is_in_process(home.call("make"))
        end = time.monotonic() + 30
        with contextlib.suppress(OSError):
            while time.monotonic() < end:
                first.sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() < end - 10
        assert second.recv(1) == b""
        assert is_silent(home.call("make"))


@pytest.mark.parametrize("head", [(9 << 20, 0), (0, 9 << 20), (2**63, 2**63), (3, 3)])
def test_a_request_that_cannot_be_read_is_not_answered(home: Home, head: tuple[int, int]) -> None:
    """Too large, or no text where one must be."""
    with home.resident():
        with _taken(home) as line:
            line.sendall(bytes(32) + b"".join(each.to_bytes(8, "big") for each in head))
            said = b""
            with contextlib.suppress(OSError):
                line.sendall(b"abcdef")
                said = line.recv(1)
            assert said == b""
        assert is_silent(home.call("make"))


def test_there_is_one_resident(home: Home) -> None:
    """A second one ends at once, and leaves the first as it is."""
    with home.resident() as process:
        key = home.place.with_name(f"{home.place.name}.key")
        before = key.read_bytes()
        words = [sys.executable, "-I", "-m", "permitry", "hook", "resident"]
        assert subprocess.run(words, env=home.environ, timeout=20, check=False).returncode == 0
        assert key.read_bytes() == before
        assert process.poll() is None
        assert is_silent(home.call("make"))


def test_it_ends_when_no_one_calls(home: Home) -> None:
    """And leaves no socket."""
    with home.resident(idle=1) as process:
        assert is_silent(home.call("make"))
        assert process.wait(20) == 0
        assert not home.place.exists()
        assert is_in_process(home.call("make"))


def test_it_ends_when_permitry_changes(home: Home, tmp_path: Path) -> None:
    """The very next call is decided by the new files."""
    code = f"""
from pathlib import Path
resident.PACKAGES = (Path({str(tmp_path)!r}),)
place = lambda: Path({str(home.place)!r})
"""
    (tmp_path / "actions/__pycache__").mkdir(parents=True)
    (tmp_path / "actions/a.toml").write_text("1")
    with home.resident(code=code) as process:
        assert is_silent(home.call("make"))
        (tmp_path / "actions/__pycache__/a.pyc").write_text("1")
        assert is_silent(home.call("make"))
        (tmp_path / "actions/a.toml").write_text("2")
        assert is_in_process(home.call("make"))
        assert process.wait(20) == 0


def test_it_ends_when_its_place_is_taken(home: Home) -> None:
    """By another socket, or by nothing."""
    with home.resident() as process:
        home.place.unlink()
        home.place.touch()
        assert process.wait(20) == 0
    assert home.place.exists()


def test_it_is_started_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many hooks try it at a time, and only where there is none."""
    for name, value in home.environ.items():
        monkeypatch.setenv(name, value)
    starts, mark = [], Path(f"{home.place}.starting")
    monkeypatch.setattr(os, "posix_spawn", lambda path, *_, **__: starts.append(path))

    def is_waited_for() -> bool:
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark.touch()
        start()
        return mark.exists()

    assert [is_waited_for() for _ in range(3)] == [True, False, False]
    assert starts == [sys.executable]
    os.utime(f"{home.place}.lock", (0, 0))
    with home.resident():
        assert not is_waited_for()
    assert len(starts) == 1
    os.utime(f"{home.place}.lock", (0, 0))
    assert is_waited_for()
    assert len(starts) == 2


def test_it_is_not_started_with_what_the_environment_adds(home: Home) -> None:
    """Its answers would be those of a module of the project."""
    words = [sys.executable, "-m", "permitry", "hook", "resident"]
    done = subprocess.run(words, env=home.environ, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode, "-I" in done.stderr) == (2, True)
    assert not home.place.exists()


@pytest.mark.parametrize("mode", [0o755, 0o711, 0o770])
def test_it_does_not_start_in_a_folder_that_others_can_enter(home: Home, mode: int) -> None:
    """Then hooks stay processes of their own, and none waits for it."""
    home.place.parent.mkdir(parents=True)
    home.place.parent.chmod(mode)
    mark = Path(f"{home.place}.starting")
    mark.touch()
    words = [sys.executable, "-I", "-m", "permitry", "hook", "resident"]
    assert subprocess.run(words, env=home.environ, timeout=20, check=False).returncode == 0
    assert not home.place.exists()
    assert not mark.exists()


def test_a_path_that_is_too_long_for_a_socket_has_no_resident(tmp_path: Path) -> None:
    """Nothing is made there."""
    home = Home(tmp_path / ("x" * 100))
    home.folder.mkdir()
    words = [sys.executable, "-I", "-m", "permitry", "hook", "resident"]
    assert subprocess.run(words, env=home.environ, timeout=20, check=False).returncode == 0
    assert not home.place.exists()
    assert is_in_process(home.call("make"))


def test_what_it_makes_is_for_its_user_alone(home: Home) -> None:
    """The folder, the socket, the key and the lock."""
    with home.resident():
        assert home.place.parent.stat().st_mode & 0o777 == 0o700
        assert {each.stat().st_mode & 0o777 for each in home.place.parent.iterdir()} == {0o600}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_another_user_is_not_answered(home: Home) -> None:
    """Even where folder and socket let in anyone."""
    text = f"import socket; s = socket.socket(socket.AF_UNIX); s.connect({str(home.place)!r}); print(s.recv(1))"
    with home.resident():
        opened = {each: each.stat().st_mode for each in home.place.parents[:-2]}
        try:
            for each in (home.place, *opened):
                each.chmod(0o777)
            done = subprocess.run(
                ["/usr/bin/python3", "-c", text], capture_output=True, text=True, user=65534, group=65534, check=False
            )
        finally:
            for path, mode in opened.items():
                path.chmod(mode)
        assert done.stdout == "b''\n", done.stderr


def test_a_client_for_which_paths_lead_elsewhere_is_not_answered(home: Home) -> None:
    """In another mount namespace, or below another root."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user cannot leave its mount namespace")
    with home.resident():
        words = ["unshare", "--mount", *home.words()]
        done = subprocess.run(words, input="{}", capture_output=True, text=True, env=home.environ, check=False)
        assert is_in_process(done), done.stderr


def test_a_human_is_waited_for_by_a_process_of_its_own(home: Home) -> None:
    """Others are answered meanwhile, and the answer counts."""
    home.rules.write_text(RULE.format(effect="confirm"))
    store = SqliteStore(home.folder / ".local/state/permitry/permitry.db")
    questions = StoredQuestions(store)
    with closing(store), home.resident(), ThreadPoolExecutor() as pool:
        running = [
            pool.submit(home.call, "touch x", "--ask", "wait=60", seconds=90, session=f"s{number}")
            for number in range(3)
        ]
        home.wait(lambda: len(questions.open(Moment.now())) == 3)
        assert is_silent(home.call("make"))
        for question in map(StoredQuestion.of, questions.open(Moment.now())):
            # The processes above the client, so that none of the agent's own can answer.
            assert question.above[0] == os.getpid()
            answer_to(questions, question, ToolConfirmationResponse(question.session != "claude-code:s2"), by="ann")
        said = [each.result() for each in running]
        assert ["allow" in done.stdout for done in said] == [True, True, False]
        assert is_denied(said[2])
        assert store.verify() > 0


def test_what_was_answered_is_not_asked_again_after_a_restart(home: Home) -> None:
    """The resident is killed while it waits; the call that is made again has the answer, once."""
    home.rules.write_text(RULE.format(effect="confirm"))
    with closing(SqliteStore(home.folder / ".local/state/permitry/permitry.db")) as store:
        questions = StoredQuestions(store)
        with home.resident() as process, ThreadPoolExecutor() as pool:
            running = pool.submit(home.call, "touch x", "--ask", "wait=60", seconds=90)
            home.wait(lambda: questions.open(Moment.now()))
            home.wait(lambda: waiting(process.pid))
            for each in waiting(process.pid):
                os.kill(each, signal.SIGKILL)
            assert is_blocked(running.result(), "did not run")
        (row,) = questions.open(Moment.now())
        answer_to(questions, StoredQuestion.of(row), ToolConfirmationResponse(True), by="ann")
        with home.resident():
            assert "allow" in home.call("touch x").stdout
            assert is_denied(home.call("touch x"), "OWN RULE")
        assert store.verify() > 0


def test_the_store_is_closed_when_it_ends(home: Home) -> None:
    """So that all is in the one file."""
    folder = home.folder / ".local/state/permitry"
    with home.resident():
        assert is_silent(home.call("make"))
        assert (folder / "permitry.db-wal").exists()
    home.wait(lambda: not (folder / "permitry.db-wal").exists())


def test_a_locked_store_blocks_with_the_reason(home: Home) -> None:
    """Before the deadline, and the resident goes on."""
    with home.resident():
        assert is_silent(home.call("make"))
        path = home.folder / ".local/state/permitry/permitry.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            done = home.call("make", "--deadline", "4")
        assert is_denied(done, "the store")
        assert "is locked" in done.stdout
        assert is_silent(home.call("make"))


def test_it_stays_in_no_folder_of_a_client(home: Home) -> None:
    """Which may be removed, or unmounted."""
    with home.resident() as process:
        assert is_silent(home.call("make"))
        home.wait(
            lambda: (
                {str(Path(f"/proc/{each}/cwd").readlink()) for each in (process.pid, *workers(process.pid))} == {"/"}
            )
        )


def test_a_budget_holds_whoever_answers(home: Home) -> None:
    """What a session has done is kept where all find it."""
    head = 'schema = 1\n[[rule]]\nid = "twice"\neffect = "block"\nwhen.command = "touch *"\n'
    home.rules.write_text(f"{head}budget = {{ calls = 2 }}\n")
    with home.resident():
        assert [is_silent(home.call(f"touch {each}")) for each in range(4)] == [True, True, False, False]
        assert is_silent(home.call("touch 9", session="s2"))
