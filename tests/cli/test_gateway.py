"""`permitry gateway`: the program, before servers that are programs."""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeAlias

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.collector import attributes, listening

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.records import RecordFilter, records_at
from permitry.config.folders import user_state
from permitry.guard.grants import Grant
from permitry.store.grants import StoredGrants
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore

Outcome: TypeAlias = tuple[int, str, str]
Cli: TypeAlias = Callable[..., Outcome]
Era: TypeAlias = Literal["legacy", "auto"]
Run: TypeAlias = Callable[..., Any]
REAL = [sys.executable, "-m", "permitry"]

SERVER = """
import os, time
from mcp.server import MCPServer

server = MCPServer("notes")

@server.tool()
def find(word: str) -> str:
    print("this is not the protocol", flush=True)
    return f"found {word}"

@server.tool()
def keep(text: str) -> str:
    open("kept.txt", "a").write(text)
    return "kept"

@server.tool()
def slow() -> str:
    open("slow.txt", "w").close()
    time.sleep(60)
    return "late"

@server.tool()
def leave() -> str:
    os._exit(3)

@server.tool()
def forget(name: str) -> str:
    return "forgotten"

server.run()
"""
RULES = """
schema = 1
[[rule]]
id = "find"
effect = "allow"
tools = ["mcp:*/find", "mcp:*/leave", "mcp:*/slow"]
[[rule]]
id = "stay"
effect = "block"
tools = ["mcp:*/forget"]
"""
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a", "version": "1"},
}


@pytest.fixture
def words(workspace: Path, record: Path) -> list[str]:
    """Return the words that start a gateway, up to the server."""
    (workspace / "server.py").write_text(SERVER, encoding="utf-8")
    (workspace / "rules.toml").write_text(RULES, encoding="utf-8")
    places = ["--workspace", str(workspace), "--record", str(record)]
    return ["gateway", "--rules", str(workspace / "rules.toml"), *places]


@pytest.fixture
def notes(words: list[str], warm_python: str) -> list[str]:
    """Return the words that start a gateway in front of the server for notes."""
    return [*words, "--name", "notes", "--", warm_python, "server.py"]


@pytest.fixture
def run(warm_program: Path) -> Run:
    """Return a function that works with a gateway, which has everything imported."""
    return lambda words, *rest, **options: work_with([str(warm_program), *words], *rest, **options)


def work_with(
    line: list[str],
    folder: Path,
    work: Callable[[Client], Awaitable[Any]],
    *,
    era: Era = "legacy",
    approve: bool = True,
    on_ask: Callable[[], object] = lambda: None,
) -> Any:  # noqa: ANN401 -- what the work gives
    """Return what `work` gives with a client that has started the program, and whose user gives one answer."""

    async def elicited(context: object, params: object) -> types.ElicitResult:
        del context, params
        on_ask()
        return types.ElicitResult(action="accept", content={"approve": approve})

    async def main() -> object:
        environment = {name: os.environ[name] for name in os.environ if name.startswith(("XDG_", "OTEL_"))}
        command, *arguments = line
        started = StdioServerParameters(command=command, args=arguments, env=environment, cwd=folder)
        async with Client(stdio_client(started), mode=era, elicitation_callback=elicited, cache=None) as client:
            return await work(client)

    return asyncio.run(main())


def text(result: types.CallToolResult) -> str:
    """Return the first text of a result."""
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_client_works_through_it(
    notes: list[str], workspace: Path, era: Era, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """Filtered, allowed, asked; all of it on record."""

    async def work(client: Client) -> list[str]:
        calls = [("find", {"word": "a"}), ("keep", {"text": "b"}), ("forget", {"name": "a"})]
        listed = [each.name for each in (await client.list_tools()).tools]
        return [client.protocol_version, *listed, *[text(await client.call_tool(*call)) for call in calls]]

    version, *found = work_with([*REAL, *notes], workspace, work, era=era)
    assert version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[era]
    assert found == ["find", "keep", "slow", "leave", "found a", "kept", "There is no tool `forget`."]
    assert (workspace / "kept.txt").read_text() == "b"
    events = [(each["event"], each.get("tool")) for each in recorded()]
    assert events == [
        ("session", None),
        *[(event, "mcp:notes/find") for event in ("decided", "started", "finished")],
        *[(event, "mcp:notes/keep") for event in ("decided", "asked", "answered", "started", "finished")],
        ("decided", "mcp:notes/forget"),
    ]


def test_what_it_decides_is_sent_to_a_collector(
    run: Run, notes: list[str], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--otel`: a call that ran after a question, and one that was blocked."""

    async def work(client: Client) -> None:
        await client.call_tool("keep", {"text": "canary-7"})
        await client.call_tool("forget", {"name": "a"})

    with listening() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        run([notes[0], "--otel", *notes[1:]], workspace, work)
        kept, blocked = collector.spans()
    assert [event.name for event in kept.events] == ["permitry.asked", "permitry.answered", "permitry.started"]
    assert (kept.name, attributes(kept)["permitry.outcome"]) == ("execute_tool mcp:notes/keep", "ok")
    assert (blocked.name, attributes(blocked)["permitry.rule"]) == ("execute_tool mcp:notes/forget", "stay")
    assert all(b"canary-7" not in body for _, body in collector.bodies)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_no_is_a_no(run: Run, notes: list[str], workspace: Path, era: Era) -> None:
    """The file is not there."""
    result = run(notes, workspace, lambda client: client.call_tool("keep", {"text": "b"}), era=era, approve=False)
    assert "The user declined" in text(result)
    assert not (workspace / "kept.txt").exists()


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize(("answer", "shown"), [(True, "kept"), (False, "Not this one"), (None, "got none")])
def test_a_question_waits_for_another_terminal(
    *, run: Run, notes: list[str], workspace: Path, era: Era, answer: bool | None, shown: str
) -> None:
    """Whatever the client can show; without an answer in time, the call does not run."""
    store = SqliteStore(user_state() / "permitry.db")
    questions = StoredQuestions(store)

    def respond() -> None:
        end = time.monotonic() + 20
        while not (rows := questions.open(Moment.now())) and time.monotonic() < end:
            time.sleep(0.05)
        question = StoredQuestion.of(rows[0])
        assert question.request is not None
        assert (question.tool, question.request.call.to_dict()) == ("mcp:notes/keep", {"text": "b"})
        assert len(question.above) == 2
        if answer is not None:
            response = ToolConfirmationResponse(answer, instructions="" if answer else "Not this one.")
            answer_to(questions, question, response, by="ann")

    human = threading.Thread(target=respond)
    human.start()
    words = [notes[0], "--ask", "wait=20" if answer is not None else "wait=1", *notes[1:]]
    result = run(
        words, workspace, lambda client: client.call_tool("keep", {"text": "b"}), era=era, on_ask=lambda: 1 / 0
    )
    human.join()
    assert shown in text(result)
    assert (workspace / "kept.txt").exists() is (answer is True)
    assert questions.open(Moment.now()) == []
    store.close()


def test_a_question_says_who_asks(notes: list[str], workspace: Path) -> None:
    """The process that has started the gateway comes first."""
    store = SqliteStore(user_state() / "permitry.db")
    questions = StoredQuestions(store)
    above: list[int] = []

    def look() -> None:
        end = time.monotonic() + 20
        while not above and time.monotonic() < end:
            above.extend(process for row in questions.open(Moment.now()) for process in StoredQuestion.of(row).above)
            time.sleep(0.05)

    human = threading.Thread(target=look)
    human.start()
    words = [notes[0], "--ask", "wait=1", *notes[1:]]
    work_with([*REAL, *words], workspace, lambda client: client.call_tool("keep", {"text": "b"}))
    human.join()
    assert above[0] == os.getpid()
    store.close()


def test_a_grant_counts(
    run: Run, notes: list[str], workspace: Path, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """What it is for runs unasked, whoever the client is, and is on record as granted; a block stays one."""
    store = SqliteStore(user_state() / "permitry.db")
    StoredGrants(store).add(Grant('tools = ["mcp:notes/keep", "mcp:notes/forget"]', id="0a").row())
    store.close()

    async def work(client: Client) -> list[str]:
        return [text(await client.call_tool(*call)) for call in (("keep", {"text": "b"}), ("forget", {"name": "a"}))]

    assert run(notes, workspace, work, on_ask=lambda: 1 / 0) == ["kept", "There is no tool `forget`."]
    assert [each["rule"] for each in recorded() if each["event"] == "decided"] == ["grant-0a", "stay"]


def test_all_is_in_the_store_unless_another_place_is_named(
    run: Run, words: list[str], warm_python: str, workspace: Path
) -> None:
    """The record as well, in one chain, and all in one file when the client has left."""
    at = words.index("--record")
    words = [*words[:at], *words[at + 2 :], "--name", "notes", "--", warm_python, "server.py"]
    run(words, workspace, lambda client: client.call_tool("find", {"word": "a"}))
    path = user_state() / "permitry.db"
    for _ in range(100):
        if not path.with_name("permitry.db-wal").exists():
            break
        time.sleep(0.1)
    assert not path.with_name("permitry.db-wal").exists()
    records = list(records_at(path, RecordFilter()))
    assert [each["event"] for each in records] == ["policy", "session", "decided", "started", "finished"]
    assert len({each["session"] for each in records}) == 1


def test_without_its_store_it_does_not_start(notes: list[str], workspace: Path, tmp_path: Path) -> None:
    """No call could be recorded, nor asked about."""
    (tmp_path / "s.db").write_text("what?")
    words = [notes[0], "--store", str(tmp_path / "s.db"), *notes[1:]]
    done = subprocess.run([*REAL, *words], cwd=workspace, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "file is not a database" in done.stderr


def test_nothing_but_the_protocol_is_printed(notes: list[str], workspace: Path) -> None:
    """Whatever the server prints; the program ends well when its client leaves."""
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "find", "arguments": {"word": "a"}}},
        {"id": 3, "method": "tools/call", "params": {"name": "find", "arguments": ["a"]}},
        {"id": 4, "method": "no/such"},
    ]
    program = subprocess.Popen(
        [*REAL, *notes],
        cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdin is not None
    assert program.stdout is not None
    lines = []
    for message in messages:
        program.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        program.stdin.flush()
        if "id" in message:
            lines.append(json.loads(program.stdout.readline()))
    rest, _ = program.communicate(timeout=20)
    assert ([each["id"] for each in lines], rest, program.returncode) == ([1, 2, 3, 4], b"", 0)
    assert lines[1]["result"]["content"][0]["text"] == "found a"
    assert ["error" in each for each in lines] == [False, False, True, True]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_of_it(
    notes: list[str], workspace: Path, number: int, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """The call that runs is on record as cancelled, and its server has ended."""
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "slow", "arguments": {}}},
    ]
    program = subprocess.Popen(
        [*REAL, *notes],
        cwd=workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdin is not None
    lines = (json.dumps({"jsonrpc": "2.0", **message}) for message in messages)
    program.stdin.write("".join(f"{line}\n" for line in lines).encode())
    program.stdin.flush()
    for _ in range(300):
        if (workspace / "slow.txt").exists():
            break
        time.sleep(0.1)
    program.send_signal(number)
    # Standard error is that of the server, too: it is closed once both have ended.
    program.communicate(timeout=20)
    assert program.returncode == 130
    assert (recorded()[-1]["event"], recorded()[-1]["outcome"]) == ("finished", "cancelled")


def test_changed_rules_count(run: Run, notes: list[str], workspace: Path) -> None:
    """At once: the very next call is decided by them, and so is an answer to a question that was open."""
    rules = workspace / "rules.toml"

    async def work(client: Client) -> list[str]:
        texts = [text(await client.call_tool("find", {"word": "a"}))]
        rules.write_text(RULES.replace('"mcp:*/forget"', '"mcp:*/f*"'), encoding="utf-8")
        texts.append(text(await client.call_tool("find", {"word": "a"})))
        texts.append(text(await client.call_tool("keep", {"text": "a"})))
        return texts

    def tighten() -> None:
        rules.write_text(RULES.replace('"mcp:*/forget"', '"mcp:*/k*"'), encoding="utf-8")

    found, blocked, kept = run(notes, workspace, work, on_ask=tighten)
    assert (found, blocked) == ("found a", "There is no tool `find`.")
    assert "was blocked" in kept
    assert not (workspace / "kept.txt").exists()


@pytest.mark.parametrize("damage", [lambda file: file.write_text(f"{RULES}effect ="), Path.unlink])
def test_broken_rules_run_nothing(
    run: Run, notes: list[str], workspace: Path, damage: Callable[[Path], object]
) -> None:
    """Until they are right again, and then without a new start."""
    rules = workspace / "rules.toml"

    async def work(client: Client) -> list[str]:
        damage(rules)
        texts = [text(await client.call_tool("find", {"word": "a"}))]
        rules.write_text(RULES, encoding="utf-8")
        return [*texts, text(await client.call_tool("find", {"word": "a"}))]

    refused, found = run(notes, workspace, work)
    assert refused.startswith("The user's rule files have mistakes")
    assert found == "found a"


def test_servers_of_a_tools_file(run: Run, words: list[str], warm_python: str, workspace: Path) -> None:
    """Several, each with a name of its own."""
    command = json.dumps([warm_python, "server.py"])
    file = workspace / "tools.toml"
    file.write_text(f"schema = 1\n[mcp.a]\ncommand = {command}\n[mcp.b]\ncommand = {command}\n", encoding="utf-8")

    async def work(client: Client) -> list[str]:
        listed = [each.name for each in (await client.list_tools()).tools]
        return [*listed, text(await client.call_tool("b__find", {"word": "a"}))]

    found = run([*words, "--tools", str(file)], workspace, work)
    assert found == [
        "a__find",
        "a__keep",
        "a__slow",
        "a__leave",
        "b__find",
        "b__keep",
        "b__slow",
        "b__leave",
        "found a",
    ]


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_a_server_that_ends_in_a_call_takes_no_one_with_it(
    run: Run, words: list[str], warm_python: str, workspace: Path, era: Era
) -> None:
    """The call is on record as started; the gateway and the other server go on, and it is started again."""
    command = json.dumps([warm_python, "server.py"])
    file = workspace / "tools.toml"
    file.write_text(f"schema = 1\n[mcp.a]\ncommand = {command}\n[mcp.b]\ncommand = {command}\n", encoding="utf-8")

    async def work(client: Client) -> list[str]:
        calls: list[tuple[str, dict[str, str]]] = [("a__leave", {}), ("a__find", {"word": "a"})]
        ended = [text(await client.call_tool(*call)) for call in calls]
        listed = [each.name for each in (await client.list_tools()).tools]
        return [*ended, *listed, text(await client.call_tool("b__find", {"word": "a"}))]

    first, second, *rest = run([*words, "--tools", str(file)], workspace, work, era=era)
    assert first == "The MCP server `a` has ended. Whether the call has run is not known."
    assert second == "found a"
    tools = [f"{server}__{tool}" for server in "ab" for tool in ("find", "keep", "slow", "leave")]
    assert rest == [*tools, "found a"]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ([], "there is no server"),
        (["--", "program"], "the server needs a name"),
        (["--upstream", "http://127.0.0.1:1/mcp"], "the server needs a name"),
        (["--name", "a"], "go with a COMMAND"),
        (["--trust-annotations"], "go with a COMMAND"),
        (["--name", "a", "--upstream", "http://127.0.0.1:1", "--", "b"], "either a COMMAND or"),
        (["--name", "a/b", "--", "b"], "slash"),
        (["--name", "a", "--upstream", "file:///etc"], "not http or https"),
        (["--name", "a", "--listen", "0.0.0.0:80", "--", "b"], "of this machine alone"),
        (["--name", "a", "--origin", "http://localhost:6274/", "--", "b"], "is not an origin"),
        (["--name", "a", "--origin", "*", "--", "b"], "is not an origin"),
        (["--name", "a", "--ask", "wait=0", "--", "b"], "is not `client`, `wait` or"),
        (["--name", "a", "--ask", "later", "--", "b"], "is not `client`, `wait` or"),
        (
            ["--name", "a", "--", "/nowhere/program"],
            "the MCP server `a`, started by `/nowhere/program`, cannot be used",
        ),
        (["--tools", "nowhere.toml"], "cannot be read"),
        (["--tools", "names.json"], "list of tools"),
        (["--name", "a", "--rules", "nowhere.toml", "--", "b"], "nowhere.toml"),
    ],
)
def test_mistakes_are_reported(cli: Cli, words: list[str], more: list[str], problem: str) -> None:
    """And nothing is served."""
    code, out, err = cli(*words, *more)
    assert (code, out) == (4, "")
    assert problem in err


def test_a_server_that_is_none_is_reported_without_tracebacks(notes: list[str], workspace: Path) -> None:
    """Each of its lines would have one, and the problem would be out of sight."""
    program = [sys.executable, "-c", "print('hello'); print('again')"]
    words = [*REAL, *notes[: notes.index("--") + 1], *program]
    ended = subprocess.run(words, cwd=workspace, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr.endswith(f"started by `{sys.executable}`, cannot be used: Connection closed\n")
    assert "Failed to parse" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_two_servers_of_one_name_are_a_mistake(cli: Cli, words: list[str], workspace: Path) -> None:
    """Rules could not tell them apart."""
    file = workspace / "tools.toml"
    file.write_text('schema = 1\n[mcp.a]\ncommand = ["b"]\n', encoding="utf-8")
    code, _, err = cli(*words, "--tools", str(file), "--name", "a", "--", "b")
    assert (code, "the names `a` and `a` do not keep the tools of two servers apart" in err) == (4, True)


def test_a_token_that_others_read_is_a_mistake(cli: Cli, words: list[str], tmp_path: Path) -> None:
    """Before anything is started."""
    file = tmp_path / "token"
    file.write_text("t" * 40)
    file.chmod(0o644)
    code, _, err = cli(*words, "--listen", "127.0.0.1:8931", "--token-file", file, "--name", "a", "--", "b")
    assert (code, "others may read the token file" in err) == (4, True)


def test_a_missing_package_is_reported(notes: list[str], workspace: Path) -> None:
    """With the extra that brings it."""
    hidden = "import sys; sys.modules['mcp_types'] = None; from permitry.cli.main import main; "
    start = f"{hidden}sys.exit(main({notes!r}))"
    ended = subprocess.run([sys.executable, "-c", start], cwd=workspace, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "pip install 'permitry[gateway]'" in ended.stderr


def test_it_serves_over_http(notes: list[str], workspace: Path, home: Path) -> None:
    """With a token that it makes; standard error says where both are."""
    at = notes.index("--")
    program = subprocess.Popen(
        [*REAL, *notes[:at], "--listen", "127.0.0.1:1", *notes[at:]],
        cwd=workspace, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert program.stderr is not None
        line = program.stderr.readline()
        assert line.startswith("permitry: serving at http://127.0.0.1:1/mcp; clients bring the token in ")
        token = Path(line.rpartition(" in ")[2].strip())
        assert token.is_relative_to(home)
        assert token.stat().st_mode & 0o777 == 0o600
    finally:
        program.kill()
        program.communicate()


def test_a_signal_ends_it_over_http(
    notes: list[str], workspace: Path, tmp_path: Path, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """With the call that runs, whose end is on record, and its server."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token, at = tmp_path / "token", notes.index("--")
    more = ["--listen", f"127.0.0.1:{port}", "--token-file", str(token)]
    program = subprocess.Popen(
        [*REAL, *notes[:at], *more, *notes[at:]],
        cwd=workspace, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "slow", "arguments": {}, "_meta": meta}
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    for _ in range(300):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            break
        time.sleep(0.1)
    with socket.create_connection(("127.0.0.1", port)) as client:
        lines = [
            "POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {token.read_text().strip()}",
            "Content-Type: application/json", "Accept: application/json, text/event-stream", "Mcp-Method: tools/call",
            "Mcp-Name: slow", "MCP-Protocol-Version: 2026-07-28", f"Content-Length: {len(call)}", "", "",
        ]  # fmt: skip
        client.sendall("\r\n".join(lines).encode() + call)
        for _ in range(300):
            if (workspace / "slow.txt").exists():
                break
            time.sleep(0.1)
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=20)
    assert program.returncode == 130
    assert recorded()[-1]["event"] == "finished"
    assert recorded()[-1]["outcome"] in {"crashed", "cancelled"}


# A server of others --------------------------------------------------------------------------------------------------


@pytest.fixture
def files(words: list[str], workspace: Path) -> list[str]:
    """Return the words that start a gateway in front of the official server for files."""
    modules = os.environ.get("PERMITRY_TEST_NODE_MODULES")
    place = f"{modules}/.bin" if modules else None
    program = shutil.which("mcp-server-filesystem", path=place) or shutil.which("mcp-server-filesystem")
    if program is None:
        pytest.skip("needs the npm package @modelcontextprotocol/server-filesystem")
    rules = 'schema = 1\n[[rule]]\nid = "reads"\neffect = "allow"\ntools = ["mcp:files/read_*", "mcp:files/list_*"]\n'
    rules += '[[rule]]\nid = "moves"\neffect = "block"\ntools = ["mcp:files/move_file"]\n'
    rules += '[[rule]]\nid = "secrets"\neffect = "block"\nwhen.path = ["**/.env"]\nmessage = "Ask the user."\n'
    rules += '[tool."mcp:files/read_text_file"]\ntraits = ["read_only"]\nroles.path = "read_path"\n'
    (workspace / "rules.toml").write_text(rules, encoding="utf-8")
    return [*words, "--name", "files", "--", program, str(workspace)]


@pytest.mark.large
@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_before_the_official_server_for_files(run: Run, files: list[str], workspace: Path, era: Era) -> None:
    """The file system is the proof of what ran."""
    (workspace / "a.txt").write_text("hello", encoding="utf-8")
    (workspace / ".env").write_text("KEY=1", encoding="utf-8")

    async def work(client: Client) -> list[str]:
        listed = {each.name for each in (await client.list_tools()).tools}
        assert "move_file" not in listed
        assert {"read_text_file", "write_file"} <= listed
        calls: list[tuple[str, dict[str, str]]] = [
            ("read_text_file", {"path": str(workspace / "a.txt")}),
            ("read_text_file", {"path": str(workspace / ".env")}),
            ("move_file", {"source": str(workspace / "a.txt"), "destination": str(workspace / "b.txt")}),
            ("write_file", {"path": str(workspace / "c.txt"), "content": "new"}),
        ]
        return [text(await client.call_tool(*call)) for call in calls]

    for approve in (True, False):
        (workspace / "c.txt").unlink(missing_ok=True)
        read, env, moved, written = run(files, workspace, work, era=era, approve=approve)
        assert (read, moved) == ("hello", "There is no tool `move_file`.")
        assert env == "The call of `read_text_file` was blocked. Ask the user."
        assert (workspace / "a.txt").exists()
        assert (workspace / "c.txt").exists() is approve
        assert ("The user declined" in written) is not approve


@pytest.mark.large
@pytest.mark.parametrize(("folder", "is_read"), [("", False), ('folder = "inner"\n', True)])
def test_the_official_server_looks_for_relative_paths_in_a_folder_of_its_own(
    run: Run, files: list[str], workspace: Path, *, folder: str, is_read: bool
) -> None:
    """A rule about that folder keeps what it should, and only where it is declared nothing else is asked about."""
    (workspace / "inner/secret").mkdir(parents=True)
    for name in ("inner/a.txt", "inner/secret/key"):
        (workspace / name).write_text(name, encoding="utf-8")
    rule = '[[rule]]\nid = "inner"\neffect = "block"\nwhen.path = ["inner/secret/**"]\n'
    with (workspace / "rules.toml").open("a", encoding="utf-8") as rules:
        rules.write(f"{folder}{rule}")

    async def work(client: Client) -> list[str]:
        paths = ("secret/key", "a.txt", "inner/a.txt")
        return [text(await client.call_tool("read_text_file", {"path": path})) for path in paths]

    key, other, missing = run([*files[:-1], str(workspace / "inner")], workspace, work, era="auto", approve=False)
    assert "inner/secret/key" not in key
    assert (other == "inner/a.txt") is is_read
    assert "ENOENT" in missing or not is_read


@pytest.mark.large
@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_before_the_official_server_over_http(
    run: Run, files: list[str], workspace: Path, tmp_path: Path, era: Era
) -> None:
    """What a second gateway passes on to the first, at its address, is decided twice."""
    (workspace / "a.txt").write_text("hello", encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    token, at = tmp_path / "token", files.index("--")
    words = [*files[:at], "--listen", address, "--token-file", str(token), *files[at:]]
    first = subprocess.Popen([*REAL, *words], cwd=workspace, stdin=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))).close()
                break
            time.sleep(0.1)
        headers = f'{{ authorization = "Bearer {token.read_text().strip()}" }}'
        tools = tmp_path / "tools.toml"
        tools.write_text(f'schema = 1\n[mcp.files]\nurl = "http://{address}/mcp"\nheaders = {headers}\n')

        async def work(client: Client) -> list[str]:
            assert "move_file" not in {each.name for each in (await client.list_tools()).tools}
            calls = [
                ("read_text_file", {"path": str(workspace / "a.txt")}),
                ("write_file", {"path": str(workspace / "b.txt"), "content": "new"}),
            ]
            return [text(await client.call_tool(*call)) for call in calls]

        read, written = run([*files[: files.index("--name")], "--tools", str(tools)], workspace, work, era=era)
        assert read == "hello"
        # The user of the second one says yes; the first one asks as well, and its client has no user.
        assert "got none" in written
        assert not (workspace / "b.txt").exists()
    finally:
        first.terminate()
        first.wait()
