"""Nested commands: what a program such as `xargs`, `sudo` or `bash -c` runs, by its own options and operands.

Each reader takes the words of a command, the program first, and yields the commands and shell texts it may run. Known
options are skipped. Where an option may or may not take the next word as its value, both readings are yielded, so what
is yielded may not be a command at all.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from permitry.actions.builtins import DECLARING, READING
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Wrapper
from permitry.actions.programs.git import git_runs
from permitry.actions.programs.inner import (
    after_dashes,
    fd,
    find,
    has_letter,
    joined,
    marked,
    program_of,
    read,
    run,
)
from permitry.actions.programs.running import ANY_COMMAND, Inner, as_wrapper, wrapper_of
from permitry.actions.programs.scripted import commands_of_awk, commands_of_sed
from permitry.actions.programs.spelling import is_option
from permitry.actions.variables import fact_of, is_evaluated, is_special
from permitry.core.action import Word
from permitry.core.words import Found

__all__ = [
    "MOST_INNER",
    "RUNNERS",
    "after_options",
    "dash_c",
    "find_command",
    "only_checks",
    "reads_list",
    "ssh",
    "wrapped",
    "xargs",
]

MOST_INNER = 64
"""The most nested commands of one kind in a command line; beyond that, the rest may be any command."""

MOST_STARTS = MOST_INNER + 1

Words = Sequence[Word]

_CHECKS = re.compile(r"-[cenvx]+")
_REPLACING = re.compile(r"-[A-Za-z0-9]*?[IJi]")
_OF_NULLS = re.compile(r"-[rtx]*0[rtx]*|--null")
_READS_LIST = re.compile(r"-[0oprtx]*a|--a")
_SEPARATES = re.compile(r"-[0oprtx]*d|--d")
_LACKS_VALUE = re.compile(r"-[0rtx]*[A-Za-z]|--[a-z-]+")
_SPLITS = re.compile(r"--s|-[^-]*S")
_SUBSTITUTIONS = ("$(", "`", "<(", ">(")
_COMMANDS_OF_SU = ("--command", "--session-command")
_RUNNING_VARIABLES = frozenset(["BASH_ENV", "GIT_CONFIG_PARAMETERS", "GIT_EDITOR", "PROMPT_COMMAND", "PS4"])
"""Variables whose value a shell or git runs as a command."""


# Wrappers ------------------------------------------------------------------------------------------------------------


def find_command(words: Words, wrapper: Wrapper) -> tuple[Sequence[int], bool]:
    """Return where the nested command may begin, at several places if options may take a value; and if it may lack."""
    starts: list[int] = []
    operands, at, doubts = 0, 0, wrapper.optional
    while at < len(words) and len(starts) < MOST_STARTS:
        word = words[at]
        at += 1
        if word.text == "--" and operands <= wrapper.leading:
            ends = (at, at + wrapper.leading - operands)
            return (*starts, *(each for each in ends if each < len(words))), ends[1] >= len(words)
        if word.text.startswith("-") and not word.is_open and operands <= wrapper.leading + doubts:
            taken = wrapper.takes(word.text)
            at += taken or 0
            doubts += taken is None
            continue
        if wrapper.is_assignment(word):
            continue
        doubts += word.is_open
        if operands >= wrapper.leading:
            starts.append(at - 1)
        if operands >= wrapper.leading + doubts:
            return starts, False
        operands += 1
    return starts, True


def after_options(words: Words, wrapper: Wrapper) -> Iterator[Inner]:
    """Yield the commands that may begin behind the options of a wrapper."""
    return (run(words[at:]) for at in find_command(words, wrapper)[0])


def _run_by(name: str, words: Words, *, sets: bool = False) -> Iterator[Inner]:
    wrapper = as_wrapper(name)
    return after_options(words[1:], attrs.evolve(wrapper, sets=sets or wrapper.sets))


def wrapped(words: Words) -> Iterator[Inner]:
    """Yield the command after a wrapper such as `sudo`, and after a sub-command that is one (`docker exec …`)."""
    name = program_of(words)
    wrapper, behind = wrapper_of(name), record_of(name).runs_behind
    if wrapper is not None and not any(_shows(word, wrapper) for word in words[1:2]):
        yield from after_options(words[1:], wrapper)
    for at, word in enumerate(words[1:], start=2):
        wrapper = behind.get(word.text)
        if wrapper is not None:
            yield from after_options(words[at:], wrapper)


def _shows(word: Word, wrapper: Wrapper) -> bool:
    """Return whether a word is an option with which a wrapper runs nothing."""
    return any(has_letter(word, option[1]) for option in wrapper.shows)


def _time(words: Words) -> Iterator[Inner]:
    """Yield the command after `time` and assignments: in bash it is a word of the grammar; the program takes none."""
    yield from _run_by("time", words, sets=True)


def _run_parts(words: Words) -> Iterator[Inner]:
    """Yield any command: each program of a folder is run, with the arguments that are given."""
    if len(words) > 1 and not any(word.text.startswith(("--test", "--list", "--report-only")) for word in words):
        yield ANY_COMMAND


def _perl(words: Words) -> Iterator[Inner]:
    """Yield the command in an operand with a `|` at one end: perl runs it in place of opening a file."""
    for word in words[1:]:
        text = word.text.strip()
        if "|" in (text[:1], text[-1:]):
            yield attrs.evolve(read(text.strip("|")), is_guess=True)


def _compiler(words: Words) -> Iterator[Inner]:
    """Yield the program by which a compiler runs those for its parts, with more arguments: `-wrapper git,push`."""
    for last, word in itertools.pairwise(words):
        if last.text == "-wrapper":
            yield run((*map(Word, word.text.split(",")), Word("{}", is_open=True)))


def _coproc(words: Words) -> Iterator[Inner]:
    yield run(words[1:])
    yield run(words[2:])


def xargs(words: Words) -> Iterator[Inner]:
    """Yield what `xargs` runs: as written, and with its replace strings and added arguments as unknown words."""
    for inner in _run_by("xargs", words):
        options = words[1 : len(words) - len(inner.words)]
        replace_strings = _replace_strings(options)
        found = _read_names(words[0], options)
        yield inner
        given = (_replace(word, replace_strings, found) for word in inner.words)
        yield run((*given, Word("{}", is_open=True, found=found)))


def _read_names(first: Word, options: Words) -> Found | None:
    """Return the names that `xargs` reads; they are split, unless a null is between them and it expects that."""
    if first.found is None or reads_list(word.text for word in options):
        return None
    # The word before it must not take it for its value.
    pairs = itertools.pairwise(("", *(word.text for word in options)))
    has_nulls = any(_OF_NULLS.fullmatch(text) and not _LACKS_VALUE.fullmatch(last) for last, text in pairs)
    has_others = any(_SEPARATES.match(word.text) or word.is_open for word in options)
    if has_nulls and first.found.is_apart and not has_others:
        return first.found
    # Of a name with a blank, a part may look like an option.
    return attrs.evolve(first.found, is_split=True, may_be_option=True)


def reads_list(texts: Iterable[str]) -> bool:
    """Return whether an option of `xargs` may have it read names from a file, in place of its input."""
    return any(map(_READS_LIST.match, texts))


def _replace(word: Word, replace_strings: frozenset[str], found: Found | None) -> Word:
    """Return a word with a replace string in it as unknown, and one that is nothing else as a name."""
    given = marked(word, replace_strings)
    if found is None or word.text not in replace_strings:
        return given
    return attrs.evolve(given, is_single=not found.is_split, found=found)


def _replace_strings(options: Words) -> frozenset[str]:
    """Return the replace strings of `xargs`; an unknown one is the empty text, which is in every word."""
    replace_strings = {"{}"}
    for at, word in enumerate(options):
        name, _, value = word.text.partition("=")
        replacing = _REPLACING.match(word.text)
        if replacing is None and not (len(name) > len("--r") and "--replace".startswith(name)):
            continue
        given = value if replacing is None else word.text[replacing.end() :]
        following = () if given else options[at + 1 : at + 2]
        if word.is_open or any(each.is_open for each in following):
            return frozenset({""})
        replace_strings |= {text for text in (given, *(each.text for each in following)) if text}
    return frozenset(replace_strings)


def _parallel(words: Words) -> Iterator[Inner]:
    operands = [word.text for word in words]
    cut = next((at for at, text in enumerate(operands) if text.startswith(":::")), len(words))
    for inner in _run_by("sem", words[:cut]):
        yield inner
        yield read(joined(inner.words))
    yield from (read(text) for text in operands[cut + 1 : cut + 1 + MOST_STARTS])


# Shell texts ---------------------------------------------------------------------------------------------------------


def only_checks(words: Words) -> bool:
    """Return whether a shell certainly only checks the syntax of its text, and runs nothing: `bash -n`."""
    # Any other option may undo `-n`: an interactive shell runs what it reads.
    options = [word.text for word in words[1:] if word.text[:1] in ("-", "+") or word.is_open]
    are_known = record_of(program_of(words)).shell in ("bash", "posix") and all(map(_CHECKS.fullmatch, options))
    return are_known and any("n" in option for option in options)


def _eval(words: Words) -> Iterator[Inner]:
    # `eval` has no options, and bash takes `--` for their end.
    yield read(joined(words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]))


def _history(words: Words) -> Iterator[Inner]:
    """Yield the text that `history -s` stores, which `fc` may run."""
    yield attrs.evolve(read(joined(words[2:])), is_guess=True)


def _fc(words: Words) -> Iterator[Inner]:
    """Yield any command: with operands, `fc` runs one of the history, perhaps changed, unless it lists them."""
    if len(words) > 1 and not any(has_letter(word, "l") for word in words[1:]):
        yield attrs.evolve(ANY_COMMAND, by=words[0].text)


def _evaluate(words: Words) -> Iterator[Inner]:
    """Yield words with a command substitution that bash may evaluate again, such as the index in `read 'a[$(…)]'`."""
    texts = (word.text for word in words[1:] if not word.is_open and any(sign in word.text for sign in _SUBSTITUTIONS))
    yield from (attrs.evolve(read(text), is_guess=True) for text in texts)
    is_read = program_of(words) in READING | {"printf"}
    names = [word.text.partition("=")[0] for word in _find_assigned(words)]
    # These expand their words once more.
    completes = program_of(words) in ("compgen", "complete") and any("$" in word.text for word in words)
    if completes or any(_runs_value(name) or (is_read and _may_change(name)) for name in names):
        # What is read into such a variable is run, or evaluated, and is not among the words.
        yield attrs.evolve(ANY_COMMAND, by=words[0].text)


def _runs_value(name: str) -> bool:
    return name in _RUNNING_VARIABLES or is_evaluated(name)


def _may_change(name: str) -> bool:
    """Return whether a word of `read` and the like may name a variable that changes what the shell or others run."""
    attached = name[2:] if name.startswith("-") and not name.startswith("--") else ""
    names = (each for each in (name, attached) if each)
    return any(is_special(each) and not fact_of(each, "is_data") for each in names)


def _find_assigned(words: Words) -> Iterator[Word]:
    """Yield the words that may name a variable to which a builtin assigns; of `printf` that after `-v`."""
    name = program_of(words)
    if name in DECLARING | READING:
        yield from words[1:]
    elif name == "printf" and len(words) > 1 and words[1].text.startswith("-v"):
        attached = words[1].text.removeprefix("-v")
        yield from (Word(attached),) if attached else words[2:3]


def _watch(words: Words) -> Iterator[Inner]:
    for inner in _run_by("watch", words):
        yield inner
        yield read(joined(inner.words))


def ssh(words: Words) -> Iterator[Inner]:
    """Yield what `ssh` runs: the words after the host, also joined as a shell text."""
    for inner in _run_by("ssh", words):
        yield inner
        yield read(joined(inner.words))


def _env(words: Words) -> Iterator[Inner]:
    """Yield the text that `env -S` splits, with the rest of the words appended."""
    options = (at for at, word in enumerate(words) if at and _SPLITS.match(word.text))
    for at in itertools.islice(options, MOST_STARTS):
        word = words[at].text
        attached = word.partition("=" if word.startswith("--") else "S")[2]
        text = f"{attached} {joined(words[at + 1 :])}".lstrip()
        yield read(f"env {text}" if text.startswith("-") else text)


def dash_c(words: Words) -> Iterator[Inner]:
    """Yield the text after `-c` or `--command`, as in `su`, `script` and `flock`; options may be abbreviated."""
    for at, word in enumerate(words[1:], start=1):
        following = (read(each.text) for each in words[at + 1 : at + 2])
        option, equals, value = word.text.partition("=")
        cluster, letter, attached = word.text.partition("c")
        if any(is_option(option, name) for name in _COMMANDS_OF_SU):
            yield from (read(value),) if equals else following
        elif letter and cluster.startswith("-") and not cluster.startswith("--"):
            yield read(attached)
            yield from following


def _each_text(words: Words) -> Iterator[Inner]:
    """Yield every operand as a separate shell text, as in `pee` and `concurrently`."""
    yield from (read(word.text) for word in words[1:] if not word.text.startswith("-"))


def _powershell(words: Words) -> Iterator[Inner]:
    """Yield the text after `-Command`, in any of its spellings; without it, all words."""
    at = next((at for at, word in enumerate(words) if word.text.lower().startswith(("-c", "/c"))), 0)
    yield read(joined(words[at + 1 :]))


def _hash(words: Words) -> Iterator[Inner]:
    """Yield the program that `hash -p` binds to another name, with unknown arguments."""
    if any(has_letter(word, "p") for word in words[1:]):
        yield from (run((word, Word("", is_open=True))) for word in words[2:3])


def _shell_of_device(words: Words) -> Iterator[Inner]:
    """Yield what `adb shell` runs: its words joined as a shell text."""
    at = next((at for at, word in enumerate(words, start=1) if word.text in ("shell", "exec-out", "exec-in")), 0)
    if at:
        yield read(joined(words[at:]))


RUNNERS: Mapping[str, Callable[[Words], Iterator[Inner]]] = {
    "adb": _shell_of_device,
    "alias": lambda words: (read(word.text.partition("=")[2]) for word in words[1:]),
    "applet": lambda words: iter([run(words[1:])]),
    "awk": commands_of_awk,
    "bind": lambda words: (read(word.text.rpartition('":')[2]) for word in words[1:]),
    "command-after-dashes": after_dashes,
    "compiler": _compiler,
    "coproc": _coproc,
    "env": _env,
    "eval": _eval,
    "evaluated-words": _evaluate,
    "fc": _fc,
    "fd": fd,
    "find": find,
    "git": git_runs,
    "hash": _hash,
    "history": _history,
    "parallel": _parallel,
    "perl": _perl,
    "powershell": _powershell,
    "run-parts": _run_parts,
    "sed": commands_of_sed,
    "ssh": ssh,
    "text-after-c": dash_c,
    "texts": _each_text,
    "time": _time,
    "trap": lambda words: (read(word.text) for word in words[1:3]),
    "watch": _watch,
    "xargs": xargs,
}
"""The functions that find the commands in the words of a program, by the name in its record."""
