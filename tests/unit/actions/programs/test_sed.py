"""Which files the scripts of `sed` name, what they run, and what two kinds of `sed` read differently."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import why_not_reading
from permitry.actions.programs.arguments import read_options
from permitry.actions.programs.catalogue import catalogue
from permitry.actions.programs.entries import RefusedError
from permitry.actions.programs.sed import effects_of_sed, files_of_sed, with_script
from permitry.actions.programs.sed_script import Effects
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


@for_each(
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
    """Whatever is there, for all kinds of `sed`."""
    assert files("-n", script, "f") == found
    assert files("-e", "p", "-e", script, "f") == found


@for_each("script", ["w", "w ", "r\n", "s/a/b/w", "w a\\", "w a\\\nb", "w a\tb", "w out\ne", "w a\re"])
def test_a_name_that_may_be_another_is_refused(script: str) -> None:
    """One that is empty, goes on in the next line, or holds what is not printed."""
    with pytest.raises(RefusedError):
        files(script, "f")


@for_each("script")
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


@for_each(
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


# For restrictions ----------------------------------------------------------------------------------------------------


def effects(*words: str) -> str:
    """Return what the scripts of a call may do: `any`, or files, commands and `input`."""
    found = effects_of_sed(tuple(Word(word, is_open="$x" in word) for word in words))
    if any(word.is_open for _, word in found.files):
        return "any"
    files = [f"{access.value[0]}:{word.text}" for access, word in found.files]
    return " ".join((*files, *(f"e:{text}" for text in found.commands), *(["input"] if found.runs_input else [])))


@for_each(("script", "done"))
def test_a_restriction_knows_what_a_script_does(script: str, done: str) -> None:
    """One that cannot be read may do anything."""
    assert effects("-n", script, "f") == done
    assert effects("-E", "-e", script) == done


@for_each(
    ("words", "done"),
    [
        (("-e", "p", "-e", "w f"), "w:f"), (("-ne", "w f"), "w:f"), (("-sew f", "x"), "w:f"),
        (("--expression=e",), "input"),
        (("--exp", "w f", "x"), "w:f"), (("--", "w f", "x"), "w:f"), (("-i.bak", "w f"), "w:f"),
        (("-i", "w f"), "w:f"),
        (("-i", "", "w f"), "w:f"), (("-i", ".bak", "w f"), "w:f"), (("-I", ".bak", "p", "w f"), ""),
        (("-l", "5", "w f"), "w:f"),
        (("-l5", "p"), ""), (("-lp", "w f"), "w:f"), (("--line-length=5", "w f"), "w:f"),
        (("--posix", "-z", "w f"), "w:f"),
        (("p", "x", "-e", "w f"), "w:f"), (("w f", "-e", "p"), "w:f"), (("p", "w f"), ""),
        (("-f", "x", "w f"), ""), (("--file=x", "w f"), ""),
        (("-f", "-", "x"), "any"), (("-f-",), "any"), (("-nf", "/dev/stdin"), "any"), (("--file", "/dev/fd/3"), "any"),
        (("-f", "$x"), "any"), (("p", "$x"), ""), (("-e", "a\\", "-e", "w f"), ""), (("-e",), ""), ((), ""),
        (("--help",), ""),
    ],
)  # fmt: skip
def test_a_script_is_found_wherever_it_is(words: tuple[str, ...], done: str) -> None:
    """As GNU and BSD read options; a file of commands is not looked at, one that is piped may hold anything."""
    assert effects(*words) == done


def test_a_script_that_only_some_read_is_not_reading() -> None:
    """A delimiter within brackets is one to an old implementation, and the script is then in error."""
    assert effects_of_sed((Word("s/[/]/x/"),)) == Effects(is_common=False)
    assert why_not_reading(Command(tuple(map(Word, ("sed", "s/[/]/x/", "f"))))) is not None


def test_a_script_from_a_here_document_is_read() -> None:
    """It takes the place of the file of commands."""
    words = tuple(map(Word, ("/bin/sed", "-n", "-f", "-", "f")))
    assert [word.text for word in with_script(words, "p")] == ["/bin/sed", "-n", "-e", "p", "f"]
    assert with_script(words, None) is words
    assert with_script(words[:2], "p") == words[:2]
    assert with_script((), "p") == ()
    assert with_script((Word("grep"), *words[1:]), "p") == (Word("grep"), *words[1:])
    assert [word.text for word in with_script((Word("awk"), *words[1:]), "p")] == ["awk", "-n", "p", "f"]
