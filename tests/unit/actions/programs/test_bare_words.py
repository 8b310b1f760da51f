"""What a word is that may be a name as well as a path: a sub-command, a script, a package."""

from tests.tables import for_each

from permitry.actions.programs.bare_words import names_in_words
from permitry.actions.reading.strict import read_strictly
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict

BLOCK, CONFIRM, ALLOW = Verdict.BLOCK, Verdict.CONFIRM, Verdict.ALLOW
RULES = """
schema = 1
[[rule]]
id = "commands"
effect = "allow"
tools = ["@shell"]
[[rule]]
id = "no-build"
effect = "block"
when.path = ["build", "build/**"]
"""


def decide(command: str) -> Verdict:
    """Return what is decided about a command where `build` is off limits and every command is allowed."""
    call = ToolCall("run_shell", {"command": command})
    return load_policy(RULES).decide(call, AuthContext(workspace="/nowhere/space")).verdict


@for_each(
    "command",
    [
        "npm run build", "npm --silent run build", "yarn build", "make build", "make -C x build", "cargo build",
        "git push build", "git -C x push origin build", "git commit -m build", "git branch -d build", "docker build x",
        "pip install build", "systemctl status build", "time make build", "timeout 5 make -j4 build",
        "env A=b npm run build", "gh pr list", "poetry run build", "sudo make build",
        "exec make build",
    ],
)  # fmt: skip
def test_a_name_is_not_a_path(command: str) -> None:
    """Whatever file is called like the sub-command, the script or the package, it is not what the command is about."""
    assert decide(command) is ALLOW


@for_each(
    "command",
    [
        "unknown build", "unknown -o build", "unknown run build", "npm run x -- build", "npm --unknown build run x",
        "git checkout build", "git log build", "git unknown build", "./npm run build",
        "make OUT=build", "sudo unknown build", "xargs unknown build", "sudo -e build", "kubectl cp build x:/",
        "git push build && unknown build",
    ],
)  # fmt: skip
def test_that_a_name_is_a_path_is_a_guess(command: str) -> None:
    """A guess blocks nothing, and there is a reason to ask."""
    assert decide(command) is CONFIRM


@for_each(
    "command",
    [
        "unknown ./build", "unknown build/x", "npm run ./build", "vim build", "rm --unknown build", "git add build",
        "git log -- build", "git checkout x -- build", "git commit build", "cat build", "sudo vim build",
        "timeout 5 vim build", "xargs --unknown rm build", "exec vim build", "make -f build x", "bash build",
        "docker cp build x:/", "chroot build ls", "setsid -f vim build",
        "xargs rm build", "pytest build", "7z x build", "git push build && rm -r build",
    ],
)  # fmt: skip
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
    ],
)  # fmt: skip
def test_which_words_are_names(command: str, names: set[str]) -> None:
    """Up to the first option that is not known, and those that are not paths in another place of the command."""
    found, _ = names_in_words(read_strictly(command)[0].words)
    assert {word.text for word in found} == names
