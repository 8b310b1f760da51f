"""`permitry check`: one answer a line, in order, and nothing runs."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.cli.check import exit_code, invalid
from permitry.cli.inputs import single_call
from permitry.errors import CallError

Outcome = tuple[int, str, str]
Lines = list[dict[str, Any]]
Objects = Callable[[str], Lines]

KEYS = ["id", "verdict", "rule", "phase", "reason", "message", "source", "errors", "origins"]
BASE = ("check", "--rules", "permitry:base")
READ = '{"name": "read_file", "arguments": {"path": "README.md"}}'
PAY = '{"name": "send_money", "arguments": {}}'
# Prints the peak of the process's memory in KiB; what the kernel tells its parent would include the parent's own.
MEASURED = """
import re, sys
from permitry.cli.main import main
main(sys.argv[1:])
with open("/proc/self/status") as status:
    print(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1], file=sys.stderr)
"""
TRUST = '{"name": "permitry_trust", "arguments": {}}'

BAD_LINES = [
    ("no JSON", b'{"name": "read_file", "argum', "not valid JSON"),
    ("NaN", b'{"name": "read_file", "arguments": {"x": NaN}}', "NaN is not JSON"),
    ("too large a number", b'{"name": "read_file", "arguments": {"x": 1e999}}', "line 3: "),
    ("duplicate key", b'{"name": "read_file", "name": "bash", "arguments": {}}', "the key `name` occurs twice"),
    ("not UTF-8", b'{"name": "read_\xff", "arguments": {}}', "not UTF-8"),
    ("byte order mark", b"\xef\xbb\xbf" + READ.encode(), "not valid JSON"),
    ("a list", b'["read_file"]', "a line is a JSON object"),
    ("no name", b'{"arguments": {}}', "the key `name` is missing"),
    ("no arguments", b'{"name": "read_file"}', "the key `arguments` is missing"),
    ("empty name", b'{"name": "", "arguments": {}}', "non-empty string"),
    ("invisible name", '{"name": "read_file\u200b", "arguments": {}}'.encode(), "invisible characters"),
    ("arguments are a list", b'{"name": "read_file", "arguments": []}', "must be a JSON object"),
    ("misspelt key", b'{"name": "x", "arguments": {}, "contxt": {}}', "did you mean `context`?"),
    ("misspelt context", b'{"name": "x", "arguments": {}, "context": {"mod": "plan"}}', "did you mean `mode`?"),
    ("template of a wrong type", b'{"name": "x", "arguments": {}, "context": {"template": 7}}', "must be a name"),
    ("unknown template", b'{"name": "x", "arguments": {}, "context": {"template": "tidy"}}', "unknown template `tidy`"),
    ("mode of a wrong type", b'{"name": "x", "arguments": {}, "context": {"mode": 1}}', "must be a string"),
    ("misspelt mode", b'{"name": "x", "arguments": {}, "context": {"mode": "Plan"}}', "did you mean `plan`?"),
    ("flag of a wrong type", b'{"name": "x", "arguments": {}, "context": {"yolo_mode": 1}}', "must be true or false"),
    ("context of a wrong type", b'{"name": "x", "arguments": {}, "context": "yolo"}', "`context` must be an object"),
    ("agent of a wrong type", b'{"name": "x", "arguments": {}, "agent": 7}', "`agent` must be a string"),
    ("unknown kind", b'{"name": "x", "arguments": {}, "kind": "magic"}', "unknown kind 'magic'"),
    ("hint of a wrong type", b'{"name": "x", "arguments": {}, "annotations": {"readOnlyHint": 1}}', "must be true"),
]  # fmt: skip


def test_what_an_expansion_becomes_is_said(cli: Callable[..., Outcome]) -> None:
    """Where a command is not permitted; next to the answer, on standard error."""
    _, _, err = cli(*BASE, "--workspace", "/w", "--tool", "run_shell", "--arg", "command=rm -rf $(pwd)")
    assert "`$(pwd)` is now `/w`" in err


def test_an_answer_has_exactly_these_keys(cli: Callable[..., Outcome], objects: Objects) -> None:
    """Every answer line holds the nine keys, in this order."""
    _, out, err = cli(*BASE, "--json", "--call", '{"id": 7, "name": "send_money", "arguments": {}}')
    (answer,) = objects(out)
    assert (list(answer), err) == (KEYS, "")
    assert (answer["id"], answer["verdict"], answer["rule"]) == (7, "confirm", "ask-payment")
    assert (answer["phase"], answer["reason"]) == ("restriction", "moves money")
    assert answer["message"].startswith("This call needs the user's confirmation before it runs: moves money. ")
    assert (answer["source"], answer["errors"]) == ("permitry:money:7", [])


def test_a_list_in_place_of_a_command_switches_no_rule_off(
    cli: Callable[..., Outcome], objects: Objects, tmp_path: Path
) -> None:
    """Each way to run it counts."""
    rules = '[[rule]]\nid = "all"\neffect = "allow"\ntools = ["*"]\n'
    rules += '[[rule]]\nid = "no"\neffect = "block"\nwhen.command = "git push *"\n'
    (tmp_path / "rules.toml").write_text(f"schema = 1\n{rules}")
    for words in (["git push"], ["git", "push"], ["ls", "; git push"], ["ls", ";", "git", "push"], ["a;git", "push"]):
        call = json.dumps({"name": "run_shell", "arguments": {"command": words}})
        code, out, _ = cli("check", "--rules", str(tmp_path / "rules.toml"), "--json", "--call", call)
        assert (code, objects(out)[0]["rule"]) == (2, "no")


def test_the_default_names_no_rule(cli: Callable[..., Outcome], objects: Objects, asked: Callable[..., str]) -> None:
    """A call that no rule matched is confirmed, with neither rule nor source."""
    code, out, _ = cli(*BASE, "--json", "--call", asked("write_file"))
    (answer,) = objects(out)
    assert code == 3
    assert (answer["verdict"], answer["rule"], answer["phase"], answer["source"]) == ("confirm", None, "default", None)


@for_each("call_id", [None, 0, "call_1"])
def test_the_id_comes_back_as_it_is(cli: Callable[..., Outcome], objects: Objects, call_id: object) -> None:
    """A text or a number comes back as it came."""
    line = json.dumps({"id": call_id, "name": "read_file", "arguments": {}})
    assert objects(cli(*BASE, "--json", "--call", line)[1])[0]["id"] == call_id


@for_each("call_id", [["a"], {"n": 1}, False, 1.5])
def test_what_is_no_id_does_not_come_back(cli: Callable[..., Outcome], objects: Objects, call_id: object) -> None:
    """A structure of any depth could be read and not be written."""
    line = json.dumps({"id": call_id, "name": "read_file", "arguments": {}})
    assert objects(cli(*BASE, "--json", "--call", line)[1])[0]["id"] is None


@for_each(("call", "code"), [(READ, 0), (TRUST, 2), (PAY, 3), ("{}", 4)])
def test_one_call_gives_its_exit_code(cli: Callable[..., Outcome], call: str, code: int) -> None:
    """0 is allowed, 2 blocked, 3 needs confirmation, 4 invalid."""
    assert cli(*BASE, "--call", call)[0] == code


@for_each(
    ("calls", "code"),
    [
        ([READ, READ], 0),
        ([PAY, READ], 3),
        ([TRUST, PAY, READ], 2),
        ([READ, PAY, TRUST], 2),
        ([READ, "?", PAY, TRUST], 4),
    ],
)
def test_a_batch_reports_the_most_serious(cli: Callable[..., Outcome], calls: list[str], code: int) -> None:
    """Of several outcomes invalid input counts most, then a block, then a confirmation, wherever they stand."""
    assert cli(*BASE, "--calls", "-", stdin="\n".join(calls))[0] == code


@for_each("nothing", ["", "\n", " \n\n"])
@for_each("command", ["check", "explain"])
def test_no_call_is_invalid_input(cli: Callable[..., Outcome], command: str, nothing: str) -> None:
    """Who asks nothing is shown that: the program that was to write the calls may have died."""
    code, out, err = cli(command, "--rules", "permitry:base", "--calls", "-", stdin=nothing)
    assert (code, out, err) == (4, "", "permitry: there is no call in the input\n")


def test_a_models_message_is_reported_apart(cli: Callable[..., Outcome]) -> None:
    """A message of a model given to `check` gets an error that names the command that reads it."""
    code, out, _ = cli(*BASE, "--call", '{"role": "assistant", "tool_calls": []}')
    assert code == 4
    assert "this is a message of a model, which `permitry run` reads" in out


def test_an_output_that_lacks_a_character_gets_its_number(
    processes: Callable[..., subprocess.Popen[bytes]], asked: Callable[..., str]
) -> None:
    """Where the output cannot show a character its number is printed, and nothing breaks."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = processes(*BASE, "--call", asked("größe"), env=environment)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (3, b"")
    assert b"gr\\xf6\\xdfe" in out


@for_each(("line", "error"), [case[1:] for case in BAD_LINES], ids=[case[0] for case in BAD_LINES])
def test_a_line_that_is_not_a_call_is_a_block(
    cli: Callable[..., Outcome], objects: Objects, line: bytes, error: str
) -> None:
    """An invalid line is answered with a block that says where and why, and its neighbours are decided."""
    code, out, _ = cli(*BASE, "--json", "--calls", "-", stdin=b"\n".join([READ.encode(), b"", line, PAY.encode()]))
    first, bad, last = objects(out)
    assert (code, first["verdict"], last["verdict"]) == (4, "allow", "confirm")
    assert list(bad) == KEYS
    assert (bad["verdict"], bad["rule"], bad["phase"]) == ("block", None, "input")
    assert bad["errors"][0].startswith("line 3: ")
    assert error in bad["errors"][0]


def test_a_long_line_is_a_block(cli: Callable[..., Outcome], objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line over the limit is answered like any invalid line, and the next one is decided."""
    monkeypatch.setattr("permitry.cli.inputs._LONGEST_LINE", 64)
    code, out, _ = cli(*BASE, "--json", "--calls", "-", stdin=f"{' ' * 100}{READ}\n{READ}\n")
    bad, last = objects(out)
    assert (code, bad["verdict"], last["verdict"]) == (4, "block", "allow")
    assert bad["errors"] == ["line 1: the line is longer than 64 bytes"]


def test_an_invalid_line_keeps_its_id(cli: Callable[..., Outcome], objects: Objects) -> None:
    """Who asks can tell which question was bad, as long as the line is JSON."""
    assert objects(cli(*BASE, "--json", "--call", '{"id": "q1"}')[1])[0]["id"] == "q1"


def test_a_batch_comes_from_a_file(cli: Callable[..., Outcome], objects: Objects, tmp_path: Path) -> None:
    """`--calls FILE` answers the lines of the file in order."""
    path = tmp_path / "calls.jsonl"
    path.write_text(f"{PAY}\n{READ}\n{TRUST}\n")
    _, out, _ = cli(*BASE, "--json", "--calls", path)
    assert [answer["verdict"] for answer in objects(out)] == ["confirm", "allow", "block"]


def test_the_context_is_taken_at_its_word(
    cli: Callable[..., Outcome], objects: Objects, asked: Callable[..., str]
) -> None:
    """Mode, ignore list, template and annotations of a line reach the rules."""
    lines = [
        asked("write_file", context={"yolo_mode": True}),
        asked("write_file", context={"is_plan_mode": True, "yolo_mode": True}),
        asked("write_file", context={"mode": "plan"}),
        asked("write_file", context={"tool_ignore_list": ["write_file"]}),
        asked("write_file", context={"template": {"name": "own", "allow_tools": ["write_*"]}}),
        asked("look", annotations={"readOnlyHint": True}),
    ]
    _, out, _ = cli(*BASE, "--json", "--calls", "-", stdin="\n".join(lines))
    rules = [answer["rule"] for answer in objects(out)]
    assert rules == ["yolo", "plan-mode", "plan-mode", "ignore-list", "template", "read-only"]


def test_a_template_is_one_of_the_rules(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """A context may name a template of the rule files."""
    words = ("check", "--rules", "permitry:coding-agent", "--call")
    assert cli(*words, asked("write_file", context={"template": "edit"}))[0] == 0
    assert cli(*words, asked("write_file", context={"template": "review"}))[0] == 3


def test_a_human_reads_one_line_a_call(cli: Callable[..., Outcome]) -> None:
    """Without `--json` an answer is verdict, tool, rule, source and reason."""
    _, out, err = cli(*BASE, "--calls", "-", stdin=f"{PAY}\n{READ}\n")
    pays, reads = out.splitlines()
    assert pays == "confirm send_money  ask-payment (permitry:money:7): moves money"
    assert reads.startswith("allow   read_file  read-only (built-in): ")
    assert err == ""


def test_a_rule_without_a_reason_is_named_alone(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    """Nothing is said about what the file does not say, by `explain` neither."""
    rules = tmp_path / "rules.toml"
    rules.write_text('schema = 1\n[[rule]]\nid = "a"\neffect = "allow"\ntools = ["x"]\n', encoding="utf-8")
    assert cli("check", "--rules", str(rules), "--tool", "x")[1] == f"allow   x  a ({rules}:2)\n"
    assert "  reason " not in cli("explain", "--rules", str(rules), "--tool", "x")[1]


def test_a_human_reads_what_is_wrong(cli: Callable[..., Outcome]) -> None:
    """Without `--json` the error of an invalid line is below it."""
    _, out, _ = cli(*BASE, "--call", "{}")
    assert out == "block   ?  -: not a valid call\n        error: the call: the key `name` is missing\n"


def test_an_invalid_line_is_a_block_in_code() -> None:
    """The decision for a line that is not a valid call is a block whose exit code is that of invalid input."""
    decision = invalid(3, CallError("why"))
    assert [str(error) for error in decision.errors] == ["line 3: why"]
    assert exit_code(decision) == 4


def test_another_program_asks_and_reads_in_turn(
    processes: Callable[..., subprocess.Popen[bytes]], say: Callable[..., str]
) -> None:
    """As a co-process it answers each line before the next one is written, invalid ones included."""
    process = processes(*BASE, "--json", "--calls", "-", bufsize=0)
    answers = [say(process, line) for line in (READ, "{", PAY)]
    assert [json.loads(answer)["verdict"] for answer in answers] == ["allow", "block", "confirm"]
    process.communicate(timeout=20)
    assert process.returncode == 4


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the peak is read from /proc")
@pytest.mark.parametrize("most", [6_000, pytest.param(30_000, marks=pytest.mark.large)])
def test_a_batch_of_any_length_needs_the_same_memory(asked: Callable[..., str], tmp_path: Path, most: int) -> None:
    """30,000 lines take at most 5 MiB more than 1,000, and every one is answered; 6,000 take at most 1 MiB more."""
    calls, peaks = tmp_path / "calls.jsonl", []
    for count in (1_000, most):
        calls.write_text(f"{asked('read_file', {'path': 'notes.txt'}, id='call')}\n" * count)
        words = [*BASE, "--json", "--calls", str(calls)]
        with (tmp_path / "answers.jsonl").open("w+b") as answers:
            done = subprocess.run(
                [sys.executable, "-c", MEASURED, *words], stdout=answers, stderr=subprocess.PIPE, check=True
            )
            answers.seek(0)
            assert sum(1 for _ in answers) == count
        peaks.append(int(done.stderr))
    assert peaks[1] - peaks[0] < most // 6


# A call without JSON ----------------------------------------------------------------------------------------------


@for_each(
    ("words", "code"),
    [
        (("--command", "git status"), 0),
        (("--command", "git push"), 3),
        (("--tool", "read_file", "--arg", "path=notes.txt"), 0),
        (("--tool", "write_file", "--arg", "path=notes.txt", "--arg", "content=a=b"), 3),
        (("--tool", "mcp:docs/search"), 3),
    ],
)
def test_a_call_may_be_given_in_words(cli: Callable[..., Outcome], words: tuple[str, ...], code: int) -> None:
    """A command, or a tool with its arguments."""
    assert cli(*BASE, *words)[0] == code


@for_each(
    ("value", "argument"),
    [("5", 5), ("true", True), ('"5"', "5"), ("x y", "x y"), ('{"a": [1]}', {"a": [1]}), ("", "")],
)
def test_a_value_is_json_or_text(value: str, argument: object) -> None:
    """What is not JSON is text as it is."""
    options = argparse.Namespace(command=None, tool="x", arg=[f"y={value}"], call=None)
    assert single_call(options) == {"name": "x", "arguments": {"y": argument}}


@for_each("text", ["y", "=1", ""])
def test_an_argument_without_a_key_is_invalid(cli: Callable[..., Outcome], text: str) -> None:
    """The answer says how it is written."""
    code, out, _ = cli(*BASE, "--json", "--tool", "x", "--arg", text)
    assert (code, json.loads(out)["errors"]) == (4, [f"the call: `--arg {text}` is not KEY=VALUE"])


@for_each(
    ("tool", "declared", "is_told"), [("read_file", "", True), ("run_shell", "", False), ("read_file", "x", False)]
)
def test_a_tool_that_reads_by_its_name_alone_is_noticed(
    cli: Callable[..., Outcome], workspace: Path, *, tool: str, declared: str, is_told: bool
) -> None:
    """A program may register another tool under that name; one of a rule file is declared."""
    table = '[tool.read_file]\ntraits = ["read_only"]\nroles.path = "read_path"\n' if declared else ""
    (workspace / "rules.toml").write_text(f"schema = 1\n{table}")
    argument = "command=ls" if tool == "run_shell" else "path=a"
    code, out, err = cli("check", "--rules", workspace / "rules.toml", "--tool", tool, "--arg", argument)
    assert (code, out.split()[0]) == (0, "allow")
    assert ("`read_file` reads only by its name" in err) is is_told


@for_each(("table", "is_told"), [("", True), ('[tool.get]\nroles.url = "url"\n', False)])
def test_a_permission_that_lacks_a_declaration_is_noticed(
    cli: Callable[..., Outcome], workspace: Path, *, table: str, is_told: bool
) -> None:
    """The first rule of a newcomer permits nothing without it."""
    rule = '[[rule]]\nid = "a"\neffect = "allow"\ntools = ["get"]\nwhen.host = "*.example.com"\n'
    (workspace / "rules.toml").write_text(f"schema = 1\n{table}{rule}")
    code, out, err = cli(
        "check", "--rules", workspace / "rules.toml", "--tool", "get", "--arg", "url=https://example.net"
    )
    assert (code, out) == (3, "confirm get  -: no rule matched\n")
    assert ("what the arguments of `get` are; `permitry explain` prints a table" in err) is is_told


@for_each(("folder", "is_told"), [("", True), ('folder = "."\n', False)])
def test_a_tool_of_a_server_without_a_folder_is_noticed(
    cli: Callable[..., Outcome], workspace: Path, *, folder: str, is_told: bool
) -> None:
    """And `explain` shows what to add."""
    tool = f'[tool."mcp:a/b"]\nroles.path = "write_path"\n{folder}'
    (workspace / "rules.toml").write_text(
        f'schema = 1\n{tool}[[rule]]\nid = "a"\neffect = "allow"\nwhen.path = "x/**"\n'
    )
    call = ("--rules", workspace / "rules.toml", "--tool", "mcp:a/b", "--arg", "path=y" if folder else "path=x/y")
    assert ("it is not known where `mcp:a/b` looks for relative paths" in cli("check", *call)[2]) is is_told
    assert ('[tool."mcp:a/b"]\n    folder = "."' in cli("explain", *call)[1]) is is_told


def test_arguments_go_with_a_tool(cli: Callable[..., Outcome]) -> None:
    """A command has none."""
    assert cli(*BASE, "--command", "ls", "--arg", "a=b") == (4, "", "permitry: `--arg` goes with `--tool NAME`\n")


SOURCES = """schema = 1

[[rule]]
id = "pays"
effect = "allow"
tools = ["pay"]
when.args.to.from = ["user"]
when.args.note.links.from = ["user"]
"""
HEARD = {
    "heard": ["Pay AT11, see www.x.com"],
    "results": [{"tool": "look", "arguments": {}, "result": {"iban": "DE22"}}],
}


def test_it_says_where_values_were_seen(
    cli: Callable[..., Outcome], objects: Objects, asked: Callable[..., str], tmp_path: Path
) -> None:
    """Where the context says what was heard, of rules that asked for it; explain says the same."""
    file = tmp_path / "rules.toml"
    file.write_text(SOURCES)
    words = ("--rules", str(file), "--call")
    bad = asked("pay", {"to": "DE22", "note": "www.x.com"}, context=HEARD)
    _, out, _ = cli("check", *words, bad)
    assert out.splitlines() == [
        "confirm pay  -: no rule matched",
        '        value: `to` = "DE22" occurs in look #1, field `iban`; not in the user\'s messages',
        '        value: `note.links` = "www.x.com" occurs in the user\'s messages',
    ]
    (answer,), (explained,) = (objects(cli(each, *words, bad, "--json")[1]) for each in ("check", "explain"))
    assert [(each["argument"], each["is_said"]) for each in answer["origins"]] == [("to", False), ("note.links", True)]
    assert explained["origins"] == answer["origins"]
    for silent in (asked("pay", {"to": "DE22"}), asked("send", {"to": "AT11"}, context=HEARD)):
        assert "value:" not in cli("check", *words, silent)[1]


def test_it_says_by_which_record_of_a_program_a_call_was_read(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    """Where the call is one on the command line; not of a program that is not run."""
    path = tmp_path / "rules.toml"
    path.write_text('schema = 1\n[program.ours]\noperands = "read*"\n', encoding="utf-8")
    check = ("check", "--rules", str(path), "--tool", "run_shell", "--arg")
    assert cli(*check, "command=ours a")[::2] == (0, f"permitry: what `ours` does is said in {path}:2\n")
    assert cli(*check, "command=wc ours")[::2] == (0, "")
