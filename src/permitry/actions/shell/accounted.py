"""Whether all that a text runs is known by name, though some of its words are not: what is unknown of it then.

The strict reader refuses a text for one expansion, or for an `if`. Where the lenient reader understands all of it, and
no open word can become a command, nothing else can run than what it reports.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from permitry.actions.programs.catalogue import Entry, catalogue
from permitry.actions.shell.lenient import LooseCommand, LooseReading
from permitry.actions.shell.runners import program_of, reads_commands, unfolded
from permitry.actions.shell.running import WRAPPERS
from permitry.core.action import Word

__all__ = ["ANYTHING", "PATHS", "WORDS", "what_is_unknown"]

ANYTHING, PATHS, WORDS = "", "path", "words"

_PLAIN = re.compile(r"[\t\n\x20-\x7e]*")
_DOCUMENT = re.compile(r"<<(['\"]?)([A-Za-z_]\w*)\1(?![^\s;|&)<>])")
# What these do to the shell is not followed.
_CHANGE_THE_SHELL = frozenset(
    {".", "alias", "bind", "builtin", "coproc", "enable", "eval", "exec", "export", "fc", "hash", "set", "shopt"}
    | {"source", "trap", "unalias"}
)
_MOVE = frozenset({"cd", "popd", "pushd"})
# Whatever their words are, they run nothing besides themselves.
_RUN_NOTHING = frozenset(
    {"break", "cal", "case", "for", "in", "select", "finger", "hostname", "ifconfig", "lsof", "popd", "pushd", "top"}
    | {"bunzip2", "bzip2", "chgrp", "chmod", "chown", "continue", "cp", "curl", "date", "dd", "diff"}
    | {"dig", "file", "gunzip", "gzip", "host", "kill", "killall", "link", "ln", "mkdir", "mkfifo", "mktemp", "mv"}
    | {"nslookup", "ping", "pkill", "return", "rm", "rmdir", "shred", "shift", "strings", "tee"}
    | {"touch", "tree", "truncate", "uniq", "unlink", "who", "xxd", "xz", "zcat"}
)
# What is calculated, the shell expands again: `$((x))` runs what `x` says, if that is `a[$(…)]`.
_EVALUATED = re.compile(
    r"\(\(|\$\[|\w\[[^\]]*\$[^\]]*\]\+?=|\$\{#?\w+\[(?![@*]\]|[0-9]+\])|\$\{!(?!\w+\[[@*]\]\}|\w+[@*]\})"
    r"|\$\{[^}]*@[A-Za-z]|\$\{[^}:]*:(?![-=?+])[^}]*[A-Za-z_$`]"
)
_FUNCTION = re.compile(r"([^\s;|&()<>{}]+)[ \t]*\([ \t]*\)|\bfunction[ \t]+([^\s;|&()<>{}]+)")
_CALCULATE = frozenset({"-eq", "-ge", "-gt", "-le", "-lt", "-ne", "-v"})
_GIT = frozenset(
    {"add", "branch", "cat-file", "checkout", "commit", "describe", "diff", "log", "ls-files", "merge-base", "mv"}
    | {"reset", "restore", "rev-list", "rev-parse", "rm", "show", "stash", "status", "switch", "tag"}
)
# These change which programs run, or what programs read before they begin.
_OF_THE_SHELL = re.compile(
    r"PATH|IFS|ENV|HOME|CDPATH|SHELL\w*|BASH\w*|PROMPT_COMMAND|PS\d|(?:LD|DYLD|GIT|SSH|SUDO|NODE|GLOB)\w*|\w*IGNORE"
    r"|(?:PYTHON|PERL|RUBY|JAVA|LESS)\w*|\w*(?:PAGER|EDITOR|VISUAL|BROWSER|COMMAND|OPTS|OPTIONS|FLAGS|CONFIG\w*|PATH)"
)
_LOCAL_NAME = re.compile(r"[a-z_][a-z0-9_]*")


def what_is_unknown(text: str, reading: LooseReading) -> str:
    """Return what a text may do besides what the lenient reader reports: anything, to other paths, or neither."""
    is_read = reading.is_plain and _PLAIN.fullmatch(text) is not None and _EVALUATED.search(text) is None
    if not (is_read and _has_plain_documents(text)):
        return ANYTHING
    commands = [each for each in reading.commands if not each.is_guess]
    if not all(map(_is_accounted, commands)):
        return ANYTHING
    names = {match[1] or match[2] for match in _FUNCTION.finditer(text)}
    # A function that is called like a program takes its place, and one that calls itself may never end.
    if names & catalogue().keys() or any(
        "function" in each.within and program_of(each.words) in names for each in commands
    ):
        return ANYTHING
    has_moved = any(program_of(each.words) in _MOVE and each.within for each in commands)
    return PATHS if has_moved else WORDS


def _has_plain_documents(text: str) -> bool:
    """Return whether each here-document ends at the only line that can be its end."""
    names = [match[2] for match in _DOCUMENT.finditer(text)]
    lines = text.split("\n")
    return text.count("<<") == len(names) == len(set(names)) and all(lines.count(name) == 1 for name in names)


def _is_accounted(command: LooseCommand) -> bool:
    """Return whether a command runs nothing but what is reported of it."""
    words = command.words
    name = program_of(words)
    if words and (words[0].is_open or (words[0].is_glob and name != "[") or name in _CHANGE_THE_SHELL):
        return False
    if not all(_is_plain_variable(variable, is_passed=bool(words)) for variable, _ in command.assignments):
        return False
    if any(word.text.startswith("~") and word.text[1:2] not in ("", "/") for word in words) or reads_commands(words):
        return False
    return not any(word.is_open for word in words) or _takes_any_words(name, words)


def _is_plain_variable(name: str, *, is_passed: bool) -> bool:
    """Return whether no program looks at a variable, nor the shell itself."""
    return _LOCAL_NAME.fullmatch(name) is not None or not (is_passed or _OF_THE_SHELL.fullmatch(name))


def _takes_any_words(name: str, words: Sequence[Word]) -> bool:
    """Return whether a program runs nothing else whatever its words are, or only what is a command of its own."""
    takes = _TAKES.get(name)
    if takes is not None:
        return takes(words)
    if name in WRAPPERS or name == "xargs":
        return _wraps_plainly(words)
    entry = catalogue().get(name, Entry())
    return name in _RUN_NOTHING or (entry.any_option and not (entry.wraps or entry.shell))


def _takes_of_git(words: Sequence[Word]) -> bool:
    return words[1].text in _GIT and not words[1].is_open


def _calculates_nothing(words: Sequence[Word]) -> bool:
    return all(word.text not in _CALCULATE for word in words)


def _declares(words: Sequence[Word]) -> bool:
    pairs = [word.text.partition("=")[0] for word in words[1:]]
    return all(_LOCAL_NAME.fullmatch(each) or each == "-r" for each in pairs)


def _finds(words: Sequence[Word]) -> bool:
    """Return whether no open word of `find` becomes an `-exec` with a program behind it."""
    valued = catalogue()["find"].options.valued
    for before, word, after in zip(words[:-1], words[1:], (*words[2:], Word("-")), strict=True):
        is_value = before.text in valued and not before.is_open
        if word.is_open and not (word.is_single and (is_value or after.text[:1] in ("-", "(", "!", ")", "\\"))):
            return False
    return True


def _wraps_plainly(words: Sequence[Word]) -> bool:
    """Return whether what a wrapper runs begins where it seems to: no word before it may become several."""
    inner = max((each.words for each in unfolded(words) if not each.is_guess), key=len, default=())
    # `{}` is what `xargs` puts in.
    loose, loose_inside = (
        sum(word.is_open and not word.is_single and word.text != "{}" for word in some) for some in (words, inner)
    )
    return loose <= loose_inside


_TAKES: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    **dict.fromkeys(("declare", "local", "readonly", "typeset"), _declares),
    **dict.fromkeys(("[", "[[", "printf", "test"), _calculates_nothing),
    "find": _finds,
    "git": _takes_of_git,
}
