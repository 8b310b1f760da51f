"""Whether the open words of a command, whose text is not known, may make its program run another command.

A program of which no option and no operand runs anything runs itself, whatever its words are. For any other, an open
word may be an option that runs a command, unless it comes after `--`, is the value of an option that is known to take
one, or is one word that begins with literal text. What a program runs of its words is looked at in the same way.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from permitry.actions.command import Command
from permitry.actions.derive.runners import unfolded
from permitry.actions.derive.substituted import example
from permitry.actions.folders import Folder
from permitry.actions.patches import hidden_patch
from permitry.actions.programs.arguments import unbundle
from permitry.actions.programs.candidates import reads_code
from permitry.actions.programs.catalogue import record_of, remember
from permitry.actions.programs.entries import Entry, Options, RefusedError
from permitry.actions.programs.found import NUMBER
from permitry.actions.programs.inner import NAMES_FROM, program_of, with_names
from permitry.actions.programs.inputs import takes_commands
from permitry.actions.programs.nested import xargs
from permitry.actions.programs.open_options import may_be_options, may_start
from permitry.actions.programs.running import Inner, as_wrapper, wrapper_of
from permitry.actions.programs.sed import with_script
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.actions.reading.words import PROCESS
from permitry.actions.variables import declared, runs_text
from permitry.core.action import Access, Connect, Operands, Touch, Word

__all__ = ["OPEN_WORDS", "anything_of", "may_run_open", "why_may_run_more"]

Words = Sequence[Word]

DEEPEST = 8
"""How many programs that run another one are looked into."""

OPTIONS_OF_MAKE = Options(
    plain=frozenset({"-k", "-n", "-q", "-s"}), valued=frozenset({"-C"}), attached=frozenset({"-j"})
)
_CODE = re.compile(r"-[A-Za-z0-9]*[ceEprx]|eval|--(?:eval|print|command|execute|exec)")
"""Options after which there is code in the language of many programs."""
_TESTS_OF_FIND = frozenset("-(),!")
_VALUED_OF_READ = re.compile("-[ers]*[dintpNu]")
_HALF_A_NAME = re.compile(r"[^-$`{}/ ]+[$`{]")
"""What may become a sub-command: literal text that goes on with an expansion."""
_NAME = Word("./*", is_glob=True)
_LOCAL_OR_HOST = re.compile(r"[^$`:]*[/@]")


def may_run_open(words: Words, depth: int = DEEPEST, *, has_names: bool = False) -> bool:
    """Return whether an open word among these may be a command that the program runs, or an option that names one.

    `has_names`: the input of `xargs` is names of files, which are taken for no options.
    """
    return _may_run_open(tuple(words), depth, has_names=has_names)


@remember(4096)
def _may_run_open(words: tuple[Word, ...], depth: int, *, has_names: bool) -> bool:
    # INVARIANT: kept, since the same words are inside many others, which would take exponential time.
    name = program_of(words)
    if not (name == "xargs" or any(word.is_open or word.text == NAMES_FROM for word in words[1:])):
        return False
    record = record_of(name)
    if record.runs_nothing:
        return False
    is_code = record.evaluates or record.shell or record.language
    own = OPEN_WORDS.get(record.open_words, _by_kind)
    if is_code or depth == 0 or own(words):
        return True
    inners = (
        attrs.evolve(each, words=tuple(with_names(each.words))) if has_names else each for each in unfolded(words)
    )
    return any(_reads_open(words, inner, depth) for inner in inners)


def _reads_open(words: Words, inner: Inner, depth: int) -> bool:
    """Return whether an open word is in a text that a program reads as a command, or may run of one."""
    if inner.text is None:
        # What looks like an option names no program.
        return not inner.words[0].text.startswith("-") and may_run_open(inner.words, depth - 1)
    text = inner.text
    return any(word.is_open and (word.text in text or text in word.text) for word in words[1:])


@remember(4096)
def _find_unread(words: tuple[Word, ...], depth: int) -> str | None:
    """Return a text that a program runs in a shell, and that may run more than it shows; None if there is none."""
    for inner in unfolded(words) if depth and not record_of(program_of(words)).runs_nothing else ():
        if inner.is_guess:
            continue
        if inner.text is None:
            found = _find_unread(inner.words, depth - 1)
        else:
            found = inner.text if _may_run_more(inner.text, program_of(words), depth - 1) else None
        if found is not None:
            return found
    return None


@remember(4096)
def _may_run_more(text: str, by: str, depth: int) -> bool:
    try:
        commands = read_strictly(text)
    except UnreadableError:
        return True
    return any(
        any(_reasons(command, depth))
        or takes_commands(command.words, (by,), is_piped=command.is_piped, has_input=command.has_input)
        for command in commands
    )


def _by_kind(words: Words) -> bool:
    """Return the same for a program that has no rule of its own."""
    name = program_of(words)
    record = record_of(name)
    if record.script == "awk":
        return _before_operand(words)
    entry, behind = _of_sub_command(words)
    is_code = any(
        _CODE.fullmatch(last.text) and last.text not in entry.texts and word.is_open
        for last, word in itertools.pairwise(words[1:])
    )
    if is_code or any(word.text == "timeit" for word in words):
        return True
    wrapper = wrapper_of(name)
    if wrapper is not None:
        return _before_command(words, wrapper.options)
    at = next((at for at, word in enumerate(words) if word.text in record.runs_behind and not word.is_open), 0)
    if at and not any(map(may_start, words[1:at])):
        return _before_command(words[at:], record.runs_behind[words[at].text].options)
    is_known = record.is_known and not record.passes_on
    words, behind = _with_patterns(words), _with_patterns(behind)
    if any(may_be_options(behind, entry.known) if is_known else may_be_options(words, None)):
        return True
    has_subcommands = not is_known or record.commands or record.runs_behind
    return bool(has_subcommands) and any(word.is_open and _HALF_A_NAME.match(word.text) for word in words[1:])


def _with_patterns(words: Words) -> Words:
    """Return words with a pattern for whole names that a search printed, and one number for any that is printed."""
    every = (example(word, (NUMBER,)) for word in words)
    return [_NAME if word.found is not None and not word.may_be_option else word for word in every]


def _of_sub_command(words: Words) -> tuple[Entry, Words]:
    """Return what is known of a program, or of the sub-command that is called, and the words without its name."""
    entry, at = record_of(program_of(words)), 1
    while at < len(words) and words[at].text in entry.commands:
        entry, at = entry.commands[words[at].text], at + 1
    return entry, (words[0], *words[at:])


def _before_operand(words: Words) -> bool:
    """Return the same for a program whose first operand is a script: the words after that are data."""
    for last, word in itertools.pairwise(words):
        if word.is_open:
            return not (word.is_single and last.text in ("-v", "-F"))
        if (word.text == "-" or not word.text.startswith("-")) and not last.text.startswith("-"):
            return False
    return False


def _before_command(words: Words, options: Options) -> bool:
    """Return the same for a wrapper: what comes after its own options is a command that is looked at by itself."""
    if program_of(words) == "xargs":
        # Each command is there twice, the second time with an open word at its end.
        lengths = [len(each.words) for each in itertools.islice(xargs(words), 0, None, 2)]
    else:
        lengths = [len(each.words) for each in unfolded(words)]
    own = words[: len(words) - max(lengths, default=0)]
    return any(may_be_options(own, options))


def _of_find(words: Words) -> bool:
    """Return whether a word of `find` may be `-exec`, with a command and its end after it."""
    if any(not word.is_single for word in words[1:] if may_start(word)):
        return True
    ends = [at for at, word in enumerate(words) if word.text in (";", "+") or may_start(word)]
    # The word after `-exec` is the program: one that looks like a test of `find` is none.
    return any(
        may_start(word) and (after.is_open or after.text[:1] not in _TESTS_OF_FIND) and max(ends) > at + 1
        for at, (word, after) in enumerate(itertools.pairwise(words))
    )


def _of_git(words: Words) -> bool:
    record, at = record_of("git"), 1
    valued = record.known.valued - record.runs_values - record.runs_open
    while at < len(words) and words[at].text.startswith("-") and not words[at].is_open:
        is_valued = words[at].text in valued
        if is_valued and any(may_start(word) and not word.is_single for word in words[at + 1 : at + 2]):
            return True
        at += 1 + is_valued
    command = words[at] if at < len(words) else Word("")
    if command.is_open:
        return not command.is_single or at + 1 < len(words)
    entry = record.commands.get(command.text, Entry())
    if entry.runs_nothing:
        return False
    # An address such as `ext::git push` is a command.
    return any(may_be_options((words[0], *words[at + 1 :]), entry.known)) or not all(
        _LOCAL_OR_HOST.match(word.text) for word in words[at + 1 :] if word.is_open and command.text != "grep"
    )


def _of_make(words: Words) -> bool:
    """Return whether an open word is more than the value of an option: it may set a variable, whose value is code."""
    marked = [
        attrs.evolve(word, text=f"${word.text}") if word.text[:1] != "-" else word
        for word in words[1:]
        if word.text != "--"
    ]
    return any(may_be_options((words[0], *marked), OPTIONS_OF_MAKE))


def _of_perl(words: Words) -> bool:
    """Return whether an open word is more than a name that was found: perl runs an operand with a `|` at its end."""
    return _by_kind(words) or any(word.is_open and word.text != "{}" for word in words[1:])


def _of_ssh(words: Words) -> bool:
    return any(may_be_options(words, as_wrapper("ssh").options))


def _of_tar(words: Words) -> bool:
    if words[1].is_open:
        # The first word may be a bundle of options without a hyphen.
        return True
    try:
        return any(may_be_options((words[0], *unbundle(words[1:])), record_of("tar").known))
    except RefusedError:
        return any(map(may_start, words))


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


def _has_open(words: Words) -> bool:
    return any(may_start(word) or (word.is_open and not word.text.startswith("$")) for word in words)


def _of_read(words: Words) -> bool:
    """Return whether a word of `read` may be a name: bash evaluates its subscript. Values of options are none."""
    return any(
        word.is_open and not (word.is_single and _VALUED_OF_READ.fullmatch(last.text))
        for last, word in itertools.pairwise(words)
    )


OPEN_WORDS: Mapping[str, Callable[[Words], bool]] = {
    "any": _has_open,
    "assignments": _of_declaration,
    "find": _of_find,
    "format": _of_printf,
    "git": _of_git,
    "make": _of_make,
    "names": _of_read,
    "perl": _of_perl,
    "ssh": _of_ssh,
    "tar": _of_tar,
    "test": _of_test,
}
"""Whether an open word may run something, by what a program's record says of that."""


# The whole command ---------------------------------------------------------------------------------------------------


def why_may_run_more(command: Command, *, has_names: bool = False) -> str | None:
    """Return why a command may run another that its words do not show, or patch other files; None if it does not.

    `has_names`: its input is names of files. As for a pattern, none of them is taken for an option.
    """
    has_other_input = command.redirections or any(word.text.startswith(("-a", "--a")) for word in command.words)
    return next(_reasons(command, DEEPEST, has_names=has_names and not has_other_input), None)


def _reasons(command: Command, depth: int, *, has_names: bool = False) -> Iterator[str]:
    pairs = (*command.assignments, *declared(command))
    yield from (f"sets `{name}`, by which a shell runs other text" for name, value in pairs if runs_text(name, value))
    if command.only_assigns:
        return
    words, program = command.words, f"`{command.words[0].text}`"
    if any(each.is_open and each.target is None for each in command.redirections):
        if reads_code(words) or with_script(words, "") != words:
            yield f"{program} runs a text with an expansion"
        if hidden_patch(words, "") is not None:
            yield f"{program} applies a text with an expansion"
    if may_run_open(words, has_names=has_names):
        yield f"{_what_is_open(words)} is not known before it runs, and {program} may run it"
    if _loads_output(words):
        yield f"{program} may run what another command prints"
    if _find_unread(words, depth) is not None:
        yield f"{program} runs a text that is not read with certainty"


def _what_is_open(words: Words) -> str:
    """Return what is not known of a command, as a message names it."""
    for word in words:
        if word.is_open:
            return f"`{word.text}`"
    if any("{}" in word.text for word in words):
        return "`{}`"
    return f"what `{words[0].text}` reads"


def _loads_output(words: Words) -> bool:
    """Return whether the output of a command that is named as a file may be code for a program."""
    name = program_of(words)
    record = record_of(name)
    if record.runs_nothing:
        return False
    # For these a file is code only after an option.
    is_data = record.script in ("awk", "sed") or name in ("git", "sort")
    return any(
        word.text == PROCESS and not (is_data and last.text[:1] != "-") for last, word in itertools.pairwise(words)
    )


def anything_of(words: Words, unclear: Words, found: Operands, folder: Folder) -> Iterator[Touch | Connect]:
    """Yield any path and any address if an open word may be one (`unclear`), and none of what was found is that."""
    if not unclear:
        return
    word = unclear[0]
    every = (*found.touches, *found.connects, *found.guessed)
    if not any(isinstance(each, Touch) and each.place.is_open for each in every):
        yield from (folder.place_of(Word("", is_open=True), access, origin=word.text) for access in Access)
    record = record_of(program_of(words))
    if ("network" in record.does or not record.is_known) and not any(
        isinstance(each, Connect) and each.host is None for each in every
    ):
        yield Connect(word.text, is_certain=False)
