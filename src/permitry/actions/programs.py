"""Whether a command only reads.

Takes the commands of the strict reader and answers with None, or with the reason why a command may do more than read.
The answer is None only for a program, sub-command and option that `programs.toml` lists; the wrappers around a program
are taken off first.

Source: shared/reference/security.md, section 3 and "Contracts used by the case files".
"""

import string
from collections.abc import Iterable, Iterator, Sequence

import attrs

from permitry.actions.awk import check_awk
from permitry.actions.catalogue import Entry, Parts, RefusedError, catalogue, read_options
from permitry.actions.expressions import check_find, check_printf, check_set, check_tar, check_test
from permitry.actions.sed import check_sed
from permitry.actions.strict import Command, UnreadableError, Word, read_strictly

__all__ = ["RefusedError", "peeled", "why_not_reading", "why_not_reading_all"]

DEEPEST = 4
"""How many wrappers and shells may stand around a program."""

_SHELL_OPTIONS = frozenset({"-c", "-lc"})
_NETWORK_FILES = ("/dev/tcp", "/dev/udp")
_PLAIN_VALUE = frozenset(string.ascii_letters + string.digits + "_-+,.@ ")
_DIGITS = frozenset(string.digits)
_LOCALE_NAMES = frozenset({"LANG", "LANGUAGE"})
_VARIABLES: dict[str, frozenset[str]] = {
    "CI": frozenset({"1", "true"}),
    "CLICOLOR": frozenset({"0", "1"}),
    "CLICOLOR_FORCE": frozenset({"0", "1"}),
    "FORCE_COLOR": frozenset({"0", "1", "2", "3"}),
    "GIT_OPTIONAL_LOCKS": frozenset({"0", "1"}),
    "GIT_PAGER": frozenset({"", "cat"}),
    "NO_COLOR": frozenset({"", "0", "1"}),
    "PAGER": frozenset({"", "cat"}),
    "TERM": frozenset({"dumb", "xterm", "xterm-256color"}),
}
_NUMBERS = frozenset({"COLUMNS", "LINES"})

_EXPRESSIONS = {"find": check_find, "printf": check_printf, "set": check_set, "test": check_test}
_SCRIPTS = {"awk": check_awk, "sed": check_sed, "tar": check_tar}


def why_not_reading(command: Command) -> str | None:
    """Return why a command may do more than read, in one phrase for a human; None if it only reads."""
    return why_not_reading_all((command,))


def why_not_reading_all(commands: Iterable[Command]) -> str | None:
    """Return why the commands of a script may do more than read; None if all of them only read.

    Looks at them together as well: behind a `cd`, `git` may find an embedded repository, whose configuration executes.
    """
    has_moved = False
    try:
        for outer in commands:
            for command in peeled(outer):
                _check(command)
                name = command.words[0].text
                if name == "git" and has_moved:
                    return "`git` behind `cd` may find a repository that runs programs"
                has_moved = has_moved or name == "cd"
    except RefusedError as error:
        return str(error)
    return None


# Around the program --------------------------------------------------------------------------------------------------


def peeled(command: Command) -> tuple[Command, ...]:
    """Return the commands that run once the wrappers around a program are taken off: one, or those of a `sh -c` text.

    Redirections and assignments are looked at on the way. Their places are those of the outermost command.

    Raises: `RefusedError` if a wrapper is used in a way that is not listed, or one of these does more than read.
    """
    return tuple(_peel(command, 0))


def _peel(command: Command, depth: int) -> Iterator[Command]:
    _check_surroundings(command)
    while True:
        entry = catalogue().get(command.words[0].text)
        if entry is None or not (entry.wraps or entry.shell):
            yield command
            return
        depth += 1
        if depth > DEEPEST:
            raise RefusedError("too many programs that run another")
        if entry.shell:
            yield from _shell(command, depth)
            return
        inner = _wrapped(command, entry)
        if not inner:
            yield command
            return
        command = attrs.evolve(command, words=inner)


def _shell(command: Command, depth: int) -> Iterator[Command]:
    """Yield the commands of a shell's text: exactly `-c` and one word."""
    name, arguments = command.words[0].text, command.words[1:]
    if len(arguments) != 2 or arguments[0].text not in _SHELL_OPTIONS or any(word.is_glob for word in arguments):  # noqa: PLR2004 -- `-c` and the text
        raise RefusedError(f"`{name}` with something else than `-c` and one text")
    try:
        commands = read_strictly(arguments[1].text)
    except UnreadableError as error:
        raise RefusedError(f"`{name} -c` with a text that is not readable: {error}") from error
    for inner in commands:
        yield from _peel(attrs.evolve(inner, start=command.start, end=command.end), depth)


def _wrapped(command: Command, entry: Entry) -> tuple[Word, ...]:
    """Return the words behind a wrapper; none if it runs nothing."""
    name = command.words[0].text
    parts = read_options(command.words[1:], entry, name=name, options_first=True)
    operands = parts.operands
    count = entry.leading
    while entry.sets and count < len(operands) and "=" in operands[count].text:
        variable, _, value = operands[count].text.partition("=")
        _check_assignment(variable, value)
        count += 1
    if entry.shows & parts.names:
        return ()
    if parts.is_spread or any(word.is_glob for word in operands[: count + 1]):
        raise RefusedError(f"`{name}` with a pattern")
    if len(operands) <= count:
        if entry.bare:
            return ()
        raise RefusedError(f"`{name}` without a command")
    return tuple(operands[count:])


def _check_surroundings(command: Command) -> None:
    for name, value in command.assignments:
        _check_assignment(name, value)
    for redirection in command.redirections:
        target = redirection.target
        if target is None:
            continue
        if any(name in target for name in _NETWORK_FILES):
            raise RefusedError(f"`{target}` opens a network connection")
        if redirection.operator != "<" and target != "/dev/null":
            raise RefusedError(f"writes `{target}`")


def _check_assignment(name: str, value: str) -> None:
    """Refuse a variable that is not on the short list, or a value that names something else than a word."""
    if name in _LOCALE_NAMES or name.startswith("LC_"):
        is_known = _is_locale(value)
    elif name == "TZ":
        is_known = set(value) <= _PLAIN_VALUE | {"/"} and not value.startswith(("/", ".")) and ".." not in value
    elif name in _NUMBERS:
        is_known = set(value) <= _DIGITS
    else:
        is_known = value in _VARIABLES.get(name, ())
    if not is_known:
        raise RefusedError(f"sets `{name}`")


def _is_locale(value: str) -> bool:
    """Return whether a locale is one in which a letter is never part of another: scripts are read byte for byte."""
    language, _, encoding = value.partition(".")
    if encoding.lower().replace("-", "") == "utf8":
        return set(language) <= _PLAIN_VALUE
    return value in ("", "C", "POSIX")


# The program ---------------------------------------------------------------------------------------------------------


def _check(command: Command) -> None:
    """Refuse a command, its wrappers taken off, that may do more than read."""
    name = command.words[0].text
    entry = catalogue().get(name)
    if entry is None:
        raise RefusedError(f"`{name}` is named by its path" if "/" in name else f"`{name}` is not a known program")
    words = command.words[1:]
    for text, reason in entry.refused_text.items():
        if any(text in word.text for word in words):
            raise RefusedError(f"`{name}` with `{text}` {reason}")
    if entry.script == "xargs":
        _check_xargs(words, entry)
    else:
        _check_call(words, entry, name)


def _check_call(words: Sequence[Word], entry: Entry, name: str) -> None:
    if entry.never or entry.network:
        raise RefusedError(_why_never(words, entry, name))
    if entry.any_option or entry.wraps:
        return
    if entry.script in _EXPRESSIONS:
        _EXPRESSIONS[entry.script](words, entry)
    elif entry.commands:
        _check_sub_command(words, entry, name)
    else:
        parts = read_options(_unbundled(words) if entry.script == "tar" else words, entry, name=name)
        _check_parts(parts, entry, name)
        if entry.script:
            _SCRIPTS[entry.script](parts)


def _why_never(words: Sequence[Word], entry: Entry, name: str) -> str:
    reason = entry.never or "opens network connections"
    command = next((word.text for word in words if not word.text.startswith("-")), "")
    if command in entry.looks:
        return f"`{name} {command}` only looks, but `{name}` {reason}"
    return f"`{name}` {reason}"


def _check_sub_command(words: Sequence[Word], entry: Entry, name: str) -> None:
    if words and words[0].text in entry.commands:
        parts = Parts(operands=list(words), before=len(words))
    else:
        parts = read_options(words, entry, name=name, options_first=True)
    if not parts.operands:
        if not entry.bare:
            raise RefusedError(f"`{name}` without a sub-command")
        return
    command = parts.operands[0]
    inner = entry.commands.get(command.text)
    if inner is None or not parts.before or parts.is_spread or command.is_glob:
        raise RefusedError(f"`{name} {command.text}` is not a known sub-command")
    _check_call(parts.operands[1:], inner, f"{name} {command.text}")


def _check_parts(parts: Parts, entry: Entry, name: str) -> None:
    """Refuse operands where there may be none, and options that must be there and are not."""
    has_patterns = parts.is_spread or any(word.is_glob for word in parts.operands)
    if entry.most_operands is not None and (has_patterns or len(parts.operands) > entry.most_operands):
        raise RefusedError(f"`{name}` with more operands than {entry.most_operands}")
    if entry.operands_need and (parts.operands or has_patterns) and not entry.operands_need & parts.names:
        raise RefusedError(f"`{name}` with an operand")
    if entry.needs and not entry.needs & parts.names and not ("operand" in entry.needs and parts.before):
        raise RefusedError(f"`{name}` without one of {', '.join(sorted(entry.needs))}")
    if entry.options_first and any(word.may_be_option and word.text != "-" for word in parts.operands[: parts.before]):
        raise RefusedError(f"`{name}` with an option behind an operand")
    for word in parts.operands:
        if not word.text.startswith(entry.operand_start):
            raise RefusedError(f"`{name}` with the operand `{word.text}`")
        if entry.refused_start and (word.text.startswith(entry.refused_start) or _may_start(word)):
            raise RefusedError(f"`{name}` with the operand `{word.text}`")


def _may_start(word: Word) -> bool:
    """Return whether a pattern may become a word that begins with anything."""
    return word.is_glob and word.text[:1] in ("*", "?", "[")


def _unbundled(words: Sequence[Word]) -> Sequence[Word]:
    """Return the arguments of `tar` with the hyphen that its first one may lack.

    Only with one `f`, at the end: the values of such letters are the words that follow, in order.
    """
    if not words or words[0].may_be_option:
        return words
    letters = words[0].text
    if letters.find("f") != len(letters) - 1:
        raise RefusedError(f"`tar` with `{letters}`")
    return (attrs.evolve(words[0], text=f"-{letters}"), *words[1:])


def _check_xargs(words: Sequence[Word], entry: Entry) -> None:
    """Refuse `xargs` unless its program takes any option: file names come from elsewhere and may look like options."""
    parts = read_options(words, entry, name="xargs")
    if parts.is_spread:
        raise RefusedError("`xargs` with a pattern")
    if not parts.operands:
        raise RefusedError("`xargs` without a command starts `echo`")
    program = parts.operands[0]
    inner = catalogue().get(program.text)
    replaced = [value or "{}" for name, value in parts.found if name in ("-I", "--replace")]
    if inner is None or not inner.any_option or program.is_glob or any(text in program.text for text in replaced):
        raise RefusedError(f"`xargs` runs `{program.text}` with words that are not known")
