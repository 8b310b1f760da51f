"""Variables by which the shell itself or a program is changed: what it runs, or what a name means.

Each has its reason. For a permission, a command with one of them is another command, unless the pattern names it.
"""

import fnmatch
import functools
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from permitry.actions.shell.command import Command

__all__ = [
    "EVALUATED",
    "changes_commands",
    "declared",
    "is_special",
    "kept_by_shell",
    "leads_elsewhere",
    "runs_text",
    "sets_of",
    "that_change_commands",
]

EVALUATED = frozenset(["BASHPID", "EPOCHSECONDS", "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM"])
"""Variables that are numbers: bash evaluates what is assigned to them, which may run a command."""
_RUNS_TEXT = frozenset(["BASHOPTS", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "SHELLOPTS"])
_LEADS = frozenset(["CDPATH", "GLOBIGNORE", "HOME", "OLDPWD", "PWD"])
_DECLARE = frozenset(["declare", "export", "local", "readonly", "typeset"])
_NAME = frozenset(["getopts", "mapfile", "read", "readarray", "unset"])
"""Builtins that set the variables they name, or remove them."""
_ATTACHED = re.compile(r"-[a-z]+")

_CHANGES = {
    "PATH": "which file a name of a program leads to",
    "LD_*": "libraries that are loaded into every program",
    "DYLD_*": "libraries that are loaded into every program",
    "IFS": "where the shell splits words",
    "BASH*": "settings of the shell, and files it runs",
    "ENV": "a file that a shell runs when it starts",
    "PS[0-4]": "text that the shell expands",
    "PROMPT_COMMAND": "text that the shell runs",
    "SHELLOPTS": "how the shell reads text",
    "SHELL": "the shell that other programs start",
    "CDPATH": "where `cd` leads",
    "HOME": "where programs look for the files that configure them",
    "XDG_*": "where programs look for the files that configure them",
    "GLOBIGNORE": "which files a pattern becomes",
    "HIST*": "files and lists that the shell writes",
    "GIT_*": "programs and repositories that `git` uses",
    "SSH_ASKPASS*": "a program that `ssh` runs",
    "PYTHON*": "modules, and code that runs at the start",
    "NODE_*": "modules and options of `node`; not its mode",
    "NPM_*": "settings of `npm`, some of them programs",
    "npm_*": "settings of `npm`, some of them programs",
    "RUBY*": "options and modules of `ruby`",
    "GEM_*": "where `ruby` looks for modules",
    "BUNDLE_*": "settings of `bundle`",
    "PERL*": "options and modules of `perl`",
    "PHP*": "settings of `php`",
    "LUA_*": "code that `lua` runs at the start",
    "R_*": "files that `R` runs at the start",
    "JULIA_*": "where `julia` looks for code",
    "*JAVA_*OPTIONS": "agents that are loaded into `java`",
    "JAVA_OPTS": "agents that are loaded into `java`",
    "*CLASSPATH": "where `java` looks for code",
    "MAVEN_OPTS": "agents that are loaded into `java`",
    "GRADLE_*": "options of `gradle`",
    "GO*FLAGS": "options of `go`, some of them programs",
    "CGO_*": "options of compilers",
    "CARGO_*": "programs and options of `cargo`",
    "RUSTC*": "the compiler that `cargo` runs",
    "RUSTFLAGS": "options of the compiler, such as its linker",
    "MAKEFLAGS": "options and code of `make`",
    "MAKEFILES": "files that `make` reads first",
    "CC": "a program that others run",
    "CXX": "a program that others run",
    "*PAGER": "a program that others run",
    "*EDITOR": "a program that others run",
    "VISUAL": "a program that others run",
    "BROWSER": "a program that others run",
    "LESS*": "programs and options of `less`",
    "MANOPT": "options of `man`",
    "*_COMMAND": "a program that others run",
    "*ASKPASS": "a program that others run",
    "RSYNC_*": "programs that `rsync` runs",
    "TAR_OPTIONS": "options of `tar`, some of them programs",
    "UNZIP*": "options of `unzip`",
    "GREP_OPTIONS": "options of `grep`",
    "FZF_*": "commands that `fzf` runs",
    "RIPGREP_*": "a file with options of `rg`",
    "CURL_HOME": "a file with options of `curl`",
    "WGETRC": "a file with options of `wget`",
    "*_PROXY": "the machine that connections go through",
    "*_proxy": "the machine that connections go through",
    "DOCKER_*": "the machine that containers run on",
    "KUBECONFIG": "the machine that `kubectl` talks to",
    "AWS_*": "the account that is used",
    "OPENSSL_*": "modules that are loaded",
    "SSL_*": "which machines are trusted",
}
_NODE_MODE = "NODE_ENV"
# Assigning to one of these has an effect of its own, such as evaluating the value, or another value is read back.
_SPECIAL = re.compile(
    r"BASH.*|COMP_.*|COPROC|DIRSTACK|EPOCH\w*|EUID|FUNCNAME|GROUPS|HISTCMD|IFS|LINENO|MAPFILE|OPTARG|OPTERR|OPTIND"
    r"|COLUMNS|LINES|OLDPWD|PWD|SHLVL|PIPESTATUS|POSIXLY_CORRECT|PPID|RANDOM|READLINE_.*|REPLY|SECONDS|SHELLOPTS|SRANDOM|UID|_|histchars|auto_resume"
)


@functools.lru_cache(maxsize=512)
def changes_commands(name: str) -> str | None:
    """Return what a variable of this name changes, in a phrase; None if it is not known to change anything."""
    if name == _NODE_MODE:
        return None
    return next((reason for glob, reason in _CHANGES.items() if fnmatch.fnmatchcase(name, glob)), None)


def is_special(name: str) -> bool:
    """Return whether the shell gives a variable of this name a meaning of its own, or it changes commands."""
    return _SPECIAL.fullmatch(name) is not None or changes_commands(name) is not None


def runs_text(name: str, value: str) -> bool:
    """Return whether the shell itself runs other text because of this variable, or reads text otherwise.

    `ENV` is also what programs call the place where they run: only a path or an expansion is a file for the shell.
    """
    is_path = name != "ENV" or not {"$", "`", "/"}.isdisjoint(value)
    is_text = name == "PS3" and not {"$", "`"}.isdisjoint(value)
    return (name in _RUNS_TEXT and is_path) or is_text or name.startswith("BASH_FUNC_")


def leads_elsewhere(name: str) -> bool:
    """Return whether `~`, `cd` or a pattern leads to other files once the shell has a variable of this name.

    With any `GLOBIGNORE`, a pattern becomes hidden files too.
    """
    return name in _LEADS


def declared(command: "Command") -> Iterator[tuple[str, str]]:
    """Yield the assignments among the words of a builtin such as `export`."""
    if command.argv[0] in _DECLARE:
        for text in command.argv[1:]:
            name, equals, value = text.partition("=")
            if equals:
                yield name, value


def sets_of(command: "Command") -> tuple[str, ...]:
    """Return the assignments of a command that change what it runs."""
    return that_change_commands((*command.assignments, *declared(command)))


def that_change_commands(assignments: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return those assignments that change what a command runs, as text."""
    return tuple(f"{name}={value}" for name, value in assignments if changes_commands(name) is not None)


def kept_by_shell(command: "Command") -> tuple[str, ...]:
    """Return the same for a command after which the shell keeps them: they are those of every other command too."""
    if command.only_assigns or command.argv[0] in _DECLARE:
        return sets_of(command)
    words = command.argv[1:] if command.argv[0] in _NAME else ()
    # The name of an array may be attached to its option: `read -aPATH`.
    names = (name for word in words for name in (word, _ATTACHED.sub("", word)))
    return that_change_commands((name, "") for name in dict.fromkeys(names))
