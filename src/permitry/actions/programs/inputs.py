"""Programs that take commands from their standard input."""

import itertools
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence

from permitry.actions.programs.arguments import is_cluster
from permitry.actions.programs.candidates import IN_PLACE, reads_code
from permitry.actions.programs.catalogue import catalogue, record_of
from permitry.actions.programs.inner import CLUSTER, has_letter, program_of
from permitry.actions.programs.nested import dash_c, find_command, only_checks, ssh, xargs
from permitry.actions.programs.running import as_wrapper
from permitry.actions.programs.sources import sources_of
from permitry.core.action import Word

__all__ = ["FED", "STREAMS", "reads_commands", "reads_shell", "takes_commands"]

Words = Sequence[Word]

_STREAM = re.compile(r"-|/+dev/(?:std(?:in|out|err)|fd/\d+)|/+proc/[^/]+/(?:task/[^/]+/)?fd/\d+")
_NOT_FROM_INPUT = re.compile(r"-[A-Za-z0-9]*[ceEmpr].*|--(?:eval|print|command|execute|version|help)(?:=.*)?|-[hV]")
_INTERACTIVE = re.compile(r"-[A-Za-z]*i[A-Za-z]*|-m(?:code|asyncio|pdb)|code|asyncio|pdb|--interactive")
STREAMS = re.compile(r"std(?:in|out|err)|\d+")
"""The names of streams in the folder of them: `/dev/stdin`, `/dev/fd/3`."""
_VALUED_OF_SHELLS = frozenset({"--rcfile", "--init-file"})


def reads_commands(words: Words) -> bool:
    """Return whether a command line takes commands from its standard input: a shell without a script."""
    record = record_of(program_of(words))
    reads = FED.get(record.input)
    if reads is not None:
        return reads(words)
    return record.shell != "" and _shell_reads(words)


def takes_commands(
    words: Words, within: Sequence[str] = (), *, is_piped: bool = False, has_input: bool = False
) -> bool:
    """Return whether a command that is run `within` others takes commands, or code, that are not in its words.

    `has_input`: its input is a file or a text. Only what takes commands in the way of a shell, or may, takes these.
    """
    # `rsync` adds the host to the words of `ssh`, and a command of its own.
    if "rsync" in within and program_of(words) == "ssh":
        return False
    if reads_commands(words) or _reads_source(words):
        return True
    if is_piped and words and _reads_code(words):
        return True
    is_given = has_input or (is_piped and "xargs" not in within)
    return is_given and _is_console(words)


def _is_console(words: Words) -> bool:
    """Return whether an editor or a debugger takes commands from its input, which is not the text: `vim -`."""
    modes = ["E", "e", "s"]
    is_text = any(word.text == "-" for word in words) and program_of(words) != "ex"
    is_text = is_text and not any(has_letter(word, letter) for word in words for letter in modes)
    return record_of(program_of(words)).input == "console" and not is_text


def _reads_code(words: Words) -> bool:
    """Return whether an interpreter of another language, such as `python`, takes its program from its input."""
    if not (reads_code(words) or record_of(program_of(words)).input == "code"):
        return False
    if any(_NOT_FROM_INPUT.fullmatch(word.text) for word in words[1:]):
        is_interactive = any(_INTERACTIVE.fullmatch(word.text) for word in words[1:])
        return is_interactive and not IN_PLACE.fullmatch(program_of(words))
    operands = [word for word in words[1:] if not word.text.startswith("-") or word.text == "-"]
    if program_of(words) in ("bun", "deno") and [word.text for word in operands[:1]] == ["run"]:
        operands = operands[1:]
    return not operands or _is_stream(operands[0])


def _shell_reads(words: Words) -> bool:
    if only_checks(words):
        return False
    operands: list[Word] = []
    is_value = False
    for word in words[1:]:
        if not is_value and (word.text[:1] not in ("-", "+") or word.text == "-"):
            operands.append(word)
        is_value = word.text in _VALUED_OF_SHELLS or (bool(CLUSTER.fullmatch(word.text)) and word.text[-1] in "oO")
    return not operands or any(has_letter(word, "s") for word in words[1:]) or _may_be_stream(operands[0])


def _is_stream(word: Word) -> bool:
    return word.is_open or _STREAM.fullmatch(posixpath.normpath(word.text)) is not None


def _may_be_stream(word: Word) -> bool:
    # After `cd /dev`, `./stdin` is the stream; a file of such a name elsewhere is rare.
    return _is_stream(word) or STREAMS.fullmatch(posixpath.basename(word.text)) is not None


def _lacks_command(words: Words) -> bool:
    return find_command(words[1:], as_wrapper(program_of(words)))[1]


def _lacks_text(words: Words) -> bool:
    return next(dash_c(words), None) is None and not any(has_letter(word, "u") for word in words[1:])


def _sudo_reads(words: Words) -> bool:
    options = [word for word in words[1:] if word.text.startswith("-")]
    asks = any(has_letter(each, "s") or has_letter(each, "i") or each.text[:4] in ("--sh", "--lo") for each in options)
    return asks and _lacks_command(words)


def _source_reads(words: Words) -> bool:
    operands = [word for word in words[1:3] if word.text != "--"]
    return any(map(_may_be_stream, operands[:1]))


def _xargs_reads(words: Words) -> bool:
    commands = (inner.words for inner in xargs(words))
    return any(
        record_of(program_of(each)).shell and (any(has_letter(word, "c") for word in each[1:]) or _shell_reads(each))
        for each in commands
    )


def _crontab_reads(words: Words) -> bool:
    return not any(word.text in ("-l", "-r") for word in words[1:]) and _any_stream(words)


def _any_stream(words: Words) -> bool:
    return len(words) == 1 or any(_is_stream(word) for word in words[1:])


def _reads_source(words: Words) -> bool:
    """Return whether a file from which a program takes code is its input; the script of `sed` is read elsewhere."""
    return record_of(program_of(words)).script != "sed" and any(map(_may_be_stream, sources_of(words)))


def reads_shell(words: Words) -> bool:
    """Return whether a command line certainly runs its whole standard input in a shell, and on this machine."""
    record = record_of(program_of(words))
    is_otherwise = record.input in ("crontab", "lines", "makefile", "xargs")
    return reads_commands(words) and not is_otherwise and program_of(words) not in catalogue().elsewhere


def _ssh_reads(words: Words) -> bool:
    options = as_wrapper("ssh").options
    pairs = itertools.pairwise(words)
    has_none = any("N" in word.text and is_cluster(word, options) and not _may_take(last) for last, word in pairs)
    return not has_none and not any(word.text for inner in ssh(words) for word in inner.words)


def _may_take(word: Word) -> bool:
    """Return whether a word of `ssh` may take the next one for its value."""
    is_option = word.text.startswith("-")
    return word.text[:1] in ("$", "`") or (is_option and as_wrapper("ssh").takes(word.text) != 0)


FED: Mapping[str, Callable[[Words], bool]] = {
    "commands": lambda _: True,
    "crontab": _crontab_reads,
    "lines": lambda _: True,
    "makefile": _reads_source,
    "source": _source_reads,
    "ssh": _ssh_reads,
    "sudo": _sudo_reads,
    "without-command": _lacks_command,
    "without-text": _lacks_text,
    "xargs": _xargs_reads,
}
"""Whether a program runs commands from its input, by what its record says of that."""
