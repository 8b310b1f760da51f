"""What the words of a command become that are substitutions: names that a search prints, or a number."""

import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from posixpath import join

import attrs

from permitry.actions.builtins import MOVING
from permitry.actions.command import Command
from permitry.actions.programs.catalogue import record_of, remember
from permitry.actions.programs.found import NUMBER, names_by, plain_of
from permitry.actions.programs.names import prints_names
from permitry.actions.programs.running import may_move
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.words import Found, Word

__all__ = ["are_usual", "commands_of", "example", "moves_late", "with_examples", "with_found", "with_names"]

_SUBSTITUTION = re.compile(r"\$\(((?:[^()`\\]|\\[^`\n])*)\)|`([^()`\\]*)`")
_EACH = re.compile(r'\A"(\$\(.*\))"\Z', re.DOTALL)
"""Names that a null ends, each of them whole."""
_TEMPORARY = re.compile(r"\$\(mktemp(?: -d)?\)")
_NEW = Found((Word(join("/", "tmp", "tmp.0")),), has_links=False, is_top=True)
"""A name like those that are new."""
_NEVER_FAILS = re.compile(r"(?:\$\(|`)\s*(?:date|id|nproc|uname)\b")
_AROUND = re.compile("[A-Za-z0-9_.+/-]*")
"""What may be around a number or a name so that both are one name: no sign is in it at which programs split it."""
_OPTION = re.compile("-{1,2}[A-Za-z][A-Za-z-]*=?")
_MOST_KEPT = 256
_QUOTES = str.maketrans("", "", "'\"\\\\")
_OF_READ = re.compile(r"(?<![\w$])IFS= +read ")
_OTHERWISE = ("GIT_", "IFS", "PATH", "TMPDIR", "alias")


def are_usual(text: str, commands: Sequence[Command]) -> bool:
    """Return whether searches in a text of these commands print what they seem to, and blanks separate words in it."""
    # In the words of a command, quotes are taken off and braces expanded; a text for `eval` has quotes again.
    texts = (text, *(each.translate(_QUOTES) for command in commands for each in command.argv))
    others = (_OF_READ.sub("read ", each) for each in texts)
    return not any(name in each for each in others for name in _OTHERWISE)


def with_names(command: Command, found: Found | None, script: Sequence[Command] = ()) -> Command:
    """Return a command of a script with what is known of its words, and of the names that it reads if it is `xargs`."""
    words = command.words
    if any(map(_is_kept, words)) and moves_late(script):
        # In another folder, a name that is kept in a variable leads elsewhere.
        words = tuple(attrs.evolve(word, source="") if _is_kept(word) else word for word in words)
    words = with_found(words)
    if may_move(words):
        words = tuple(attrs.evolve(word, found=None) if _is_relative(word) else word for word in words)
    first, *rest = words
    has_other_input = any(each.operator == "<" for each in command.redirections)
    if found is not None and not has_other_input and record_of(first.text).script == "xargs":
        first = attrs.evolve(first, found=found)
    return attrs.evolve(command, words=(first, *rest))


def with_examples(command: Command) -> Command:
    """Return a command with an example of each word that is one number, or of git one name of a commit.

    Whether it only reads is the same for all of them; other programs may take a name for a script or a command.
    """
    first, *rest = command.words
    names = (NUMBER, "*")[: 1 + (first.text == "git")]
    return attrs.evolve(command, words=(first, *rest[:1], *(example(word, names) for word in rest[1:])))


def example(word: Word, patterns: Iterable[str]) -> Word:
    """Return a word for one that becomes a number or a name of these patterns; any other as it is."""
    if word.found is None or not word.found.is_top:
        return word
    text = word.found.tops[0].text
    for pattern in patterns:
        text = text.replace(pattern, "1")
    return word if "*" in text else Word(text)


def _is_relative(word: Word) -> bool:
    """Return whether a word becomes names that lead elsewhere from another folder."""
    return word.found is not None and not word.found.is_top


def moves_late(commands: Sequence[Command]) -> bool:
    """Return whether a command behind the first ones changes the folder."""
    return any(map(_moves, itertools.dropwhile(_moves, commands)))


def _moves(command: Command) -> bool:
    return command.words[0].text in MOVING


def _is_kept(word: Word) -> bool:
    """Return whether a word is a variable with names that a search printed."""
    return bool(word.source) and _names(word.source) is not None


def with_found(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return words, and of those that are substitutions what names they become, in a text that `are_usual` accepts."""
    return tuple(_with_found(word) if word.is_open and word.found is None else word for word in words)


def _with_found(word: Word) -> Word:
    text = word.source or word.text
    if _TEMPORARY.fullmatch(text):
        return attrs.evolve(word, is_single=True, found=_NEW)
    found, is_whole = _names(text), _EACH.fullmatch(text) is not None
    if found is None or found.is_apart is not is_whole:
        return _with_numbers(word)
    # A loop over the names has split them, whether its variable is in quotes or not.
    is_split = not word.is_single or (bool(word.source) and not is_whole)
    may_be_option = found.may_be_option or is_split
    return attrs.evolve(word, found=attrs.evolve(found, is_split=is_split, may_be_option=may_be_option))


@remember(_MOST_KEPT)
def _names(text: str) -> Found | None:
    """Return the names that a substitution prints; None where they are not known."""
    found, has_names = None, False
    for command in commands_of(_EACH.sub(r"\1", text)):
        found = names_by(command, found)
        has_names = prints_names(command, has_names=has_names)
    return found


def commands_of(text: str) -> tuple[Command, ...]:
    """Return the commands of a substitution that is one pipeline; none for any other text."""
    return _commands(_inside(_SUBSTITUTION.fullmatch(text)))


def _inside(whole: re.Match[str] | None) -> str:
    if whole is None:
        return ""
    return whole[1] or whole[2]


@functools.lru_cache(maxsize=_MOST_KEPT)
def _commands(text: str) -> tuple[Command, ...]:
    """Return the commands of one pipeline; none for any other text."""
    try:
        first, *others = read_strictly(text)
    except UnreadableError:
        return ()
    is_pipeline = first.follows == "" and all(each.follows == "|" for each in others)
    if is_pipeline and not any(each.within for each in (first, *others)):
        return (first, *others)
    return ()


def _with_numbers(word: Word) -> Word:
    """Return a word with what it is if each substitution in it prints one number or name, else as it was."""
    every = list(_SUBSTITUTION.finditer(word.text))
    patterns = [_plain_of(_inside(each)) for each in every]
    around = _SUBSTITUTION.sub("", word.text)
    if word.is_glob or not all(patterns) or not patterns:
        return word
    # One that fails prints nothing, so that the next word may be what this one seems to be.
    is_option = around.startswith("-")
    is_needed = is_option or not (around or word.is_single)
    if is_needed and not all(_NEVER_FAILS.match(each[0]) for each in every):
        return word
    # What fails prints nothing: what is around it is then the whole name.
    left = iter(patterns if is_option or not around else ("*" for _ in patterns))
    top = Word(_SUBSTITUTION.sub(lambda _: next(left), word.text), is_glob=True)
    is_known = _AROUND.fullmatch(around) is not None
    if is_option:
        is_known = top.text == f"{around}{NUMBER}" and _OPTION.fullmatch(around) is not None
    found = Found((top,), has_links=False, is_top=True) if is_known else None
    return attrs.evolve(word, is_single=True, found=found)


def _plain_of(text: str) -> str:
    commands = _commands(text)
    return plain_of(commands[0]) if len(commands) == 1 else ""
