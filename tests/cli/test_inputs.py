"""What several commands read: lines, rule options, and the layers."""

import functools
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.cli.inputs import number_lines, open_lines
from permitry.cli.main import main
from permitry.config.layers import find_layers
from permitry.errors import CallError

Outcome = tuple[int, str, str]
Read = Callable[[bytes], list[tuple[int, str]]]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """Return a function that reads lines of at most 16 bytes; an error shows as its text after `!`."""
    monkeypatch.setattr("permitry.cli.inputs._LONGEST_LINE", 16)

    def lines(data: bytes) -> list[tuple[int, str]]:
        found = number_lines(io.BytesIO(data))
        return [(number, f"!{line}" if isinstance(line, CallError) else line.strip()) for number, line in found]

    return lines


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, whose only layers are the shipped one and what a test writes."""
    folder = tmp_path / "project"
    (folder / ".permitry").mkdir(parents=True)
    monkeypatch.chdir(folder)
    without_admin = functools.partial(find_layers, admin_file=tmp_path / "none.toml")
    monkeypatch.setattr("permitry.cli.inputs.find_layers", without_admin)
    return folder


class Terminal(io.TextIOWrapper):
    """Standard input at which a human sits."""

    def isatty(self) -> bool:
        """Return that it is."""
        return True


@pytest.mark.parametrize("words", [("check", "--calls", "-"), ("parse",), ("run",)])
def test_a_command_that_waits_for_typed_lines_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """A newcomer who leaves out the file would take it for one that hangs."""
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO()))
    main([*words])
    assert (
        "permitry: reading from this terminal, in place of a file; Ctrl-D ends the input\n" in capsys.readouterr().err
    )


def test_a_hook_at_a_terminal_says_how_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its payload comes from a host; without one the call does not run, as ever."""
    monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO()))
    assert main(["hook", "claude-code"]) == 2
    assert "permitry hook install claude-code" in capsys.readouterr().err


def test_blank_lines_are_counted_and_passed_over(read: Read) -> None:
    """A blank line asks nothing, and the numbers stay those of an editor."""
    assert read(b"\n{}\n  \r\n[]\n") == [(2, "{}"), (4, "[]")]


def test_the_last_line_needs_no_end(read: Read) -> None:
    """A last line without a line feed is a line."""
    assert read(b"{}\n[]") == [(1, "{}"), (2, "[]")]


@pytest.mark.parametrize("length", [17, 32, 33, 48, 100])
def test_a_long_line_costs_only_itself(read: Read, length: int) -> None:
    """A line over the limit is an error with its number, wherever it is cut, and the next line is whole."""
    expected = (1, "!the line is longer than 16 bytes")
    assert read(b"x" * length + b"\n{}\n") == [expected, (2, "{}")]


def test_a_long_last_line_is_an_error(read: Read) -> None:
    """A line over the limit that never ends is an error, not a wait."""
    assert read(b"x" * 40) == [(1, "!the line is longer than 16 bytes")]


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_at_the_limit_is_read(read: Read, end: bytes) -> None:
    """The limit is for the line without its end."""
    assert read(b"x" * 16 + end) == [(1, "x" * 16)]


def test_bytes_that_are_no_text_cost_only_their_line(read: Read) -> None:
    """A line that is not UTF-8 is an error, and the next one is read."""
    assert read(b"\xff\xfe\n{}\n") == [(1, "!the line is not UTF-8 text"), (2, "{}")]


def test_nothing_is_read_from_nothing(read: Read) -> None:
    """An empty input holds no lines."""
    assert read(b"") == []


@for_each("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    """A missing file and a folder are errors that name the path."""
    with pytest.raises(CallError, match=f"cannot read `{tmp_path / name}`: "):
        open_lines(str(tmp_path / name))


def test_a_missing_batch_is_invalid_input(cli: Callable[..., Outcome]) -> None:
    """`--calls` with a file that is not there exits with 4 and says so."""
    code, out, err = cli("check", "--rules", "permitry:base", "--calls", "missing.jsonl")
    assert (code, out) == (4, "")
    assert err == "permitry: cannot read `missing.jsonl`: No such file or directory\n"


@pytest.mark.usefixtures("project")
def test_the_shipped_layer_is_always_there(cli: Callable[..., Outcome], asked: Callable[..., str]) -> None:
    """Without `--rules`, and without any file, `permitry:base` is in force."""
    code, out, err = cli("check", "--call", asked("send_money"))
    assert (code, err) == (3, "")
    assert "ask-payment" in out


@pytest.mark.usefixtures("project")
def test_the_users_rules_are_found(cli: Callable[..., Outcome], asked: Callable[..., str], home: Path) -> None:
    """Without `--rules` the file in the user's configuration folder counts, permissions included."""
    path = home / "permitry" / "rules.toml"
    path.parent.mkdir(parents=True)
    path.write_text('schema = 1\n[[rule]]\nid = "mine"\neffect = "allow"\ntools = ["lift"]\n')
    code, out, err = cli("check", "--call", asked("lift"))
    assert (code, err) == (0, "")
    assert f"mine ({path}:2)" in out


def test_a_projects_permissions_are_dropped_with_a_notice(
    cli: Callable[..., Outcome], asked: Callable[..., str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's file is found from a folder below; its restrictions count, its permissions do not."""
    path = project / ".permitry" / "rules.toml"
    path.write_text(
        'schema = 1\n[[rule]]\nid = "no-lift"\neffect = "block"\ntools = ["lift"]\n'
        '[[rule]]\nid = "yes-drop"\neffect = "allow"\ntools = ["drop"]\n'
    )
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert cli("check", "--call", asked("lift"))[0] == 2
    code, _, err = cli("check", "--call", asked("drop"))
    assert code == 3
    assert (
        err == f"permitry: {path}:6: permission `yes-drop` dropped: the project is not trusted; see `permitry trust`\n"
    )


def test_named_rules_are_all_there_is(cli: Callable[..., Outcome], asked: Callable[..., str], project: Path) -> None:
    """With `--rules` no layer is searched, not even for the shipped one."""
    (project / ".permitry" / "rules.toml").write_text("this is no TOML")
    (project / "empty.toml").write_text("schema = 1\n")
    code, out, err = cli("check", "--rules", "empty.toml", "--call", asked("send_money"))
    assert (code, err) == (3, "")
    assert "ask-payment" not in out


def test_rules_may_be_named_several_times(
    cli: Callable[..., Outcome], asked: Callable[..., str], objects: Callable[[str], list[dict[str, Any]]]
) -> None:
    """Every `--rules` adds its file or set."""
    words = ("--rules", "permitry:read-only", "--rules", "permitry:base", "--json")
    _, out, _ = cli("explain", *words, "--call", asked("send_money"))
    matched = {rule["rule"] for rule in objects(out)[0]["rules"] if rule["outcome"] == "matched"}
    assert matched == {"block-writes", "ask-payment"}
