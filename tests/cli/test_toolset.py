"""The tools of a session: the tools file, plugin folders that change, servers, and what they leave alone."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.audit.record import MemoryRecorder
from permitry.core.call import ToolCall
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_ops.cli.toolset import Toolset

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Objects = Callable[[str], list[dict[str, Any]]]
Processes = Callable[..., subprocess.Popen[bytes]]
Say = Callable[[subprocess.Popen[bytes], str], str]

PLUGIN = """
from permitry.core.spec import ToolTraits
from permitry.dispatch.discovery import ToolPlugin

plugin = ToolPlugin(
    {"name": "NAME", "description": "Greet somebody.", "parameters": {
        "type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}},
    lambda arguments, context: (True, f"Hello, {arguments['who']}."),
    lambda context: CONDITION,
    traits=ToolTraits(read_only=True, destructive=False, open_world=False, spawns_agent=False),
    roles={},
)
"""
GREET = json.dumps({"name": "greet", "arguments": {"who": "Ann"}}) + "\n"
HELLO = [{"name": "greet", "ok": True, "content": "Hello, Ann."}]


def plugin(name: str = "greet", condition: str = "True") -> str:
    """Return a plugin that greets, where a condition on its context holds."""
    return PLUGIN.replace("NAME", name).replace("CONDITION", condition)


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return a folder with one plugin, which no one trusts yet."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "greet.py").write_text(plugin())
    return folder


def tools_file(folder: Path, text: str) -> Path:
    """Write a tools file and return its path."""
    path = folder / "tools.toml"
    path.write_text(f"schema = 1\n{text}")
    return path


@pytest.fixture
def unattended(guarding: list[str]) -> list[str]:
    """Return the words of a session in which no one is asked."""
    return [*guarding, "--unattended", "block"]


# Plugins --------------------------------------------------------------------------------------------------------------


def test_a_tool_is_one_file(cli: Cli, unattended: list[str], plugins: Path, objects: Objects) -> None:
    """Written, trusted, called; nothing else is to be done."""
    assert cli("trust", plugins)[0] == 0
    code, out, err = cli(*unattended, "--plugins", plugins, stdin=GREET)
    assert (code, objects(out)) == (0, HELLO)
    assert "permitry: loaded the tool greet from plugins/greet.py\n" in err


@pytest.mark.parametrize("asked", ["mcp__bees__greet", "mcp:bees/greet"])
def test_a_tool_answers_to_the_name_that_is_printed_for_providers(
    cli: Cli, unattended: list[str], plugins: Path, tmp_path: Path, *, asked: str
) -> None:
    """And a rule on its own name blocks it, whichever way it is called."""
    (plugins / "greet.py").write_text(plugin("mcp:bees/greet"))
    cli("trust", plugins)
    shown = json.loads(cli("tools", "--plugins", plugins, "--shape", "anthropic", "mcp:bees/greet")[1])
    assert [each["name"] for each in shown] == ["mcp__bees__greet"]
    line = GREET.replace("greet", asked)
    code, out, _ = cli(*unattended, "--mode", "yolo", "--plugins", plugins, stdin=line)
    assert (code, json.loads(out)["content"]) == (0, "Hello, Ann.")
    (tmp_path / "no.toml").write_text(
        'schema = 1\n[[rule]]\nid = "no-bees"\neffect = "block"\ntools = ["mcp:bees/*"]\nreason = "they sleep"\n'
    )
    words = ("--mode", "yolo", "--plugins", plugins, "--rules", tmp_path / "no.toml")
    code, out, err = cli(*unattended, *words, stdin=line)
    assert (code, json.loads(out)["ok"], "[no-bees: they sleep]" in err) == (0, False, True)


def test_a_folder_may_stand_in_the_tools_file(
    cli: Cli, unattended: list[str], tmp_path: Path, plugins: Path, objects: Objects
) -> None:
    """Next to those that are named on the command line."""
    other = plugins.with_name("more")
    other.mkdir()
    (other / "wave.py").write_text(plugin("wave"))
    for folder in (plugins, other):
        cli("trust", folder)
    path = tools_file(tmp_path, 'plugins = ["plugins"]')
    out = cli(*unattended, "--tools", path, "--plugins", other, stdin=GREET + GREET.replace("greet", "wave"))[1]
    assert [result["content"] for result in objects(out)] == ["Hello, Ann."] * 2


def test_a_folder_that_is_not_trusted_is_not_loaded(cli: Cli, unattended: list[str], plugins: Path) -> None:
    """Nothing of it runs, nor does the session; the way out is reported."""
    (plugins / "greet.py").write_text(f"open({str(plugins / 'ran')!r}, 'w')")
    code, out, err = cli(*unattended, "--plugins", plugins, stdin=GREET)
    assert (code, out) == (4, "")
    assert f"{plugins}: the plugin folder is not trusted, and a plugin is code" in err
    assert f"`permitry trust {plugins}`" in err
    assert not (plugins / "ran").exists()


def test_a_folder_that_has_changed_is_not_loaded(cli: Cli, unattended: list[str], plugins: Path) -> None:
    """What was read and trusted was something else."""
    cli("trust", plugins)
    (plugins / "greet.py").write_text(plugin().replace("Hello", "Bye"))
    code, _, err = cli(*unattended, "--plugins", plugins, stdin=GREET)
    assert code == 4
    assert "has changed since it was trusted" in err


def test_a_plugin_that_fails_stops_no_other(
    cli: Cli, processes: Processes, unattended: list[str], plugins: Path, objects: Objects
) -> None:
    """It is reported once, with its reason."""
    (plugins / "broken.py").write_text("1 / 0")
    cli("trust", plugins)
    out, err = processes(*unattended, "--plugins", plugins).communicate(GREET.encode(), timeout=20)
    assert objects(out.decode()) == HELLO
    assert err.decode().count("broken.py") == 1
    assert "permitry: failed to load plugins/broken.py: ZeroDivisionError" in err.decode()


def test_a_plugin_takes_no_name_that_is_taken(cli: Cli, unattended: list[str], plugins: Path, objects: Objects) -> None:
    """A tool that only claims to read would pass for a shell that rules know."""
    (plugins / "greet.py").write_text(plugin("run_shell"))
    cli("trust", plugins)
    line = json.dumps({"name": "run_shell", "arguments": {"command": "make"}})
    _, out, err = cli(*unattended, "--plugins", plugins, stdin=line)
    assert objects(out)[0]["ok"] is False
    assert "failed to load plugins/greet.py: the tool `run_shell` is already registered" in err


def test_a_plugin_is_exchanged_only_for_what_is_trusted(
    cli: Cli, processes: Processes, say: Say, unattended: list[str], plugins: Path
) -> None:
    """A change while the session runs leaves the tool as it was, until the user has trusted the new one."""
    cli("trust", plugins)
    process = processes(*unattended, "--plugins", plugins, bufsize=0)
    assert "Hello, Ann." in say(process, GREET.strip())
    (plugins / "greet.py").write_text(plugin().replace("Hello", "Bye"))
    assert "Hello, Ann." in say(process, GREET.strip())
    assert cli("trust", plugins)[0] == 0
    assert "Bye, Ann." in say(process, GREET.strip())
    err = process.communicate(timeout=20)[1].decode()
    assert err.count("has changed since it was trusted") == 1
    assert err.count("loaded the tool greet") == 2


def test_a_tool_says_where_it_is_enabled(cli: Cli, unattended: list[str], plugins: Path, objects: Objects) -> None:
    """Elsewhere it is refused although its name is known, as a call of its own and as a text."""
    (plugins / "greet.py").write_text(plugin(condition='context.auth.mode == "yolo"'))
    cli("trust", plugins)
    text = json.dumps({"role": "assistant", "content": f"<tool_call>{GREET.strip()}</tool_call>"})
    words = [*unattended, "--plugins", plugins, "--text-calls"]
    refused = objects(cli(*words, stdin=f"{GREET}{text}\n")[1])
    assert [result["ok"] for result in refused] == [False, False]
    assert all(result["content"].startswith("The call of `greet` was blocked.") for result in refused)
    allowed = objects(cli(*words, "--mode", "yolo", stdin=f"{GREET}{text}\n")[1])
    assert [result["ok"] for result in allowed] == [True, True]


def test_a_tool_that_cannot_say_whether_it_is_enabled_is_reported_of_once(
    cli: Cli, unattended: list[str], plugins: Path
) -> None:
    """The user learns why it is not there."""
    (plugins / "greet.py").write_text(plugin(condition="1 / 0"))
    cli("trust", plugins)
    _, _, err = cli(*unattended, "--plugins", plugins, stdin=GREET * 2)
    assert err.count("permitry: `enabled` of the tool greet failed: ZeroDivisionError: division by zero\n") == 1


def test_installed_packages_are_asked_for_tools_only_when_named(
    cli: Cli, unattended: list[str], tmp_path: Path, objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """An entry point is a plugin, with `entry_points = true`."""
    (tmp_path / "site" / "greeting-1.dist-info").mkdir(parents=True)
    (tmp_path / "site" / "greeting.py").write_text(plugin())
    (tmp_path / "site" / "greeting-1.dist-info" / "METADATA").write_text("Name: greeting\nVersion: 1\n")
    points = tmp_path / "site" / "greeting-1.dist-info" / "entry_points.txt"
    points.write_text("[permitry.tools]\ngreet = greeting:plugin\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert objects(cli(*unattended, stdin=GREET)[1])[0]["ok"] is False
    _, out, err = cli(*unattended, "--tools", tools_file(tmp_path, "entry_points = true"), stdin=GREET)
    assert objects(out) == HELLO
    assert "loaded the tool greet from greeting:plugin (greet)" in err


# Servers, documents, the web ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ['["false"]', '["/nowhere/server"]'])
def test_a_server_that_does_not_start_is_reported(
    cli: Cli, unattended: list[str], tmp_path: Path, workspace: Path, command: str
) -> None:
    """Nothing runs without it; the message names the server."""
    pytest.importorskip("mcp", reason="the MCP SDK is an extra")
    path = tools_file(tmp_path, f"[mcp.calc]\ncommand = {command}")
    line = json.dumps({"name": "write_file", "arguments": {"path": "a", "content": "b"}})
    code, out, err = cli(*unattended, "--mode", "yolo", "--tools", path, stdin=line)
    assert (code, out) == (4, "")
    assert "the MCP server `calc` cannot be used" in err
    assert list(workspace.iterdir()) == []


def test_nothing_is_started_for_a_session_that_cannot_begin(
    cli: Cli, unattended: list[str], tmp_path: Path, plugins: Path
) -> None:
    """A plugin folder that is not trusted is found before a server is."""
    path = tools_file(tmp_path, f'plugins = ["plugins"]\n[mcp.calc]\ncommand = ["touch", "{tmp_path / "started"}"]')
    code, _, err = cli(*unattended, "--tools", path, stdin=GREET)
    assert code == 4
    assert f"{plugins}: the plugin folder is not trusted" in err
    assert not (tmp_path / "started").exists()


def test_a_bad_tools_file_ends_the_session_before_it_begins(cli: Cli, unattended: list[str], tmp_path: Path) -> None:
    """With the file, the key and the way out."""
    path = tools_file(tmp_path, "[web]\nsearch_shap = 'exa'")
    code, out, err = cli(*unattended, "--tools", path, stdin=GREET)
    assert (code, out) == (4, "")
    assert err.splitlines() == [
        f"{path}: `web.search_shap`: unknown key",
        "      hint: docs/reference/tools-file.md lists what a tools file may hold",
        "1 problem",
    ]


def test_a_corpus_that_is_not_there_is_reported(
    cli: Cli, unattended: list[str], tmp_path: Path, objects: Objects
) -> None:
    """The session goes on without documents: a model is refused what works on them."""
    line = json.dumps({"name": "retrieve_documents", "arguments": {"query": "engine"}})
    code, out, err = cli(*unattended, "--tools", tools_file(tmp_path, 'corpus = "none.sqlite3"'), stdin=line)
    assert (code, objects(out)[0]["ok"]) == (0, False)
    assert f"there is no corpus `{tmp_path / 'none.sqlite3'}` yet" in err
    assert not (tmp_path / "none.sqlite3").exists()


def test_a_corpus_that_is_none_is_refused(cli: Cli, unattended: list[str], tmp_path: Path) -> None:
    """Silence would be a session without documents, and no one would know why."""
    (tmp_path / "bad.sqlite3").write_text("nothing of the kind" * 100)
    code, _, err = cli(*unattended, "--tools", tools_file(tmp_path, 'corpus = "bad.sqlite3"'), stdin=GREET)
    assert code == 4
    assert "bad.sqlite3" in err


def test_documents_that_are_added_meanwhile_are_found(
    cli: Cli, processes: Processes, say: Say, unattended: list[str], tmp_path: Path
) -> None:
    """The tools are there from the next call on."""
    (tmp_path / "a.md").write_text("# The engine\n\nAda Lovelace.\n")
    line = json.dumps({"name": "retrieve_documents", "arguments": {"query": "engine"}})
    process = processes(*unattended, "--tools", tools_file(tmp_path, 'corpus = "c.sqlite3"'), bufsize=0)
    assert "not enabled in this context" in say(process, line) or '"ok": false' in say(process, line)
    assert cli("corpus", "add", tmp_path / "a.md", "--db", tmp_path / "c.sqlite3")[0] == 0
    assert "Ada Lovelace" in say(process, line)


def test_a_redirect_leads_where_the_model_could_go_unasked() -> None:
    """Nowhere before anybody decides; then only where the rules would let a call of its own run."""
    toolset = Toolset()
    assert toolset.may_connect("https://a.example/") == "redirects cannot be decided on yet"
    toolset.judge = ToolHandler(Session())
    assert isinstance(toolset.may_connect("https://a.example/"), str)
    toolset.judge = ToolHandler(Session(yolo_mode=True))
    assert toolset.may_connect("https://a.example/") is True


# Where things lie -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["workspace", "link"])
def test_what_tools_could_change_is_warned_of(
    cli: Cli, unattended: list[str], workspace: Path, tmp_path: Path, where: str
) -> None:
    """A tools file or a corpus in the workspace counts at the next start, as a tool has left it."""
    (workspace / "tools.toml").write_text('schema = 1\ncorpus = "c.sqlite3"')
    (tmp_path / "link").symlink_to(workspace)
    path = tmp_path / where / "tools.toml"
    err = cli(*unattended, "--tools", path, stdin="")[2]
    reported = "lies in the workspace: a tool could change it, and the next session would use it"
    assert f"permitry: `{path}` {reported}\n" in err
    assert f"permitry: `{path.parent / 'c.sqlite3'}` {reported}\n" in err


def test_what_lies_elsewhere_is_not_warned_of(cli: Cli, unattended: list[str], tmp_path: Path) -> None:
    """Silence is the usual case."""
    assert "lies in the workspace" not in cli(*unattended, "--tools", tools_file(tmp_path, ""), stdin="")[2]


def test_the_artifacts_of_a_session_lie_where_the_file_says(
    cli: Cli,
    unattended: list[str],
    workspace: Path,
    tmp_path: Path,
    objects: Objects,
) -> None:
    """Not in the workspace then."""
    (workspace / "long.txt").write_text("".join(f"word number {number}\n" for number in range(5000)))
    path = tools_file(tmp_path, 'artifacts = "kept"')
    line = json.dumps({"name": "run_shell", "arguments": {"command": "cat long.txt"}})
    out = cli(*unattended, "--tools", path, stdin=line)[1]
    (kept,) = (tmp_path / "kept").glob("[!.]*")
    assert kept.stem in objects(out)[0]["content"]
    assert [each.name for each in workspace.iterdir()] == ["long.txt"]


@pytest.mark.parametrize("words", [["tools", "--rules", "permitry:base"], ["run", "-", "--rules", "permitry:base"]])
def test_what_is_not_used_is_not_loaded(words: list[str], workspace: Path, record: Path) -> None:
    """No HTTP, no MCP and no server of a database for a session without them; a list of tools needs no store."""
    code = (
        "import sys\nfrom permitry.cli.main import main\nmain(sys.argv[1:])\n"
        "slow = {'httpx', 'mcp', 'fastmcp', 'psycopg', 'anyio', *(['sqlite3'] if 'tools' in sys.argv else [])}\n"
        "sys.exit(','.join(sorted(slow & set(sys.modules))) or 0)"
    )
    places = ["--workspace", str(workspace), *(["--record", str(record)] if words[0] == "run" else [])]
    line = b'{"name": "list_files", "arguments": {}}\n'
    command = [sys.executable, "-c", code, *words, *places]
    done = subprocess.run(command, input=line, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"(no files)" in done.stdout or b"list_files" in done.stdout


# Plans ------------------------------------------------------------------------------------------------------------

PLAN = json.dumps({"id": "p", "name": "present_plan", "arguments": {"plan": "1. write"}}) + "\n"


def test_without_a_human_a_plan_changes_nothing(
    cli: Cli, unattended: list[str], objects: Objects, recorded: Callable[[], list[dict[str, Any]]]
) -> None:
    """Plan mode stays, and the call is answered and recorded."""
    code, out, _ = cli(*unattended, "--mode", "plan", stdin=PLAN + PLAN.replace('"p"', '"q"'))
    assert code == 0
    assert all("There was no answer" in each["content"] for each in objects(out)[:2])
    assert [each["mode"] for each in recorded() if each["event"] == "decided"] == ["plan", "plan"]
    assert [each["approved"] for each in recorded() if each["event"] == "answered"] == [False, False]


def test_outside_of_plan_mode_there_is_no_plan_to_present(cli: Cli, unattended: list[str], objects: Objects) -> None:
    """There is nothing to leave."""
    _, out, _ = cli(*unattended, stdin=PLAN)
    assert "There is no tool `present_plan`" in objects(out)[0]["content"]


def test_a_plugin_may_present_plans_itself(cli: Cli, unattended: list[str], plugins: Path, objects: Objects) -> None:
    """Ours takes no name that is taken."""
    (plugins / "greet.py").write_text(plugin("present_plan"))
    cli("trust", plugins)
    call = PLAN.replace('{"plan": "1. write"}', '{"who": "Ann"}')
    _, out, _ = cli(*unattended, "--mode", "plan", "--plugins", plugins, stdin=call)
    assert objects(out)[0]["content"] == "Hello, Ann."


class _Channel:
    """Answers in a given way, or fails."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def ask(self, _: object) -> Any:  # noqa: ANN401 -- wrong answers are to be tried
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@for_each("answer", [None, "yes", True, ValueError("gone")])
def test_a_channel_that_fails_approves_no_plan(answer: object) -> None:
    """What is not an answer is on record as none."""
    toolset = Toolset()
    call = ToolCall("present_plan", {"plan": "x"})
    assert toolset.review(call) is None
    recorder = MemoryRecorder()
    toolset.judge = ToolHandler(Session(), channel=_Channel(answer), recorder=recorder)
    assert toolset.review(call) is None
    asked, answered = recorder.records
    assert (asked["event"], answered["event"], answered["approved"]) == ("asked", "answered", False)
    assert (answered["error"] is None) == (answer is None)
