"""Which files the scripts of `sed` name, and what two kinds of `sed` read differently."""

from pathlib import Path

import pytest

from permitry.actions.programs.arguments import read_options
from permitry.actions.programs.catalogue import RefusedError, catalogue
from permitry.actions.programs.judge import why_not_reading
from permitry.actions.programs.sed import files_of_sed
from permitry.actions.shell.strict import Command
from permitry.config.load import load_rules
from permitry.core.action import Word
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

PATHS = """
schema = 1
[[rule]]
id = "all"
effect = "allow"
tools = ["*"]
[[rule]]
id = "keys"
effect = "block"
when.path = ["/home/u/.ssh/**"]
reason = "keys"
"""


def files(*words: str) -> list[tuple[str, str]]:
    """Return the files that the scripts of a call name, with what happens to them."""
    parts = read_options(tuple(map(Word, words)), catalogue()["sed"], name="sed")
    return [(access.value, word.text) for access, word in files_of_sed(parts)]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("p", []),
        ("w out", [("write", "out")]),
        ("wout", [("write", "out")]),
        ("1,5W a b;p}", [("write", "a b;p}")]),
        ("$!{w out\n}", [("write", "out")]),
        ("/x/w /a/b\np", [("write", "/a/b")]),
        ("s/a/b/w out", [("write", "out")]),
        ("s/a/b/gpw out\nr in", [("write", "out"), ("read", "in")]),
        ("s|a|b|ww x", [("write", "w x")]),
        ("r in", [("read", "in")]),
        ("1R in", [("read", "in")]),
        ("p;w ~/.ssh/x", [("write", "~/.ssh/x")]),
    ],
)
def test_a_file_goes_on_to_the_end_of_the_line(script: str, found: list[tuple[str, str]]) -> None:
    """Whatever stands there, for all kinds of `sed`."""
    assert files("-n", script, "f") == found
    assert files("-e", "p", "-e", script, "f") == found


@pytest.mark.parametrize("script", ["w", "w ", "r\n", "s/a/b/w", "w a\\", "w a\\\nb", "w a\tb", "w out\ne", "w a\re"])
def test_a_name_that_may_be_another_is_refused(script: str) -> None:
    """One that is empty, goes on in the next line, or holds what is not printed."""
    with pytest.raises(RefusedError):
        files(script, "f")


@pytest.mark.parametrize(
    "script",
    [
        "w /home/u/.ssh/authorized_keys", "W/home/u/.ssh/x", "s/a/b/w /home/u/.ssh/x",
        "s/a/b/gw /home/u/.ssh/x",
        "1w /home/u/.ssh/x", "$!w /home/u/.ssh/x", "p\nw /home/u/.ssh/x", "{w /home/u/.ssh/x\n}",
        "r /home/u/.ssh/id_rsa", "R /home/u/.ssh/id_rsa", "/a/,/b/r /home/u/.ssh/id_rsa",
        "p;w /home/u/.ssh/x",
    ],
)  # fmt: skip
def test_a_restriction_sees_the_files_of_a_script(tmp_path: Path, script: str) -> None:
    """Though the script is one operand, and no path itself."""
    rules = tmp_path / "rules.toml"
    rules.write_text(PATHS, encoding="utf-8")
    policy = load_rules([rules]).policy()
    verdicts = []
    for text in (script, script.replace("/home/u/.ssh", "build")):
        call = ToolCall("run_shell", {"command": f"sed -n '{text}' f"})
        verdicts.append(policy.decide(call, AuthContext(workspace="/w")).verdict)
    assert verdicts == [Verdict.BLOCK, Verdict.ALLOW]


@pytest.mark.parametrize(
    "words",
    [
        ("w out", "-e", "p"),
        ("p", "f", "-n"),
        ("p", "-e", "w out"),
        ("p", "-i"),
        ("s/a/b/", "f", "--quiet"),
        ("p", "-f", "x"),
    ],
)
def test_an_option_behind_an_operand_is_refused(words: tuple[str, ...]) -> None:
    """It is a file on some systems, and the first operand is then the script."""
    assert why_not_reading(Command(tuple(map(Word, ("sed", *words))))) is not None
