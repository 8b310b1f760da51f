"""The tools file: what it may hold, and how mistakes in it are reported."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.errors import ConfigError
from permitry_tools.mcp import McpServer
from permitry_tools.settings import ToolsFile, read_tools_file
from permitry_tools.web.settings import WebSettings

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a tools file."""

    def written(text: str) -> Path:
        path = tmp_path / "tools.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def shown(path: Path) -> list[str]:
    """Return the mistakes of a file that is refused; each names the file and the way out."""
    with pytest.raises(ConfigError) as caught:
        read_tools_file(path)
    problems = caught.value.problems
    assert {problem.path for problem in problems} == {str(path)}
    assert all("tools-file.md" in problem.hint for problem in problems)
    return [problem.message for problem in problems]


def test_an_empty_file_adds_nothing(write: Write) -> None:
    """The version is all that must be there."""
    assert read_tools_file(write("schema = 1")) == ToolsFile(schema=1)


def test_paths_are_relative_to_the_file(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever folder permitry is started in; an absolute path stays."""
    path = write(
        'schema = 1\nplugins = ["a", "/srv/b"]\ncorpus = "c.sqlite3"\nartifacts = "/srv/kept"\n'
        '[web]\nca_file = "ca.pem"\n[mcp.one]\ncommand = ["x"]\nfolder = "d"\n[mcp.two]\ncommand = ["x"]'
    )
    monkeypatch.chdir("/")
    file = read_tools_file(path)
    assert file.plugins == [str(tmp_path / "a"), "/srv/b"]
    assert (file.corpus, file.artifacts) == (str(tmp_path / "c.sqlite3"), "/srv/kept")
    assert file.web is not None
    assert file.web.ca_file == str(tmp_path / "ca.pem")
    assert [server.folder for server in file.servers()] == [str(tmp_path / "d"), str(tmp_path)]


def test_the_file_may_be_named_relatively(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its paths are absolute all the same."""
    write('schema = 1\ncorpus = "c.sqlite3"')
    monkeypatch.chdir(tmp_path)
    assert read_tools_file(Path("tools.toml")).corpus == str(tmp_path / "c.sqlite3")


def test_web_settings_are_those_of_the_tools(write: Write) -> None:
    """All of them may be given; what is left out has the default."""
    text = 'search_endpoint = "https://s.example"\nsearch_shape = "exa"\nsearch_key = "k"\ntimeout = 5'
    file = read_tools_file(write(f"schema = 1\n[web]\n{text}"))
    assert file.web is not None
    assert file.web.settings() == WebSettings("https://s.example", "exa", "k", timeout=5.0)
    assert read_tools_file(write("schema = 1\n[web]")).web is not None


def test_servers_keep_their_order_and_their_settings(write: Write, tmp_path: Path) -> None:
    """The first word of a command is the program."""
    text = (
        'schema = 1\n[mcp.b]\ncommand = ["python", "-m", "b"]\nenv = { A = "1" }\ntimeout = 5\n'
        '[mcp.a]\nurl = "https://a.example/mcp"\nheaders = { authorization = "Bearer x" }\ntrust_annotations = true'
    )
    one, other = read_tools_file(write(text)).servers()
    assert one == McpServer("b", "python", ("-m", "b"), env={"A": "1"}, timeout=5.0, folder=str(tmp_path))
    assert other == McpServer(
        "a", url="https://a.example/mcp", headers={"authorization": "Bearer x"}, trust_annotations=True
    )


@for_each(
    ("text", "message"),
    [
        ("", "`schema`: is missing"),
        ("schema = 2", "`schema`: "),
        ("schema = true", "`schema`: "),
        ("schema = 1\nplugin = ['a']", "`plugin`: unknown key"),
        ("schema = 1\nplugins = 'a'", "`plugins`: must be a list"),
        ("schema = 1\nplugins = ['']", "`plugins.0`: "),
        ("schema = 1\nplugins = ['a', 3]", "`plugins.1`: "),
        ("schema = 1\ncorpus = ''", "`corpus`: "),
        ("schema = 1\nentry_points = 1", "`entry_points`: "),
        ("schema = 1\nweb = true", "`web`: must be a table"),
        ("schema = 1\n[web]\nsearch_shape = 'bing'", "`web.search_shape`: "),
        ("schema = 1\n[web]\nsearch_endpoint = 'ftp://s'", "`web.search_endpoint`: the search endpoint `ftp://s`"),
        ("schema = 1\n[web]\ntimeout = 0", "`web.timeout`: "),
        ("schema = 1\n[web]\ntimeout = inf", "`web.timeout`: "),
        ("schema = 1\n[web]\nmax_bytes = 1.5", "`web.max_bytes`: "),
        ("schema = 1\nmcp = 3", "`mcp`: must be a table"),
        ("schema = 1\nmcp.a = 3", "`mcp.a`: must be a table"),
        ("schema = 1\n[mcp.a]", "`mcp.a`: the MCP server `a` needs either a command or an address"),
        ("schema = 1\n[mcp.a]\ncommand = ['x']\nurl = 'http://x'", "`mcp.a`: the MCP server `a` needs either"),
        ("schema = 1\n[mcp.a]\ncommand = []", "`mcp.a.command`: "),
        ("schema = 1\n[mcp.a]\ncommand = 'x'", "`mcp.a.command`: must be a list"),
        ("schema = 1\n[mcp.a]\ncommand = ['x']\nenv = { A = 1 }", "`mcp.a.env.A`: "),
        ("schema = 1\n[mcp.a]\ncommand = ['x']\ntimeout = nan", "`mcp.a.timeout`: "),
        ("schema = 1\n[mcp.'a/b']\ncommand = ['x']", "`mcp.a/b`: the server 'a/b' holds a slash"),
        ("schema = 1\n[mcp.a]\nurl = 'ftp://x'", "`mcp.a`: the address of the MCP server `a` is not http or https"),
        ("schema 1", "is not TOML: "),
        ("a = " + "[" * 5000, "is not TOML: "),
    ],
)
def test_a_mistake_names_its_key(write: Write, text: str, message: str) -> None:
    """One line for each, with the file and the way out."""
    (only,) = shown(write(text))
    assert only.startswith(message)


def test_all_mistakes_are_reported(write: Write) -> None:
    """Not one after the other, each time the file is tried."""
    text = "schema = 1\ncolour = 1\n[web]\ntimeout = -1\n[mcp.a]\ncomand = ['x']"
    assert [message.split(":")[0] for message in shown(write(text))] == ["`web.timeout`", "`mcp.a.comand`", "`colour`"]
    text = "schema = 1\n[web]\nsearch_endpoint = 'x'\n[mcp.a]\n[mcp.b]"
    assert [message.split(":")[0] for message in shown(write(text))] == ["`web.search_endpoint`", "`mcp.a`", "`mcp.b`"]


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """Missing, a folder, or no text."""
    (tmp_path / "bytes.toml").write_bytes(b"schema = 1 # \xff")
    assert shown(tmp_path / "none.toml") == ["cannot be read: No such file or directory"]
    assert shown(tmp_path) == ["cannot be read: Is a directory"]
    assert shown(tmp_path / "bytes.toml")[0].startswith("is not TOML: ")


def test_secrets_are_not_told(write: Write) -> None:
    """A key or a header does not stand in a mistake next to it."""
    text = (
        "schema = 1\n[web]\nsearch_key = 'hunter2'\nsearch_shape = 'x'\n"
        "[mcp.a]\nheaders = { a = 'hunter2' }\nurl = 'http://a.example'\ntimeout = 0"
    )
    assert "hunter2" not in "".join(shown(write(text)))


def test_the_families_of_shell_tools_are_chosen(write: Write) -> None:
    """Without a choice they are those that do without a second form."""
    assert read_tools_file(write("schema = 1")).shell == ["run_shell", "run_shell_bg", "shell", "exec_command"]
    assert read_tools_file(write('schema = 1\nshell = ["unified_exec"]')).shell == ["unified_exec"]
    assert read_tools_file(write("schema = 1\nshell = []")).shell == []


@for_each(("value", "message"))
def test_an_unknown_family_is_refused(write: Write, value: str, message: str) -> None:
    """With the nearest one."""
    (found,) = shown(write(f"schema = 1\nshell = {value}"))
    assert found.startswith(message)
