"""`permitry parse`: one text, or a batch of them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

Cli = Callable[..., tuple[int, str, str]]
Objects = Callable[[str], list[dict[str, Any]]]

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
BROKEN = "<tool_call>{'name': 'add', 'arguments': {'a': 1}}</tool_call>"
XML = "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
SCHEMA = {"properties": {"a": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "add", "parameters": SCHEMA}}


@pytest.fixture
def parse(cli: Cli) -> Callable[..., dict[str, Any]]:
    """Return a function that parses one text to JSON."""

    def parsed(text: str, *words: object) -> dict[str, Any]:
        code, out, err = cli("parse", "--json", *words, stdin=text)
        assert (code, err) == (0, "")
        answer: dict[str, Any] = json.loads(out)
        return answer

    return parsed


@pytest.fixture
def batch(cli: Cli, objects: Objects) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    """Return a function that parses lines of JSON: the exit code, and the answers."""

    def parsed(*lines: object, words: tuple[object, ...] = ()) -> tuple[int, list[dict[str, Any]]]:
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        code, out, err = cli("parse", "--batch", *words, stdin=text)
        assert err == ""
        return code, objects(out)

    return parsed


# One text -------------------------------------------------------------------------------------------------------------


def test_a_text_becomes_calls_content_and_reasoning(parse: Callable[..., dict[str, Any]]) -> None:
    """Each in its place; a call has its format, its place, and whether its tool is known."""
    call = {"name": "add", "arguments": {"a": 1}, "id": None, "format": "tool_call_json"}
    span = [len("<think>Well.</think>I add. "), len(f"<think>Well.</think>I add. {CALL}")]
    assert parse(f"<think>Well.</think>I add. {CALL}") == {
        "calls": [{**call, "span": span, "is_known": None, "repaired": False}],
        "content": "I add. ",
        "reasoning": "Well.",
        "diagnostics": [],
    }


@for_each(
    ("tool", "is_typed"),
    [
        ({"name": "add", "parametersJsonSchema": SCHEMA}, True), ({"name": "add", "inputSchema": SCHEMA}, True),
        ({"name": "add", "input_schema": SCHEMA}, True), ({"functionDeclarations": [{"name": "add"}]}, False),
        ({"functionDeclarations": [{"name": "add", "parameters": SCHEMA}]}, True), ("add", False),
    ],
)  # fmt: skip
def test_tools_are_understood_as_any_provider_has_them(
    parse: Callable[..., dict[str, Any]], tmp_path: Path, tool: object, *, is_typed: bool
) -> None:
    """And as names alone."""
    (tmp_path / "tools.json").write_text(json.dumps([tool]))
    call = parse(XML, "--tools", tmp_path / "tools.json")["calls"][0]
    untyped = parse(XML)["calls"][0]["arguments"]
    assert (call["arguments"], call["is_known"]) == ({"a": "1"} if is_typed else untyped, True)


def test_people_are_reported_in_lines(cli: Cli) -> None:
    """One for each call, then what was said and thought."""
    code, out, err = cli("parse", stdin=f"<think>Well.</think>I add. {CALL}")
    assert (code, err) == (0, "")
    assert out == 'call    add {"a": 1} (tool_call_json)\ncontent I add.\nreasons Well.\n'


def test_what_looks_like_a_call_is_noted(cli: Cli) -> None:
    """On standard error, with its place."""
    code, out, err = cli("parse", stdin=BROKEN)
    assert (code, out) == (0, f"content {BROKEN}\n")
    assert err.splitlines()[0].startswith(f"note    0-{len(BROKEN)}: not valid JSON")
    assert err.splitlines()[1] == "no call"


def test_repair_mends_and_says_so(cli: Cli, parse: Callable[..., dict[str, Any]]) -> None:
    """Only when it is asked for."""
    assert parse(BROKEN)["calls"] == []
    assert [call["repaired"] for call in parse(BROKEN, "--repair")["calls"]] == [True]
    assert cli("parse", "--repair", stdin=BROKEN)[1] == 'call    add {"a": 1} (tool_call_json, repaired)\n'


@for_each("wrapped", [False, True])
def test_tools_say_what_is_known_and_of_which_type(
    cli: Cli, parse: Callable[..., dict[str, Any]], tmp_path: Path, *, wrapped: bool
) -> None:
    """A list as the API takes it, or a whole request with one."""
    (tmp_path / "tools.json").write_text(json.dumps({"model": "m", "tools": [TOOL]} if wrapped else [TOOL]))
    call = parse(XML, "--tools", tmp_path / "tools.json")["calls"][0]
    assert (call["arguments"], call["is_known"]) == ({"a": "1"}, True)
    other = CALL.replace("add", "lift")
    assert "unknown tool" in cli("parse", "--tools", tmp_path / "tools.json", stdin=other)[1]


def test_a_format_may_be_named(parse: Callable[..., dict[str, Any]]) -> None:
    """Then calls of others are text."""
    assert parse(CALL, "--format", "tool_call_json")["calls"] != []
    assert parse(CALL, "--format", "mistral")["calls"] == []


def test_formats_are_listed(cli: Cli) -> None:
    """One a line; nothing is read."""
    code, out, _ = cli("parse", "--formats", stdin=b"\xff")
    assert code == 0
    assert {"auto", "tool_call_json", "mistral"} <= set(out.splitlines())


def test_a_file_is_read(cli: Cli, tmp_path: Path) -> None:
    """As standard input is."""
    (tmp_path / "a.txt").write_text(CALL)
    assert cli("parse", tmp_path / "a.txt")[1] == 'call    add {"a": 1} (tool_call_json)\n'


def test_nothing_holds_no_call(cli: Cli, parse: Callable[..., dict[str, Any]]) -> None:
    """An empty text is a text."""
    assert cli("parse") == (0, "", "no call\n")
    assert parse("") == {"calls": [], "content": "", "reasoning": "", "diagnostics": []}


def test_what_a_model_wrote_is_harmless(cli: Cli) -> None:
    """No escape sequence reaches the terminal, and no line is forged."""
    name = "a\\u001b[2J\\ncall    forged"
    _, out, _ = cli("parse", stdin=f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>\x1b[2J\u202e')
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert not any(line.startswith("call    forged") for line in out.splitlines())


@for_each(
    ("words", "expected"),
    [
        (("nowhere.txt",), "cannot read `nowhere.txt`: No such file or directory"),
        ((".",), "cannot read `.`: Is a directory"),
        (("--format", "mistrall"), "unknown format `mistrall`; did you mean `mistral`?"),
        (("--format", "mistrall", "--batch"), "unknown format `mistrall`; did you mean `mistral`?"),
        (("--tools", "nowhere.json"), "cannot read `nowhere.json`: No such file or directory"),
        (("--tools", "text.json"), "`text.json` is not JSON"),
        (("--tools", "object.json"), "`object.json` has no list of tools"),
        (("--tools", "bytes.json"), "`bytes.json` is not JSON"),
        (("--tools", "odd.json"), "the tools `odd.json`[1] is not a tool: a tool is an object with `name`"),
        (("bytes.json",), "`bytes.json` is not UTF-8 text"),
    ],
)
def test_what_cannot_be_used_is_refused(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], expected: str
) -> None:
    """With what it is, and exit code 4."""
    (tmp_path / "text.json").write_text("tools")
    (tmp_path / "object.json").write_text('{"tools": 3}')
    (tmp_path / "odd.json").write_text('["add", {"nam": "lift"}]')
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("parse", *words, stdin=CALL)
    assert (code, out) == (4, "")
    assert expected in err


def test_a_text_that_is_too_long_is_refused(cli: Cli) -> None:
    """As a line would be."""
    code, _, err = cli("parse", stdin=b"a" * (8 * 1024 * 1024 + 1))
    assert (code, err) == (4, "permitry: `-` is longer than 8388608 bytes\n")


def test_a_long_text_is_parsed(parse: Callable[..., dict[str, Any]]) -> None:
    """Up to the bound, also where it looks like a call all the time."""
    assert len(parse("<tool_call>" * 100_000 + CALL)["content"]) > 100_000


# A batch --------------------------------------------------------------------------------------------------------------


def test_a_batch_has_an_answer_for_every_line(batch: Callable[..., tuple[int, list[dict[str, Any]]]]) -> None:
    """In order, each with the id of its line."""
    code, answers = batch({"id": 1, "text": CALL}, "", {"id": {"any": "thing"}, "text": "no"}, {"text": ""})
    assert code == 0
    assert [answer["id"] for answer in answers] == [1, {"any": "thing"}, None]
    assert [len(answer["calls"]) for answer in answers] == [1, 0, 0]
    assert set(answers[0]) == {"id", "calls", "content", "reasoning", "diagnostics"}


def test_a_line_has_tools_and_a_format_of_its_own(
    batch: Callable[..., tuple[int, list[dict[str, Any]]]], tmp_path: Path
) -> None:
    """Where it has none, the options count."""
    (tmp_path / "tools.json").write_text('[{"name": "lift"}]')
    lines = (
        {"text": XML},
        {"text": XML, "tools": [TOOL]},
        {"text": XML, "format": "mistral"},
        {"text": XML, "tools": None},
    )
    _, answers = batch(*lines, words=("--tools", tmp_path / "tools.json"))
    calls = [answer["calls"] for answer in answers]
    assert [[call["is_known"] for call in each] for each in calls] == [[False], [True], [], [False]]
    assert calls[1][0]["arguments"] == {"a": "1"}


def test_chunks_give_what_the_whole_text_gives(batch: Callable[..., tuple[int, list[dict[str, Any]]]]) -> None:
    """However it is cut; the text may stand next to them."""
    text = f"<think>a</think>I add. {CALL}"
    pieces = [list(text), [text[:30], "", text[30:]]]
    _, (whole, *streamed) = batch({"text": text}, {"chunks": pieces[0]}, {"text": text, "chunks": pieces[1]})
    assert streamed == [whole, whole]


def test_a_bad_line_stops_no_other(batch: Callable[..., tuple[int, list[dict[str, Any]]]]) -> None:
    """Each is answered with its number, its id as far as it can be read, and what is wrong; the exit code is 4."""
    bad: list[object] = [
        "{",
        "[1]",
        {"id": 3},
        {"id": 4, "text": 4},
        {"id": 5, "text": "a", "txt": "b"},
        {"id": 6, "text": "a", "format": "nope"},
        {"id": 7, "text": "a", "tools": {}},
        {"id": 8, "chunks": "a"},
        {"id": 9, "chunks": ["a", 3]},
        {"id": 10, "text": "a", "chunks": ["b"]},
    ]
    code, answers = batch(*bad, {"id": 11, "text": "fine"})
    assert code == 4
    assert [answer.get("id") for answer in answers] == [None, None, *range(3, 12)]
    assert [answer["error"]["line"] for answer in answers[:-1]] == list(range(1, 11))
    messages = [answer["error"]["message"] for answer in answers[:-1]]
    assert messages[2:4] == ["`text` must be a string"] * 2
    assert messages[4] == "unknown key `txt`; known: chunks, format, id, text, tools"
    assert messages[5].startswith("unknown format `nope`")
    assert messages[-1] == "`chunks` put together are not `text`"
    assert answers[-1]["content"] == "fine"


def test_a_batch_of_bytes_is_reported_line_by_line(cli: Cli, objects: Objects) -> None:
    """What is not UTF-8 is one bad line."""
    code, out, _ = cli("parse", "--batch", stdin=b'\xff\n{"id": 2, "text": "a"}\n')
    assert code == 4
    assert [answer.get("id") for answer in objects(out)] == [None, 2]


def test_half_a_surrogate_pair_comes_back(batch: Callable[..., tuple[int, list[dict[str, Any]]]]) -> None:
    """JSON can spell what is not text; it is given back as it was."""
    _, (answer,) = batch('{"text": "a\\ud800"}')
    assert answer["content"] == "a\ud800"


def test_answers_do_not_wait(
    processes: Callable[..., subprocess.Popen[bytes]], say: Callable[[subprocess.Popen[bytes], str], str]
) -> None:
    """A line is answered before the next one is there."""
    process = processes("parse", "--batch", "-", bufsize=0)
    assert json.loads(say(process, json.dumps({"id": 1, "text": CALL})))["id"] == 1
    assert json.loads(say(process, json.dumps({"id": 2, "text": CALL})))["id"] == 2


@for_each("words", [["parse", "--formats"], ["parse", "--help"]])
def test_starting_loads_little(words: list[str]) -> None:
    """No tools, no HTTP, no MCP, no database, no tables."""
    code = (
        "import sys\nfrom permitry.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "slow = {'httpx', 'mcp', 'sqlite3', 'rich', 'asyncio', 'permitry_tools'}\n"
        "sys.exit(','.join(sorted(slow & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
