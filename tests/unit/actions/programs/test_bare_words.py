"""What a word is that may be a name as well as a path: a sub-command, a script, a package."""

from tests.tables import for_each

from permitry.actions.programs.bare_words import names_in_words
from permitry.actions.reading.strict import read_strictly
from permitry.config.load import load_rules
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

BLOCK, CONFIRM, ALLOW = Verdict.BLOCK, Verdict.CONFIRM, Verdict.ALLOW
RULES = """
schema = 1
[[rule]]
id = "commands"
effect = "allow"
tools = ["*"]
[[rule]]
id = "not-touched"
effect = "block"
when.path = ["{0}", "{0}/**"]
"""


def decide(command: str, path: str = "build") -> Verdict:
    """Return what is decided about a command where one path is off limits and every command is allowed."""
    call = ToolCall("run_shell", {"command": command})
    rules = load_rules(RULES.format(path))
    return rules.policy().decide(call, AuthContext(workspace="/nowhere/space")).verdict


@for_each("command")
def test_a_name_is_not_a_path(command: str) -> None:
    """Whatever file is called like the sub-command, the script or the package, it is not what the command is about."""
    assert decide(command) is ALLOW


@for_each("command")
def test_that_a_name_is_a_path_is_a_guess(command: str) -> None:
    """A guess blocks nothing, and there is a reason to ask."""
    assert decide(command) is CONFIRM


@for_each(("command", "path"))
def test_a_rule_for_a_folder_leaves_the_commands_of_the_same_name(command: str, path: str) -> None:
    """They are what a project is built with, and the folder is where it is built."""
    assert decide(command, path) is ALLOW


@for_each("command")
def test_a_name_has_no_mark_before_a_path(command: str) -> None:
    """Behind `@` and `:` is what is sent or installed."""
    assert decide(command, "secrets") is CONFIRM


@for_each("command")
def test_what_is_passed_to_a_program_that_is_run_is_no_name(command: str) -> None:
    """Only the sub-command is one, and what is behind those of which the record says so."""
    assert decide(command, "secrets") is CONFIRM


@for_each("command")
def test_what_a_sub_command_opens_is_no_name(command: str) -> None:
    """The manual of the program says that it takes a file, a folder, or a repository that may be one."""
    assert decide(command, "secrets") is CONFIRM


@for_each("command")
def test_a_word_is_a_path_where_the_record_says_so_or_it_looks_like_one(command: str) -> None:
    """With a slash or a dot in it, or given to a program that takes files."""
    assert decide(command) is BLOCK


@for_each(
    ("command", "names"),
    [
        ("npm run build build", {"run"}), ("npm run build x", {"run", "build"}), ("git log log", set()),
        ("git -c a=b log x", {"log"}), ("git -c * log x", set()), ("git --unknown x log", set()),
        ("make -j4 a b.c d", {"a", "d"}), ("npm run $x build", {"run"}), ("unknown run x", set()),
        ("git commit -m a -m b c", {"commit", "a", "b"}), ("git commit -m * -m b c", {"commit"}),
        ("/usr/bin/npm run build", set()), ("git stash pop a", {"stash", "pop", "a"}),
        ("npm a b", {"a"}), ("pip install a b --x c -- d", {"install", "a", "b"}), ("git push a b", {"push", "b"}),
        ("npm -C $x run a", set()), ("npm -- run a", set()), ("sudo -- a b", {"a", "b"}), ("npm run a:b", {"run"}),
        ("npm run a@b", {"run"}),
    ],
)  # fmt: skip
def test_which_words_are_names(command: str, names: set[str]) -> None:
    """Up to the first option that is not known, and those that are not paths in another place of the command."""
    found, _ = names_in_words(read_strictly(command)[0].words)
    assert {word.text for word in found} == names
