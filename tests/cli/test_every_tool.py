"""One session that uses every shipped tool once, under the shipped rules of a coding agent."""

import base64
import http.server
import io
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from permitry.cli.main import main
from permitry.core.call import ToolCall
from permitry_tools import ToolServices, workspace_tools
from permitry_tools._reading import line_hash
from permitry_tools.artifacts import ArtifactStore
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

pytest.importorskip("httpx", reason="the web tools are an extra")
pytest.importorskip("fastmcp", reason="the MCP server of this test is written with it")

PAGE = b"<title>Permits</title><p>A permit lets you build.</p>"
PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
PATCH = "*** Begin Patch\n*** Update File: main.py\n@@\n-    return 2\n+    return 3\n*** End Patch\n"
PLUGIN = """
from permitry.core.result import ToolResult
from permitry.core.spec import ToolTraits
from permitry.dispatch.discovery import ToolPlugin

plugin = ToolPlugin(
    {"name": "greet", "description": "Greet somebody.", "parameters": {
        "type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}},
    lambda arguments, context: (True, f"Good morning, {arguments['who']}."),
    traits=ToolTraits(read_only=True, destructive=False, open_world=False, spawns_agent=False),
    roles={},
)
"""
SERVER = """
from fastmcp import FastMCP

server = FastMCP("calc")

@server.tool
def add(a: int, b: int) -> str:
    "Add two numbers."
    return f"the sum is {a + b}"

server.run(transport="stdio", show_banner=False)
"""


class Web(http.server.BaseHTTPRequestHandler):
    """A search service and a page."""

    def do_GET(self) -> None:
        """Answer a search with one result, and everything else with the page."""
        is_search = self.path.startswith("/search?")
        address = f"http://127.0.0.1:{self.server.server_port}/page"  # type: ignore[attr-defined]  # an HTTPServer has one
        found = {"results": [{"url": address, "title": "Permits", "content": "A permit lets you build."}]}
        body = json.dumps(found).encode() if is_search else PAGE
        self.send_response(200)
        self.send_header("content-type", "application/json" if is_search else "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    """Return the address of a search service on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


BLOCKED = ("subtask", "execute", "deep_analysis")
"""The tools that need a runner for agents, which `permitry run` does not have."""


@attrs.frozen
class Use:
    """One call of a tool: whether the user is asked, whether it succeeds, and a piece of what it answers."""

    tool: str
    arguments: Mapping[str, Any]
    shown: str
    asks: bool = False
    ok: bool = True

    def message(self) -> str:
        """Return the call as a line of a session; its id is the tool's name."""
        return json.dumps({"id": self.tool, "name": self.tool, "arguments": self.arguments})

    def answer(self) -> str:
        """Return an approval that is bound to the call."""
        return json.dumps({"digest": ToolCall(self.tool, self.arguments).digest, "approved": True})


def uses(web: str, artifact: str) -> list[Use]:
    """Return a call of every tool, in an order in which each finds what it needs."""
    line = f"2:{line_hash('    return 1')}"
    return [
        Use("think", {"note": "I look around first."}, ""),
        Use("update_plan", {"plan": [{"step": "fix main.py", "status": "in_progress"}]}, "Plan updated"),
        Use("list_files", {"glob": "*.py"}, "main.py"),
        Use("search_files", {"query": "RETURN"}, "main.py:2:    return 1"),
        Use("repo_map", {}, "answer"),
        Use("read_file", {"path": "main.py"}, f"{line}|    return 1"),
        Use("view_image", {"path": "dot.gif"}, "Image dot.gif"),
        Use("read_image", {"path": "dot.gif"}, "Image dot.gif"),
        Use("list_artifacts", {}, artifact),
        Use("read_artifact", {"artifact_id": artifact}, "a long answer"),
        Use("hashline_edit", {"path": "main.py", "edits": [{"set_line": line, "content": "    return 2"}]}, "1 edit",
            asks=True),
        Use("apply_patch", {"patch": PATCH}, "M main.py", asks=True),
        Use("edit_file", {"path": "main.py", "old_text": "return 3", "new_text": "return 42"}, "Edited", asks=True),
        Use("write_file", {"path": "notes.md", "content": "Done.\n"}, "Wrote 6 chars to notes.md", asks=True),
        Use("run_shell", {"command": "echo built > built.txt; cat built.txt"}, "built", asks=True),
        Use("shell", {"command": ["touch", "by-shell"]}, "", asks=True),
        Use("shell_command", {"command": "touch by-shell-command && echo touched"}, "touched", asks=True),
        Use("local_shell", {"type": "exec", "command": ["touch", "by-local-shell"]}, "", asks=True),
        Use("run_shell_bg", {"command": "sleep 600; touch never"}, "job_id=1", asks=True),
        Use("check_shell_bg", {"job_id": 1}, "job 1 still running"),
        Use("kill_shell_bg", {"job_id": 1}, "job 1 killed"),
        Use("exec_command", {"cmd": "read word; echo got $word; sleep 600", "tty": True, "yield_time_ms": 250},
            "session ID 1"),
        Use("write_stdin", {"session_id": 1, "chars": "it\n", "yield_time_ms": 2000}, "got it", asks=True),
        Use("web_search", {"query": "permits"}, "A permit lets you build.", asks=True),
        Use("fetch_url", {"urls": [f"{web}/page"]}, "A permit lets you build.", asks=True),
        Use("retrieve_documents", {"query": "engine"}, "Ada Lovelace"),
        Use("query_documents_metadata", {"question": "SELECT count(*) AS n FROM documents"}, "1}"),
        Use("graph_search", {"mode": "global"}, "Ada Lovelace"),
        Use("greet", {"who": "Ann"}, "Good morning, Ann."),
        Use("mcp:calc/add", {"a": 2, "b": 3}, "the sum is 5", asks=True),
        # Without a runner for agents these are not there at all.
        Use("subtask", {"objective": "read"}, "The call of `subtask` was blocked", ok=False),
        Use("execute", {"objective": "read"}, "The call of `execute` was blocked", ok=False),
        Use("deep_analysis", {"query": "why"}, "The call of `deep_analysis` was blocked", ok=False),
    ]  # fmt: skip


def marked(mark: str) -> set[int]:
    """Return the processes with `mark` in their environment, this one left out."""
    found = set()
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (each / "environ").read_bytes() and int(each.name) != os.getpid():
                found.add(int(each.name))
        except OSError:
            continue
    return found


@attrs.frozen
class Ran:
    """A session that is over: its calls, what came of them, what is on the disk, and which processes live on."""

    calls: tuple[Use, ...]
    code: int
    results: tuple[Mapping[str, Any], ...]
    summary: Mapping[str, Any]
    records: tuple[Mapping[str, Any], ...]
    folder: Path
    left: frozenset[int]

    def shown(self, tool: str) -> Mapping[str, Any]:
        """Return the result of a tool's call."""
        return next(result for result in self.results if result["id"] == tool)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, web: str) -> Ran:
    """Return the session, run with the answers of a user who approves each call that asks."""
    folder = tmp_path_factory.mktemp("every-tool")
    mark = f"PERMITRY_TEST_{uuid.uuid4().hex}"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"):
            patch.setenv(name, str(folder / "home"))
        patch.setenv(mark, "1")
        patch.setattr(sys, "stderr", io.StringIO())
        patch.setattr(sys, "stdout", io.StringIO())
        set_up(folder, web, mark)
        calls = uses(web, ArtifactStore(folder / "artifacts").keep("run_shell", "a long answer", "main"))
        lines = {
            "session": [each.message() for each in calls],
            "answers": [each.answer() for each in calls if each.asks],
        }
        for name, each in lines.items():
            (folder / f"{name}.jsonl").write_text("\n".join(each), encoding="utf-8")
        files = {"tools": "tools.toml", "answers": "answers.jsonl", "workspace": "work", "record": "record.jsonl"}
        words = [word for name, file in files.items() for word in (f"--{name}", str(folder / file))]
        patch.setattr(sys, "stdout", out := io.StringIO())
        code = main(["run", str(folder / "session.jsonl"), "--rules", "permitry:coding-agent", *words, "--json"])
    *results, last = map(json.loads, out.getvalue().splitlines())
    records = tuple(map(json.loads, (folder / "record.jsonl").read_text(encoding="utf-8").splitlines()))
    return Ran(tuple(calls), code, tuple(results), last["summary"], records, folder, left_of(mark))


def left_of(mark: str) -> frozenset[int]:
    """Return the processes with `mark` in their environment that live on, although they had time to end."""
    end = time.monotonic() + 10
    while (found := marked(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    return frozenset(found)


def test_every_call_has_its_result(ran: Ran) -> None:
    """In order, as good as it should be, and with what the tool is for; the session goes to its end."""
    assert [result["id"] for result in ran.results] == [each.tool for each in ran.calls]
    assert [ran.shown(each.tool) for each in ran.calls if ran.shown(each.tool)["ok"] is not each.ok] == []
    assert [ran.shown(each.tool) for each in ran.calls if each.shown not in json.dumps(ran.shown(each.tool))] == []
    assert ran.code == 0


def test_what_is_used_is_what_there_is(ran: Ran) -> None:
    """No shipped tool is forgotten; the two others come from the plugin folder and from the server."""
    assert {each.tool for each in ran.calls} == registered(ran.folder) | {"greet", "mcp:calc/add"}
    assert len(ran.calls) == len(ran.results)


def test_only_what_does_more_than_read_is_asked_about(ran: Ran) -> None:
    """Reading runs without a question, every other call is asked about once, and no answer is left over."""
    expected = {each.tool: "confirm" if each.asks else "allow" for each in ran.calls} | dict.fromkeys(BLOCKED, "block")
    assert {row["call_id"]: row["verdict"] for row in ran.summary["calls"]} == expected
    assert ran.summary["unused_answers"] == []


def test_each_run_is_on_record_with_its_beginning_and_its_end(ran: Ran) -> None:
    """What was blocked has neither."""
    names = [each.tool for each in ran.calls if each.tool not in BLOCKED]
    for event in ("started", "finished"):
        assert [line["call_id"] for line in ran.records if line["event"] == event] == names


def test_the_disk_holds_what_was_done(ran: Ran) -> None:
    """Each edit built on the one before, and each shell has run."""
    work = ran.folder / "work"
    assert (work / "main.py").read_text(encoding="utf-8") == "def answer():\n    return 42\n"
    made = {"notes.md", "built.txt", "by-shell", "by-shell-command", "by-local-shell"}
    assert {path.name for path in work.iterdir()} == made | {"main.py", "dot.gif"}


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")
def test_nothing_lives_on(ran: Ran) -> None:
    """The background job, the terminal session and the server have ended with the session."""
    assert ran.left == frozenset()


def set_up(folder: Path, web: str, mark: str) -> None:
    """Write everything a session may use, as a user would: documents, a trusted plugin, a server, the tools file."""
    (folder / "work").mkdir()
    (folder / "work" / "main.py").write_text("def answer():\n    return 1\n", encoding="utf-8")
    (folder / "work" / "dot.gif").write_bytes(PIXEL)
    (folder / "docs").mkdir()
    (folder / "docs" / "engine.md").write_text("# The engine\n\nAda Lovelace wrote about it.\n", encoding="utf-8")
    (folder / "plugins").mkdir()
    (folder / "plugins" / "greet.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    assert main(["corpus", "add", str(folder / "docs"), "--db", str(folder / "corpus.sqlite3")]) == 0
    assert main(["trust", str(folder / "plugins")]) == 0
    (folder / "tools.toml").write_text(
        f"""
        schema = 1
        plugins = ["plugins"]
        corpus = "corpus.sqlite3"
        artifacts = "artifacts"
        [web]
        search_endpoint = "{web}"
        allow_private = true
        [mcp.calc]
        command = ["{sys.executable}", "server.py"]
        env = {{ {mark} = "1" }}
        """,
        encoding="utf-8",
    )


def registered(folder: Path) -> set[str]:
    """Return the names of all shipped tools, document tools among them."""
    with workspace_tools(folder, ToolServices(corpus=Corpus(CorpusStore(folder / "corpus.sqlite3")))) as registry:
        return {spec.name for spec in registry}
