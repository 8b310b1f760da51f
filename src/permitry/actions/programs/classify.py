"""Whether a program only reads: None if it does, or the reason why it may do more.

It is None only if `programs.toml` lists the program, its sub-command and its options.

Source: shared/reference/security.md, section 3 and "Contracts used by the case files".
"""

import re
from collections.abc import Sequence

from permitry.actions.command import Command
from permitry.actions.programs.arguments import is_spread, read_options, sub_command
from permitry.actions.programs.awk import check_awk
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.entries import Entry, RefusedError
from permitry.actions.programs.expressions import check_find, check_printf, check_set, check_test, names_only_own
from permitry.actions.programs.limits import check_limits
from permitry.actions.programs.nested import only_checks
from permitry.actions.programs.sed import check_sed
from permitry.actions.programs.views import check_view
from permitry.actions.programs.wrappers import PARAMETERS, check_assignments
from permitry.core.action import Word

__all__ = ["doubt_of", "only_looks"]

# The words that load a module, and not a field (`.import`), a text ("import") or a key (`import:`).
_LOADS_MODULES = re.compile(r"(?<![\w.\"$])(?:import|include|modulemeta)\b(?!\s*:)")

_EXPRESSIONS = {"find": check_find, "printf": check_printf, "set": check_set, "test": check_test}
_SCRIPTS = {"awk": check_awk, "sed": check_sed}


def doubt_of(command: Command, *, has_moved: bool = False) -> str | None:
    """Return why an unwrapped command may do more than read, in one phrase for a human; None if it only reads.

    `has_moved`: after a `cd`, `git` may find an embedded repository, whose configuration may run programs.
    """
    try:
        check_assignments(_find_exported(command), is_exported=not command.only_assigns)
        if command.only_assigns:
            return None
        _check(command)
    except RefusedError as error:
        return str(error)
    return _doubt_around(command, has_moved=has_moved)


def only_looks(command: Command, *, has_moved: bool = False) -> bool:
    """Return whether an unwrapped command certainly only looks: it may connect, and changes nothing."""
    entry = record_of(command.words[0].text) if command.words else Entry()
    if not entry.views or command.words[0].is_open:
        return False
    try:
        check_assignments(command.assignments)
        check_view(command.words, entry)
    except RefusedError:
        return False
    return _doubt_around(command, has_moved=has_moved) is None


def _doubt_around(command: Command, *, has_moved: bool) -> str | None:
    """Return why what is around a command may do more than read."""
    if has_moved and command.words[0].text == "git":
        return "`git` behind `cd` may find a repository that runs programs"
    if PARAMETERS in command.within:
        return "a shell with parameters"
    around = map(record_of, command.within)
    return next((f"a wrapper {entry.reason}" for entry in around if entry.does), None)


def _find_exported(command: Command) -> Sequence[tuple[str, str]]:
    """Return the assignments of a command that a program sees; `IFS= read` is how a whole line is read."""
    is_of_read = command.words[0].text == "read"
    return [each for each in command.assignments if not (is_of_read and each == ("IFS", ""))]


# The program ---------------------------------------------------------------------------------------------------------


def _check(command: Command) -> None:
    """Refuse an unwrapped command that may do more than read."""
    name = command.words[0].text
    entry = record_of(name)
    if not entry.is_known or command.words[0].is_open:
        raise RefusedError(f"`{name}` is named by its path" if "/" in name else f"`{name}` is not a known program")
    if entry.shell == "bash" and only_checks(command.words):
        return
    if entry.shell == "bash":
        raise RefusedError(f"`{name}` runs a file")
    words = command.words[1:]
    _check_texts(words, entry, name)
    if entry.script == "jq":
        _check_jq(words)
    if entry.script == "xargs":
        _check_xargs(words, entry)
    else:
        _check_call(words, entry, name)


def _check_texts(words: Sequence[Word], entry: Entry, name: str) -> None:
    for text, reason in entry.refused_text.items():
        if any(text in word.text for word in words):
            raise RefusedError(f"`{name}` with `{text}` {reason}")


def _check_call(words: Sequence[Word], entry: Entry, name: str) -> None:
    if len(words) == 1 and words[0].text in entry.shows and not is_spread(words[0]):
        return
    if entry.script == "names" and names_only_own(name, words, entry):
        return
    if entry.does:
        raise RefusedError(f"`{name}` {entry.reason}")
    if entry.any_option or entry.wraps:
        return
    if entry.script in _EXPRESSIONS:
        _EXPRESSIONS[entry.script](words, entry)
    elif entry.commands:
        _check_sub_command(words, entry, name)
    else:
        parts = read_options(words, entry, name=name)
        check_limits(parts, entry, name)
        if entry.script in _SCRIPTS:
            _SCRIPTS[entry.script](parts)


def _check_sub_command(words: Sequence[Word], entry: Entry, name: str) -> None:
    match sub_command(words, entry, name):
        case (command, inner, rest):
            _check_call(rest, inner, command)
        case None if not entry.bare:
            raise RefusedError(f"`{name}` without a sub-command")


def _check_jq(words: Sequence[Word]) -> None:
    """Refuse `jq` with modules: it reads files that the command need not name."""
    for word in words:
        if word.is_open or word.text.startswith(("-L", "--library-path", "--lib")) or _LOADS_MODULES.search(word.text):
            raise RefusedError("`jq` with modules")


def _check_xargs(words: Sequence[Word], entry: Entry) -> None:
    """Refuse `xargs` unless every option of its program is harmless: names from its input may look like options."""
    parts = read_options(words, entry, name="xargs")
    if parts.is_spread:
        raise RefusedError("`xargs` with a pattern")
    if not parts.operands:
        raise RefusedError("`xargs` without a command starts `echo`")
    program = parts.operands[0]
    inner = record_of(program.text)
    replaced = [value.text if value else "{}" for name, value in parts.found if name in ("-I", "--replace")]
    if not inner.any_option or is_spread(program) or any(text in program.text for text in replaced):
        raise RefusedError(f"`xargs` runs `{program.text}` with words that are not known")
