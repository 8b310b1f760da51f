"""The nested commands that a command line runs.

They are for restrictions, so they are over-approximated.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

import attrs

from permitry.actions.programs.catalogue import catalogue, record_of, remember
from permitry.actions.programs.git import git_program
from permitry.actions.programs.guesses import guessed
from permitry.actions.programs.inner import has_letter, listed, program_of, read, run
from permitry.actions.programs.nested import MOST_INNER, RUNNERS, after_options, only_checks, wrapped
from permitry.actions.programs.running import ANY_COMMAND, OF_SHELLS, Inner, wrapper_of
from permitry.actions.reading.strict import UnreadableError, read_strictly
from permitry.core.action import Word

__all__ = ["MOST_WORDS", "Inner", "program_of", "runs_others", "shell_text", "unfolded", "words_elsewhere"]

_NAMES_A_FILE = re.compile(r"(?:\A|[\s;&|({])=\w")
"""In zsh, `=git` is the file that `git` runs."""
MOST_WORDS = 500
"""How many words of a command line are looked at."""

Words = Sequence[Word]


def unfolded(words: Words) -> tuple[Inner, ...]:
    """Return all nested commands that the program of a command line runs, as far as its words show."""
    name, words = program_of(words), words[:MOST_WORDS]
    record = record_of(name)
    readers = [RUNNERS.get(record.runner), shell_text if record.shell else None, git_program, wrapped, listed, _of_gnu]
    found: dict[Inner, Inner] = {}
    for reader in filter(None, readers):
        for inner in _some(reader(words)):
            found.setdefault(
                inner, attrs.evolve(inner, by=name, is_guess=inner.is_guess or name in catalogue().elsewhere)
            )
    for inner in _some(guessed(name, words)):
        found.setdefault(inner, attrs.evolve(inner, by=f"{name}?", is_guess=True))
    return tuple(inner for inner in found.values() if inner.words or (inner.text and not inner.text.isspace()))


def shell_text(words: Words) -> Iterator[Inner]:
    """Yield the text after `-c`, and its parameters as guessed commands; without `-c`, the script with its words."""
    if only_checks(words):
        return
    at = next((at for at, word in enumerate(words) if at and (has_letter(word, "c") or word.is_open)), 0)
    yield from (read(word.text.partition("=")[2]) for word in words if word.text.startswith("--command="))
    at = at or next((at for at, word in enumerate(words) if word.text == "--command"), 0)
    if not at:
        yield from after_options(words[1:], OF_SHELLS)
        return
    start = _text_after(words, at)
    yield from (attrs.evolve(read(word.text), is_guess=True) for word in words[at + 1 : start])
    if start >= len(words):
        return
    text, parameters = words[start].text, words[start + 1 :]
    yield read(text)
    if program_of(words) == "zsh" and _NAMES_A_FILE.search(text):
        yield ANY_COMMAND
    if "$" in text and _may_run_parameter(text):
        yield attrs.evolve(run(parameters), is_guess=True)
        yield attrs.evolve(run(parameters[1:]), is_guess=True)


def _text_after(words: Words, at: int) -> int:
    """Return the index of the text of `sh -c`: behind further options, of which `o` and `O` take a value each."""
    while at < len(words):
        option = words[at].text
        at += 1 + sum(letter in "oO" for letter in ("" if option.startswith("--") else option))
        if option in ("-", "--") or not (at < len(words) and words[at].text[:1] in ("-", "+")):
            return at
    return at


def _may_run_parameter(text: str) -> bool:
    """Return whether a text may run one of its parameters as a program: the strict reader refuses such a text."""
    try:
        read_strictly(text)
    except UnreadableError:
        return True
    return False


def _of_gnu(words: Words) -> Iterator[Inner]:
    """Yield the command with the name that the program has where GNU's are those of the system."""
    name = catalogue().of_gnu.get(program_of(words))
    if name is not None:
        yield Inner("", (attrs.evolve(words[0], text=name), *words[1:]))


def runs_others(words: Words) -> bool:
    """Return whether the program may run a command that its words contain, at any position."""
    name = program_of(words)
    record = record_of(name)
    is_listed = record.runner or record.shell or record.runs_values or record.runs_after or record.runs_behind
    return bool(is_listed) or wrapper_of(name) is not None


def _some(inners: Iterator[Inner]) -> Iterator[Inner]:
    """Yield nested commands up to the limit; if there are more, an unknown command represents the rest."""
    yield from itertools.islice(inners, MOST_INNER)
    yield from (ANY_COMMAND for _ in itertools.islice(inners, 1))


def words_elsewhere(words: Words) -> frozenset[Word]:
    """Return the words of a command line that are run on another machine (`ssh host …`), behind wrappers as well."""
    return _words_elsewhere(tuple(words))


@remember(4096)
def _words_elsewhere(words: tuple[Word, ...]) -> frozenset[Word]:
    name = program_of(words)
    elsewhere = catalogue().elsewhere
    if elsewhere.isdisjoint((name, *(word.text for word in words))):
        return frozenset()
    record = record_of(name)
    if words[1:] and words[1].text in record.commands.keys() - record.runs_behind.keys():
        # As `docker secret create`, and not `docker create`.
        return frozenset()
    inner = dict.fromkeys(each.words for each in unfolded(words) if each.words)
    if name not in elsewhere:
        return frozenset(word for some in inner for word in _words_elsewhere(some))
    # If several words may be the program, each of them may also be the value of an option: a file on this machine.
    doubtful = {some[0] for some in inner} if len(inner) > 1 else set()
    return frozenset(itertools.chain.from_iterable(inner)) - doubtful
