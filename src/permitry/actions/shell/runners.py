"""Programs that run other programs: what a command line runs besides itself.

This serves restrictions, so it is generous: options are stepped over as far as they are known, and where one may or may
not take the next word as its value, both readings are reported. What begins a command here may still be none.
"""

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from permitry.actions.shell.expressions import (
    CLUSTER,
    after_dashes,
    fd,
    find,
    has_letter,
    joined,
    listed,
    marked,
    program_of,
    read,
    run,
)
from permitry.actions.shell.git import git_program, git_runs
from permitry.actions.shell.guesses import guessed
from permitry.actions.shell.running import (
    ANY_COMMAND,
    ELSEWHERE,
    FIRST_OPERAND,
    LISTED_OPTIONS,
    SHELLS,
    SUBCOMMANDS,
    WRAPPERS,
    Inner,
    Wrapper,
    wrapper_of,
)
from permitry.actions.shell.scripted import SCRIPTED
from permitry.core.action import Word

__all__ = [
    "MOST_WORDS",
    "Inner",
    "program_of",
    "reads_commands",
    "reads_shell",
    "runs_others",
    "unfolded",
    "words_elsewhere",
]

MOST_INNER = 64
"""How many inner commands of one kind a command line may have; of more, the rest may be any."""

MOST_STARTS = MOST_INNER + 1
MOST_WORDS = 500
"""How many words of a command line are looked at."""

Words = Sequence[Word]

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_CHECKS = re.compile(r"-[cenvx]+")
_CHECKING = SHELLS - {"csh", "fish", "nu", "pwsh", "tcsh"}
_REPLACING = re.compile(r"-[0prtox]*[IJi]")
_SPLITS = re.compile(r"--s|-[^-]*S")
_STREAM = re.compile(r"-|/+dev/(?:stdin|fd/\d+)|/+proc/[^/]+/(?:task/[^/]+/)?fd/\d+")
_VALUED_OF_SHELLS = frozenset({"--rcfile", "--init-file"})
_EVALUATE = frozenset(
    {
        "[",
        "compgen",
        "complete",
        "declare",
        "export",
        "let",
        "local",
        "printf",
        "read",
        "readonly",
        "test",
        "typeset",
        "unset",
        "wait",
    }
)


def unfolded(words: Words) -> tuple[Inner, ...]:
    """Return everything the program of a command line runs besides itself, as far as the words say it."""
    name, words = program_of(words), words[:MOST_WORDS]
    readers = [_READERS.get(name), _shell_text if name in SHELLS else None, git_program, _wrapped, listed]
    found: dict[Inner, Inner] = {}
    for reader in filter(None, readers):
        for inner in _some(reader(words)):
            found.setdefault(inner, attrs.evolve(inner, by=name, is_guess=inner.is_guess or name in ELSEWHERE))
    for inner in _some(guessed(name, words)):
        found.setdefault(inner, attrs.evolve(inner, by=f"{name}?", is_guess=True))
    return tuple(inner for inner in found.values() if inner.words or (inner.text and not inner.text.isspace()))


def runs_others(words: Words) -> bool:
    """Return whether the program is one that may run what its words name, in whatever place."""
    name = program_of(words)
    return (
        name in _READERS
        or name in SHELLS
        or name in LISTED_OPTIONS
        or name in FIRST_OPERAND
        or wrapper_of(name) is not None
        or any(each[0] == name for each in SUBCOMMANDS)
    )


def _some(inners: Iterator[Inner]) -> Iterator[Inner]:
    """Yield the first of many, and any command for the rest."""
    yield from itertools.islice(inners, MOST_INNER)
    yield from (ANY_COMMAND for _ in itertools.islice(inners, 1))


# Programs that take commands from their input ------------------------------------------------------------------------


def reads_commands(words: Words) -> bool:
    """Return whether a command line takes commands from its standard input: a shell without a script."""
    name = program_of(words)
    reads = _FED.get(name)
    return reads(words) if reads is not None else name in SHELLS and _shell_reads(words)


def _only_checks(words: Words) -> bool:
    """Return whether a shell looks at the syntax of its text and runs nothing of it: `bash -n`."""
    # Others may take it back: an interactive shell runs what it reads.
    options = [word.text for word in words[1:] if word.text[:1] in ("-", "+") or word.is_open]
    are_known = program_of(words) in _CHECKING and all(map(_CHECKS.fullmatch, options))
    return are_known and any("n" in option for option in options)


def _shell_reads(words: Words) -> bool:
    if _only_checks(words):
        return False
    operands: list[Word] = []
    is_value = False
    for word in words[1:]:
        if not is_value and (word.text[:1] not in ("-", "+") or word.text == "-"):
            operands.append(word)
        is_value = word.text in _VALUED_OF_SHELLS or (bool(CLUSTER.fullmatch(word.text)) and word.text[-1] in "oO")
    return not operands or any(has_letter(word, "s") for word in words[1:]) or _is_stream(operands[0])


def _is_stream(word: Word) -> bool:
    return word.is_open or _STREAM.fullmatch(posixpath.normpath(word.text)) is not None


def _may_lack_command(words: Words, wrapper: Wrapper) -> bool:
    """Return whether the words behind a wrapper may hold no command: they then start a shell."""
    operands = doubts = at = 0
    while at < len(words) and operands <= wrapper.leading + doubts:
        word = words[at]
        at += 1
        if word.text == "--":
            return len(words) - at <= wrapper.leading - operands
        if word.text.startswith("-") and not word.is_open:
            taken = wrapper.takes(word.text)
            at += taken or 0
            doubts += taken is None
        elif not _ASSIGNED.match(word.text):
            operands += 1
            doubts += word.is_open
    return operands <= wrapper.leading + doubts


def _lacks_command(words: Words) -> bool:
    return _may_lack_command(words[1:], WRAPPERS[program_of(words)])


def _lacks_text(words: Words) -> bool:
    return next(_dash_c(words), None) is None and not any(has_letter(word, "u") for word in words[1:])


def _sudo_reads(words: Words) -> bool:
    options = [word for word in words[1:] if word.text.startswith("-")]
    asks = any(has_letter(each, "s") or has_letter(each, "i") or each.text[:4] in ("--sh", "--lo") for each in options)
    return asks and _lacks_command(words)


def _source_reads(words: Words) -> bool:
    operands = [word for word in words[1:3] if word.text != "--"]
    return any(map(_is_stream, operands[:1]))


def _xargs_reads(words: Words) -> bool:
    commands = (inner.words for inner in _xargs(words))
    return any(
        program_of(each) in SHELLS and (any(has_letter(word, "c") for word in each[1:]) or _shell_reads(each))
        for each in commands
    )


def _any_stream(words: Words) -> bool:
    return len(words) == 1 or any(_is_stream(word) for word in words[1:])


def _make_reads(words: Words) -> bool:
    return any(_STREAM.fullmatch(word.text.removeprefix("-f").removeprefix("--file=")) for word in words[1:])


def reads_shell(words: Words) -> bool:
    """Return whether all that a command line takes from its standard input is the text of a shell of this machine."""
    return reads_commands(words) and program_of(words) not in _FED_OTHERWISE | ELSEWHERE


def words_elsewhere(words: Words) -> frozenset[Word]:
    """Return the words of a command line that mean something on another machine alone, behind wrappers as well."""
    name = program_of(words)
    if ELSEWHERE.isdisjoint((name, *(word.text for word in words))):
        return frozenset()
    inner = dict.fromkeys(each.words for each in unfolded(words) if each.words)
    if name not in ELSEWHERE:
        return frozenset(word for some in inner for word in words_elsewhere(some))
    # Where one of several words may be the program, it may as well be the value of an option, which is a file of here.
    doubtful = {some[0] for some in inner} if len(inner) > 1 else set()
    return frozenset(itertools.chain.from_iterable(inner)) - doubtful


def _ssh_reads(words: Words) -> bool:
    return not any(word.text for inner in _ssh(words) for word in inner.words)


_FED_OTHERWISE = frozenset({"crontab", "ed", "gmake", "make", "parallel", "red", "sem", "xargs"})

_FED: Mapping[str, Callable[[Words], bool]] = {
    **dict.fromkeys(("at", "batch", "ed", "newgrp", "parallel", "red"), lambda _: True),
    **dict.fromkeys(
        ("chroot", "fakeroot", "firejail", "nsenter", "run0", "pkexec", "proot", "unshare"), _lacks_command
    ),
    **dict.fromkeys(("runuser", "script", "su"), _lacks_text),
    **dict.fromkeys((".", "source"), _source_reads),
    **dict.fromkeys(("doas", "sudo"), _sudo_reads),
    **dict.fromkeys(("gmake", "make"), _make_reads),
    "crontab": _any_stream,
    "ssh": _ssh_reads,
    "xargs": _xargs_reads,
}


# Wrappers ------------------------------------------------------------------------------------------------------------


def _starts(words: Words, wrapper: Wrapper) -> Iterator[int]:
    """Yield where an inner command may begin: every operand that the doubtful options before it leave possible."""
    doubts = operands = found = at = 0
    while at < len(words) and found < MOST_STARTS:
        word = words[at]
        at += 1
        if word.text == "--" and operands <= wrapper.leading:
            yield from (each for each in (at, at + wrapper.leading - operands) if each < len(words))
            return
        if word.text.startswith("-") and not word.is_open and operands <= wrapper.leading + doubts:
            taken = wrapper.takes(word.text)
            at += taken or 0
            doubts += taken is None
            continue
        if _ASSIGNED.match(word.text):
            continue
        doubts += word.is_open
        if operands >= wrapper.leading:
            found += 1
            yield at - 1
        if operands >= wrapper.leading + doubts:
            return
        operands += 1


def _behind(words: Words, wrapper: Wrapper) -> Iterator[Inner]:
    return (run(words[at:]) for at in _starts(words, wrapper))


def _wrapped(words: Words) -> Iterator[Inner]:
    """Yield what stands behind a wrapper, and behind one that is a sub-command (`docker exec …`)."""
    name = program_of(words)
    wrapper = wrapper_of(name)
    if wrapper is not None:
        yield from _behind(words[1:], wrapper)
    for at, word in enumerate(words[1:], start=2):
        wrapper = SUBCOMMANDS.get((name, word.text))
        if wrapper is not None:
            yield from _behind(words[at:], wrapper)


def _command(words: Words) -> Iterator[Inner]:
    if not any(has_letter(word, "v") or has_letter(word, "V") for word in words[1:2]):
        yield from _behind(words[1:], Wrapper(0, "", "p"))


def _coproc(words: Words) -> Iterator[Inner]:
    yield run(words[1:])
    yield run(words[2:])


def _applet(words: Words) -> Iterator[Inner]:
    yield run(words[1:])


def _xargs(words: Words) -> Iterator[Inner]:
    """Yield what `xargs` runs, once as written and once with the arguments that come from its input."""
    for inner in _behind(words[1:], Wrapper(0, "IEdLnPsaJRSx", "0prtox")):
        marks = _marks(words[1 : len(words) - len(inner.words)])
        yield inner
        yield run((*(marked(word, marks) for word in inner.words), Word("{}", is_open=True)))


def _marks(options: Words) -> frozenset[str]:
    """Return what `xargs` puts arguments in the place of; the empty text, which is in every word, for any."""
    marks = {"{}"}
    for at, word in enumerate(options):
        name, _, value = word.text.partition("=")
        replacing = _REPLACING.match(word.text)
        if replacing is None and not (len(name) > len("--r") and "--replace".startswith(name)):
            continue
        given = value if replacing is None else word.text[replacing.end() :]
        following = () if given else options[at + 1 : at + 2]
        if word.is_open or any(each.is_open for each in following):
            return frozenset({""})
        marks |= {text for text in (given, *(each.text for each in following)) if text}
    return frozenset(marks)


def _parallel(words: Words) -> Iterator[Inner]:
    operands = [word.text for word in words]
    cut = next((at for at, text in enumerate(operands) if text.startswith(":::")), len(words))
    for inner in _behind(words[1:cut], Wrapper(0, "jISaN", "kmqtX0u")):
        yield inner
        yield read(joined(inner.words))
    yield from (read(text) for text in operands[cut + 1 : cut + 1 + MOST_STARTS])


# Texts for a shell ---------------------------------------------------------------------------------------------------


def _shell_text(words: Words) -> Iterator[Inner]:
    """Yield the text behind `-c`, and the command that its parameters make; without `-c`, the script and its words."""
    if _only_checks(words):
        return
    at = next((at for at, word in enumerate(words) if at and (has_letter(word, "c") or word.is_open)), 0)
    yield from (read(word.text.partition("=")[2]) for word in words if word.text.startswith("--command="))
    at = at or next((at for at, word in enumerate(words) if word.text == "--command"), 0)
    if not at:
        yield from _behind(words[1:], Wrapper(0, "oO", "aefhiklmnprstuvxBCEHPT"))
        return
    for start in _starts(words[at + 1 :], Wrapper(0, "oO", "aefhiklmnprstuvxBCEHPTc")):
        text, parameters = words[at + 1 + start], words[at + 2 + start :]
        yield read(text.text)
        if "$" in text.text:
            yield attrs.evolve(run(parameters), is_guess=True)
            yield attrs.evolve(run(parameters[1:]), is_guess=True)


def _eval(words: Words) -> Iterator[Inner]:
    yield read(joined(words[1:]))


def _trap(words: Words) -> Iterator[Inner]:
    yield from (read(word.text) for word in words[1:3])


def _alias(words: Words) -> Iterator[Inner]:
    yield from (read(word.text.partition("=")[2]) for word in words[1:])


def _evaluated(words: Words) -> Iterator[Inner]:
    """Yield the substitutions in a word that bash evaluates again, as the index in `read 'a[$(…)]'`."""
    texts = (word.text for word in words[1:] if "$(" in word.text or "`" in word.text)
    yield from (attrs.evolve(read(text), is_guess=True) for text in texts)


def _watch(words: Words) -> Iterator[Inner]:
    for inner in _behind(words[1:], Wrapper(0, "nq", "bcdegtpxwrCv")):
        yield inner
        yield read(joined(inner.words))


def _ssh(words: Words) -> Iterator[Inner]:
    for inner in _behind(words[1:], Wrapper(1, "BbcDEeFIiJLlmOopPQRSWw", "46AaCfGgKkMNnqsTtVvXxYy")):
        yield inner
        yield read(joined(inner.words))


def _env(words: Words) -> Iterator[Inner]:
    """Yield what `env -S` splits; the rest of the words stands behind it."""
    options = (at for at, word in enumerate(words) if at and _SPLITS.match(word.text))
    for at in itertools.islice(options, MOST_STARTS):
        word = words[at].text
        attached = word.partition("=" if word.startswith("--") else "S")[2]
        text = f"{attached} {joined(words[at + 1 :])}".lstrip()
        yield read(f"env {text}" if text.startswith("-") else text)


def _dash_c(words: Words) -> Iterator[Inner]:
    """Yield the text behind `-c`, as `su`, `script` and `flock` have it."""
    for at, word in enumerate(words[1:], start=1):
        cluster, letter, attached = word.text.partition("c")
        if word.text.startswith("--command="):
            yield read(word.text.partition("=")[2])
        elif word.text == "--command":
            yield from (read(following.text) for following in words[at + 1 : at + 2])
        elif letter and cluster.startswith("-") and not cluster.startswith("--"):
            yield read(attached)
            yield from (read(following.text) for following in words[at + 1 : at + 2])


def _each_text(words: Words) -> Iterator[Inner]:
    """Yield every operand as a text of its own, as `pee` and `concurrently` have it."""
    yield from (read(word.text) for word in words[1:] if not word.text.startswith("-"))


def _powershell(words: Words) -> Iterator[Inner]:
    """Yield what stands behind `-Command`, in any of its spellings, or behind the name alone."""
    at = next((at for at, word in enumerate(words) if word.text.lower().startswith(("-c", "/c"))), 0)
    yield read(joined(words[at + 1 :]))


def _bind(words: Words) -> Iterator[Inner]:
    yield from (read(word.text.rpartition('":')[2]) for word in words[1:])


def _hash(words: Words) -> Iterator[Inner]:
    """Yield the program that `hash -p` puts behind another name, with whatever that name is called with."""
    if any(has_letter(word, "p") for word in words[1:]):
        yield from (run((word, Word("", is_open=True))) for word in words[2:3])


def _shell_of_device(words: Words) -> Iterator[Inner]:
    """Yield what `adb shell` reads: its words joined."""
    at = next((at for at, word in enumerate(words, start=1) if word.text in ("shell", "exec-out", "exec-in")), 0)
    if at:
        yield read(joined(words[at:]))


_READERS: Mapping[str, Callable[[Words], Iterator[Inner]]] = {
    "adb": _shell_of_device,
    "alias": _alias,
    "bind": _bind,
    "busybox": _applet,
    "command": _command,
    "coproc": _coproc,
    "env": _env,
    "eval": _eval,
    "fd": fd,
    "fdfind": fd,
    "find": find,
    "flock": _dash_c,
    "git": git_runs,
    "hash": _hash,
    "kubectl": after_dashes,
    "oc": after_dashes,
    "parallel": _parallel,
    "runuser": _dash_c,
    "script": _dash_c,
    "sem": _parallel,
    "sg": _dash_c,
    "ssh": _ssh,
    "su": _dash_c,
    "toybox": _applet,
    "trap": _trap,
    "watch": _watch,
    "xargs": _xargs,
    **SCRIPTED,
    **dict.fromkeys(_EVALUATE, _evaluated),
    **dict.fromkeys(("concurrently", "hyperfine", "pee"), _each_text),
    **dict.fromkeys(("powershell", "pwsh"), _powershell),
}
