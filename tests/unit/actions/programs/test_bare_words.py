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


@for_each(
    "command",
    [
        "npm run build", "npm --silent run build", "yarn build", "make build", "make -C x build", "cargo build",
        "git push origin build", "git -C x push x build", "git commit -m build", "git branch -d build",
        "docker build x", "pip install build", "systemctl status build", "time make build", "timeout 5 make -j4 build",
        "env A=b npm run build", "gh pr list", "poetry run build", "sudo make build",
        "exec make build", "sudo -- make build", "npm run build --unknown", "cargo +nightly build",
        "pip install x build", "yarn run build", "apt install x build", "gradle build",
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
        "git push origin build && unknown build", "bun build", "deno build", "bun run build", "make -- build",
    ],
)  # fmt: skip
def test_that_a_name_is_a_path_is_a_guess(command: str) -> None:
    """A guess blocks nothing, and there is a reason to ask."""
    assert decide(command) is CONFIRM


@for_each(
    ("command", "path"),
    [
        ("npm run build", "./build"), ("make build", "./build"), ("cargo build", "./build"),
        ("sudo make build", "./build"), ("timeout 5 make -j4 build", "./build"), ("git log -3", "log"),
        ("npm test", "test"), ("git commit -m test", "test"), ("pip install test", "test"),
    ],
)  # fmt: skip
def test_a_rule_for_a_folder_leaves_the_commands_of_the_same_name(command: str, path: str) -> None:
    """They are what a project is built with, and the folder is where it is built."""
    assert decide(command, path) is ALLOW


@for_each(
    "command",
    [
        "https h @secrets", "http PUT h @secrets", "npm install file:secrets", "npm pack file:secrets",
        "pnpm add file:secrets", "pip install file:secrets", "yarn add link:secrets", "composer require path:secrets",
        "http h secrets", "mongosh x secrets",
    ],
)  # fmt: skip
def test_a_name_has_no_mark_before_a_path(command: str) -> None:
    """Behind `@` and `:` is what is sent or installed."""
    assert decide(command, "secrets") is CONFIRM


@for_each(
    "command",
    [
        "yarn rimraf secrets", "pnpm -r rimraf secrets", "bun rimraf secrets", "sudo yarn rimraf secrets",
        "yarn prettier secrets --write", "yarn node secrets", "npm test -- secrets", "npm start secrets",
        "npm run x secrets", "cargo run -- secrets", "cargo test -- secrets", "cargo fmt -- secrets",
        "cargo run secrets", "go run . secrets", "bazel run x -- secrets", "bazel run x secrets", "nox -- secrets",
        "tox secrets", "deno run secrets", "swift run x secrets", "uv run secrets", "sudo -- yarn rimraf secrets",
        "xargs -n1 yarn rimraf secrets", "cargo +nightly run secrets x", "ip vrf exec x cat secrets",
    ],
)  # fmt: skip
def test_what_is_passed_to_a_program_that_is_run_is_no_name(command: str) -> None:
    """Only the sub-command is one, and what is behind those of which the record says so."""
    assert decide(command, "secrets") is CONFIRM


@for_each(
    "command",
    [
        "cargo new secrets", "cargo init secrets", "cargo vendor secrets", "cargo +nightly new secrets",
        "go version secrets", "go tool nm secrets", "go mod edit secrets", "go work use secrets", "go doc secrets",
        "pip hash secrets", "pip wheel secrets", "pnpm publish secrets", "pnpm patch-commit secrets",
        "pnpm deploy secrets", "yarn publish secrets", "yarn patch-commit secrets", "npm publish secrets",
        "npm pack secrets", "npm install secrets", "npm link secrets", "poetry new secrets", "poetry init secrets",
        "composer validate secrets", "composer create-project x secrets", "pre-commit validate-config secrets",
        "pre-commit validate-manifest secrets", "pre-commit try-repo secrets", "pre-commit init-templatedir secrets",
        "brew style secrets", "apt build-dep secrets", "apt-get build-dep secrets", "info secrets",
        "git push secrets main", "git push secrets", "git remote add x secrets", "git remote set-url x secrets",
        "git reflog secrets", "git config include.path secrets", "ip link set dev x xdp obj secrets",
    ],
)  # fmt: skip
def test_what_a_sub_command_opens_is_no_name(command: str) -> None:
    """The manual of the program says that it takes a file, a folder, or a repository that may be one."""
    assert decide(command, "secrets") is CONFIRM


@for_each(
    "command",
    [
        "unknown ./build", "unknown build/x", "npm run ./build", "vim build", "rm --unknown build", "git add build",
        "git log -- build", "git checkout x -- build", "git commit build", "cat build", "sudo vim build",
        "timeout 5 vim build", "xargs --unknown rm build", "exec vim build", "make -f build x", "bash build",
        "docker cp build x:/", "chroot build ls", "setsid -f vim build", "xargs rm build", "pytest build", "7z x build",
        "git push origin build && rm -r build", "git range-diff a b -- build",
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
        ("npm a b", {"a"}), ("pip install a b --x c -- d", {"install", "a", "b"}), ("git push a b", {"push", "b"}),
        ("npm -C $x run a", set()), ("npm -- run a", set()), ("sudo -- a b", {"a", "b"}), ("npm run a:b", {"run"}),
        ("npm run a@b", {"run"}),
    ],
)  # fmt: skip
def test_which_words_are_names(command: str, names: set[str]) -> None:
    """Up to the first option that is not known, and those that are not paths in another place of the command."""
    found, _ = names_in_words(read_strictly(command)[0].words)
    assert {word.text for word in found} == names
