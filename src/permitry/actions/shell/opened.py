"""Whether the open words of a command, whose text is not known, may make its program run another command.

A program that is known to run no other runs itself, whatever its words are; one that is not known may take several
words for a command, but not a word in quotes. For one that runs others, a word in quotes after an option is taken for
the value of that option, and one that begins with literal text for no option.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from permitry.actions.folders import Folder
from permitry.actions.patches import hidden_patch
from permitry.actions.programs.candidates import reads_code
from permitry.actions.programs.catalogue import catalogue
from permitry.actions.programs.sed import SED, with_script
from permitry.actions.shell.command import Command
from permitry.actions.shell.expressions import program_of
from permitry.actions.shell.languages import LANGUAGES
from permitry.actions.shell.nested import READERS, xargs
from permitry.actions.shell.runners import runs_others, unfolded
from permitry.actions.shell.running import FIRST_OPERAND, SHELLS, SUBCOMMANDS, wrapper_of
from permitry.actions.shell.variables import declared, runs_text
from permitry.core.action import Access, Connect, Operands, Touch, Word

__all__ = ["anything_of", "may_run_open", "why_may_run_more"]

Words = Sequence[Word]

_FIRST = frozenset("$`-+@!:|")
_EVALUATE = frozenset(
    {".", "alias", "bind", "builtin", "compgen", "complete", "coproc", "enable", "eval", "fc", "getopts", "hash"}
    | {"let", "mapfile", "readarray", "set", "shopt", "source", "trap"}
)
"""Builtins whose words are code, or names that bash evaluates."""

_AWK = frozenset({"awk", "gawk", "mawk", "nawk", "original-awk"})
_TOUCH_NOTHING = frozenset(
    {":", "[", "[[", "basename", "dirname", "echo", "exit", "false", "printf", "return", "seq", "test"}
)
"""Programs that take no word for a path whose contents they read, or for an address."""

_RUN_NOTHING = frozenset({"[[", "break", "cd", "continue", "exit", "fg", "jobs", "return", "shift", "ulimit", "umask"})
"""Builtins that are not in the catalogue, and run nothing."""

_RUNNERS = frozenset({"ed", "gmake", "less", "make", "man", "more", "ninja", "socat", "tcl", "tclsh", "wish"})
"""Programs that run a command given in a word, or in an option, in their own way."""

_RUN_NOTHING_OF_GIT = frozenset(
    {"add", "annotate", "apply", "blame", "branch", "cat-file", "check-ignore", "checkout", "cherry", "cherry-pick"}
    | {"clean", "commit", "count-objects", "describe", "diff", "diff-index", "diff-tree", "for-each-ref", "fsck", "gc"}
    | {"hash-object", "init", "log", "ls-files", "ls-tree", "merge", "merge-base", "mv", "name-rev", "notes", "push"}
    | {"range-diff", "reflog", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog", "show"}
    | {"show-ref", "stash", "status", "switch", "symbolic-ref", "tag", "update-index", "update-ref", "whatchanged"}
    | {"worktree", "write-tree"}
)
"""Sub-commands of git that run no command which their words name."""

_VALUED_OF_READ = re.compile("-[ers]*[dintpNu]")
_VALUED_OF_GIT = frozenset({"-C", "--git-dir", "--work-tree", "--namespace"})


def may_run_open(words: Words) -> bool:
    """Return whether an open word among these may be a command that the program runs, or an option that names one."""
    if not any(word.is_open for word in words[1:]):
        return False
    name = program_of(words)
    if name in _EVALUATE or name in SHELLS:
        return True
    return _SPECIAL.get(name, _by_kind)(words)


def _by_kind(words: Words) -> bool:
    """Return the same for a program that has no rule of its own."""
    name = program_of(words)
    if name in LANGUAGES or reads_code(words) or name in SED or name in _AWK:
        return _before_operand(words)
    if wrapper_of(name) is not None or name == "xargs":
        return _before_command(words)
    sub_command = next((word.text for word in words[1:] if not word.text.startswith("-") and not word.is_open), "")
    if (name, sub_command) in SUBCOMMANDS:
        return _before_command(words)
    if any(each[0] == name for each in SUBCOMMANDS) and name not in READERS and sub_command:
        return any(map(_may_start, itertools.takewhile(lambda word: word.text != sub_command, words)))
    if name in _RUNNERS or runs_others(words):
        return any(map(_may_start, _after_options(words)))
    is_known = name in catalogue() or name in _RUN_NOTHING
    return not is_known and any(word.is_open and not word.is_single for word in words)


def _may_start(word: Word) -> bool:
    """Return whether an open word may begin an option, or another word that does."""
    return word.is_open and not (word.is_single and word.text[:1] not in _FIRST)


def _after_options(words: Words) -> Iterable[Word]:
    """Return the words but the program, those after `--`, and those in quotes after an option."""
    before = list(itertools.takewhile(lambda word: word.text != "--" or word.is_open, words))
    has_values = program_of(words) not in FIRST_OPERAND
    for last, word in itertools.pairwise(before):
        is_value = has_values and word.is_single and last.text.startswith("-") and not last.is_open
        if not is_value:
            yield word


def _before_operand(words: Words) -> bool:
    """Return the same for a program whose first operand is a script: the words after that are data."""
    for last, word in itertools.pairwise(words):
        if word.is_open:
            return not (word.is_single and last.text in ("-v", "-F"))
        if (word.text == "-" or not word.text.startswith("-")) and not last.text.startswith("-"):
            return False
    return False


def _before_command(words: Words) -> bool:
    """Return the same for a wrapper: what comes after its own options is a command that is looked at by itself."""
    if program_of(words) == "xargs":
        # Each command is there twice, the second time with an open word at its end.
        lengths = [len(each.words) for each in itertools.islice(xargs(words), 0, None, 2)]
    else:
        lengths = [len(each.words) for each in unfolded(words)]
    own = words[: len(words) - max(lengths, default=0)]
    return any(map(_may_start, _after_options(own)))


def _of_find(words: Words) -> bool:
    """Return whether a word of `find` may be `-exec` and a command; one in quotes makes a command of what follows."""
    return any(not word.is_single for word in _after_options(words) if _may_start(word))


def _of_git(words: Words) -> bool:
    at = 1
    while at < len(words) and words[at].text.startswith("-") and not words[at].is_open:
        is_valued = words[at].text in _VALUED_OF_GIT
        if is_valued and any(_may_start(word) and not word.is_single for word in words[at + 1 : at + 2]):
            return True
        at += 1 + is_valued
    command = words[at] if at < len(words) else Word("")
    if command.is_open:
        return not command.is_single or at + 1 < len(words)
    return command.text not in _RUN_NOTHING_OF_GIT and any(map(_may_start, _after_options(words[at:])))


def _of_test(words: Words) -> bool:
    """Return whether a name may come after `-v`: bash evaluates its subscript."""
    return any(
        (last.is_open or last.text in ("-v", "-R")) and (word.is_open or "[" in word.text)
        for last, word in itertools.pairwise(words)
    ) or any(word.is_open and not word.is_single for word in words)


def _of_printf(words: Words) -> bool:
    """Return whether a format may be `-v`, or set a variable, by a name with a subscript."""
    first = words[1]
    is_option = first.is_open and (len(words) > len(["printf", "format"]) or not first.is_single)
    return is_option or "%n" in first.text or first.text.startswith("-v")


def _of_declaration(words: Words) -> bool:
    """Return whether a word is not certainly an assignment to one literal name."""
    named = (word.text.partition("=")[0] for word in words[1:] if word.is_open)
    return not all(name.isidentifier() and name.isascii() for name in named)


def _of_names(words: Words) -> bool:
    return any(word.is_open for word in words)


def _of_read(words: Words) -> bool:
    """Return whether a word of `read` may be a name: bash evaluates its subscript. Values of options are none."""
    return any(
        word.is_open and not (word.is_single and _VALUED_OF_READ.fullmatch(last.text))
        for last, word in itertools.pairwise(words)
    )


_SPECIAL: Mapping[str, Callable[[Words], bool]] = {
    "find": _of_find,
    "git": _of_git,
    "printf": _of_printf,
    "read": _of_read,
    **dict.fromkeys(("[", "test"), _of_test),
    **dict.fromkeys(("declare", "export", "local", "readonly", "typeset"), _of_declaration),
    **dict.fromkeys(("unset", "wait"), _of_names),
}


# The whole command ---------------------------------------------------------------------------------------------------


def why_may_run_more(command: Command) -> str | None:
    """Return why a command may run another that its words do not show, or patch other files; None if it does not."""
    pairs = (*command.assignments, *declared(command))
    variable = next((name for name, value in pairs if runs_text(name, value)), None)
    if variable is not None:
        return f"sets `{variable}`, by which a shell runs other text"
    open_text = any(each.is_open and each.target is None for each in command.redirections)
    if open_text and (reads_code(command.words) or with_script(command.words, "") != command.words):
        return f"`{command.words[0].text}` runs a text with an expansion"
    if open_text and hidden_patch(command.words, "") is not None:
        return f"`{command.words[0].text}` applies a text with an expansion"
    if not command.only_assigns and may_run_open(command.words):
        word = next(word for word in command.words if word.is_open)
        return f"`{word.text}` is not known before it runs, and `{command.words[0].text}` may run it"
    return None


def anything_of(words: tuple[Word, ...], found: Operands, folder: Folder) -> Iterator[Touch | Connect]:
    """Yield any path and any address if an open word may be one, and none of what was found is that."""
    word = next((word for word in words[1:] if word.is_open), None)
    if word is None or program_of(words) in _TOUCH_NOTHING:
        return
    every = (*found.touches, *found.connects, *found.guessed)
    if not any(isinstance(each, Touch) and each.place.is_open for each in every):
        yield from (folder.place_of(Word("", is_open=True), access, origin=word.text) for access in Access)
    is_known = program_of(words) in catalogue() and not catalogue()[program_of(words)].network
    if not is_known and not any(isinstance(each, Connect) and each.host is None for each in every):
        yield Connect(word.text, is_certain=False)
