"""The program as a whole: commands, options, exit codes, and what becomes of errors."""

import errno
import io
import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.cli.main import main, run_from_shell

Outcome = tuple[int, str, str]
COMMANDS = ("run", "check", "explain", "lint", "rules", "trust", "test", "schema")


def test_the_version_is_the_packages(cli: Callable[..., Outcome]) -> None:
    """`--version` prints name and version."""
    code, out, _ = cli("--version")
    assert (code, out) == (0, "permitry 0.1.0\n")


def test_the_help_names_commands_and_exit_codes(cli: Callable[..., Outcome]) -> None:
    """`--help` lists every command, and what the exit codes mean."""
    code, out, _ = cli("--help")
    assert code == 0
    assert all(f"    {command} " in out for command in COMMANDS)
    assert "0 allowed or fine, 1 a check failed, 2 blocked, 3 needs confirmation, 4 invalid input" in " ".join(
        out.split()
    )


@for_each(("command", "option"))
def test_every_command_has_a_help_of_its_own(cli: Callable[..., Outcome], command: str, option: str) -> None:
    """`permitry COMMAND --help` tells the options of that command."""
    code, out, _ = cli(command, "--help")
    assert code == 0
    assert out.startswith(f"usage: permitry {command} ")
    assert option in out


@for_each(
    "words",
    [
        ("no-such-command",),
        ("--no-such-option",),
        ("check",),
        ("check", "--call", "{}", "--calls", "-"),
        ("check", "--call", "{}", "--no-such-option"),
        ("explain",),
        ("run", "--unattended", "allow"),
        ("run", "one.jsonl", "two.jsonl"),
        ("schema", "nothing"),
    ],
)
def test_a_wrong_use_is_invalid_input_not_a_block(cli: Callable[..., Outcome], words: tuple[str, ...]) -> None:
    """A usage error exits with 4 and tells the usage; argparse's 2 would say that a call was blocked."""
    code, out, err = cli(*words)
    assert (code, out) == (4, "")
    assert err.startswith("usage: permitry")


@pytest.mark.parametrize("words", [("grants",), ("completion",), ("audit",), ("help", "grants"), ("help", "hook")])
def test_a_command_that_needs_another_word_shows_its_help(cli: Callable[..., Outcome], words: tuple[str, ...]) -> None:
    """As `permitry help` does for each command."""
    code, out, err = cli(*words)
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: permitry {words[-1]}")


def test_a_hook_without_a_host_blocks(cli: Callable[..., Outcome]) -> None:
    """A host may have started it, and takes what is on standard output for an answer."""
    code, out, err = cli("hook")
    assert (code, out) == (2, "")
    assert err.startswith("usage: permitry hook")


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("hook", "install", "claude"), "there is no `claude`; did you mean `claude-code`?"),
        (("hook", "instal", "codex"), "there is no `instal`; did you mean `install`?"),
        (("import", "codexx"), "there is no `codexx`; did you mean `codex`?"),
        (("setup", "--host", "gemni"), "there is no `gemni`; did you mean `gemini`?"),
        (("completion", "zch"), "there is no `zch`; did you mean `zsh`?"),
    ],
)
def test_a_misspelt_word_gets_its_nearest(cli: Callable[..., Outcome], words: tuple[str, ...], near: str) -> None:
    """Of hosts, of commands of a command, of anything that is one of few."""
    code, _, err = cli(*words)
    assert code in (2, 4)
    assert near in err


@pytest.mark.parametrize("word", ["trust", "setup"])
def test_who_asks_for_help_runs_nothing(
    cli: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Behind `--`, the word for help would be the name of a folder, which an agent can make."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "--help"
    (folder / ".permitry").mkdir(parents=True)
    (folder / ".permitry/rules.toml").write_text("schema = 1\n")
    assert cli("help", word, "--")[0] == 4
    assert not (tmp_path / "home").exists()


def test_without_words_the_help_is_printed(cli: Callable[..., Outcome]) -> None:
    """It is what a newcomer types first."""
    code, out, err = cli()
    assert (code, out, err) == (0, cli("--help")[1], "")


@for_each(
    ("words", "message"),
    [
        (("chek",), "permitry: there is no command `chek`; did you mean `check`?"),
        (("zzz",), "permitry: there is no command `zzz`"),
        (("check", "--comand", "ls"), "permitry check: there is no option `--comand`; did you mean `--command`?"),
        (("run", "--ruls=x"), "permitry run: there is no option `--ruls=x`; did you mean `--rules`?"),
        (("corpus", "list", "--jsn"), "permitry corpus: there is no option `--jsn`; did you mean `--json`?"),
        (("check", "--zzz"), "permitry check: there is no option `--zzz`"),
        (("lint", "a.toml"), "permitry lint: `a.toml` is one word too many; rules are named with --rules a.toml"),
        (
            ("check", "--command", "ls", "permitry:base"),
            "permitry check: `permitry:base` is one word too many; rules are named with --rules permitry:base",
        ),
        (("run", "a.jsonl", "b.jsonl"), "permitry run: `b.jsonl` is one word too many"),
        (("schema", "rules", "a.toml"), "permitry schema: `a.toml` is one word too many"),
    ],
)
def test_a_misspelt_word_is_named_with_the_nearest_one(
    cli: Callable[..., Outcome], words: tuple[str, ...], message: str
) -> None:
    """Commands and options, also where another option is missing."""
    code, out, err = cli(*words)
    assert (code, out, err.splitlines()[-1]) == (4, "", message)


def test_what_follows_two_hyphens_is_no_option(cli: Callable[..., Outcome]) -> None:
    """A file may be called like one."""
    code, _, err = cli("run", "--rules", "permitry:base", "--", "--ruls")
    assert (code, err) == (4, "permitry: cannot read `--ruls`: No such file or directory\n")


def test_bad_rules_are_reported_with_their_places(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    """Every problem of a rule file is printed with place, line and caret; the exit code is 4."""
    path = tmp_path / "rules.toml"
    path.write_text('schema = 1\n[[rule]]\nid = "a"\neffect = "deny"\nfoo = 1\n')
    code, out, err = cli("check", "--rules", path, "--call", "{}")
    assert (code, out) == (4, "")
    assert err.startswith(f'{path}:4:10: unknown effect `deny`\n    4 | effect = "deny"\n                 ^^^^^^\n')
    assert f"{path}:5:1: unknown key `foo`" in err


@for_each("text", ["schema = 1\nbad \x1b[2J = 1\n", 'schema = 1\n"\\u001b[2J\\u202e" = 1\n'])
def test_a_bad_rule_file_does_not_steer_the_terminal(cli: Callable[..., Outcome], tmp_path: Path, text: str) -> None:
    """The lines and keys of a file that cannot be used are shown spelled out."""
    path = tmp_path / "rules.toml"
    path.write_text(text)
    code, _, err = cli("check", "--rules", path, "--call", "{}")
    assert (code, err.replace("\n", "").isprintable()) == (4, True)


def test_an_interrupt_has_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends a command with 130 and no traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("permitry.cli.check.rules_from", interrupted)
    assert main(["check", "--call", "{}"]) == 130


def test_a_reader_that_left_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """When no one reads the output any more the command ends with 1, and closing the output raises nothing."""
    reading, writing = os.pipe()
    os.close(reading)
    with io.TextIOWrapper(os.fdopen(writing, "wb")) as output:
        monkeypatch.setattr(sys, "stdout", output)
        code = main(["check", "--rules", "permitry:base", "--call", '{"name": "read_file", "arguments": {}}'])
    assert code == 1


def test_a_long_batch_ends_quietly_with_its_reader(
    processes: Callable[..., subprocess.Popen[bytes]], asked: Callable[..., str]
) -> None:
    """A batch whose reader leaves after one answer ends at once, says nothing, and reads no further."""
    process = processes("check", "--rules", "permitry:base", "--json", "--calls", "-", bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    line = asked("read_file").encode() + b"\n"
    process.stdin.write(line)
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(line)
    assert process.wait(20) == 1
    assert process.stderr.read() == b""


def test_the_shell_gets_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry point takes its words from the command line and exits with the command's code."""
    monkeypatch.setattr(sys, "argv", ["permitry", "check", "--rules", "permitry:base", "--call", "{}"])
    with pytest.raises(SystemExit) as end:
        run_from_shell()
    assert end.value.code == 4


def test_the_module_is_the_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m permitry` is `permitry`."""
    monkeypatch.setattr(sys, "argv", ["permitry", "--version"])
    with pytest.raises(SystemExit):
        runpy.run_module("permitry", run_name="__main__")
    assert capsys.readouterr().out == "permitry 0.1.0\n"


def test_a_short_check_loads_no_drawing() -> None:
    """`permitry check --json` imports neither rich nor another command, since starting up is what it costs."""
    code = (
        "import sys; from permitry.cli.main import main\n"
        """main(["check", "--rules", "permitry:base", "--json", "--call", '{"name": "x", "arguments": {}}'])\n"""
        "print([name for name in ('rich', 'permitry_ops.cli.run', 'permitry_tools') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_file_that_cannot_be_used_is_named(cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no command has foreseen it, spelled out for the terminal."""

    def execute(_: object) -> int:
        raise FileNotFoundError(errno.ENOENT, "No such file", "a\x1b[2J.toml")

    monkeypatch.setattr("permitry.cli.schema.execute", execute)
    code, _, err = cli("schema")
    assert (code, err) == (1, "permitry: `a\\u001b[2J.toml`: No such file\n")
