"""Nested commands that are guessed from common conventions; guesses are for restrictions, never for permissions."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from permitry.actions.programs.candidates import reads_code
from permitry.actions.programs.catalogue import record_of
from permitry.actions.programs.coded import commands_in_code
from permitry.actions.programs.inner import program_of
from permitry.actions.programs.languages import LANGUAGES, commands_of_make, commands_of_socat
from permitry.actions.programs.literals import LITERAL
from permitry.actions.programs.running import ANY_COMMAND, Inner
from permitry.core.action import Word

__all__ = ["GUESSES", "guessed"]

Words = Sequence[Word]

_LOOKED_AT = 12
_INTRODUCING = frozenset(
    {"--", "-c", "-e", "-x", "--command", "--exec", "--run", "exec", "exec-env", "develop", "enter", "run", "x"}
)
_COMPUTES = re.compile(
    r"!.*[%#]|\b(?:exe(?:cute)?|system\w*|job_start|term\w*|\w*prg|sh(?:ell)?|py\w*|lua|perl|ruby|tcl|libcall\w*"
    r"|so(?:urce)?|norm(?:al)?|eval|feedkeys)\b"
)
"""Commands of an editor that run code, or a text with names of files in it."""
_REPLACING = ("--entrypoint", "--command")
_BEFORE_TEXT = ("platform shell ", "shell ", "!", "|", "exec ")


def guessed(name: str, words: Words) -> Iterator[Inner]:
    """Yield what a program may run, guessed from the form of its words."""
    record = record_of(name)
    if not record.is_known:
        yield from _follow(words)
    if record.guess:
        yield from GUESSES[record.guess](words)
    elif words and reads_code(words):
        yield from commands_in_code(name, words)
    written = "\n".join(_read_code(name, words))
    yield from (Inner("", text=written),) if written else ()


def _read_code(name: str, words: Words) -> Iterator[str]:
    """Yield the commands in words that are code in the language of a program."""
    texts = tuple(word.text for word in words[1:])
    if name in ("gmake", "make"):
        yield from commands_of_make(texts)
    elif name == "socat":
        yield from (each for text in texts for each in commands_of_socat(text))
    elif language := record_of(name).language:
        yield from (each for text in texts for each in LANGUAGES[language](text))


def _anywhere(words: Words) -> Iterator[Inner]:
    """Yield the commands that may begin at one of several words."""
    texts = [word.text for word in words]
    if texts[1:3] == ["alias", "set"]:
        yield from (Inner("", text=text.removeprefix("!")) for text in texts[3:])
    elif program_of(words) == "gh" and "ssh" in texts:
        yield from _start_at_each((), words[texts.index("ssh") + 1 :])
    else:
        for at, word in enumerate(words):
            option, equals, value = word.text.partition("=")
            if option in _REPLACING:
                program = (Word(value),) if equals else words[at + 1 : at + 2]
                yield from _start_at_each(program, words[at + 1 + (not equals) :])


def _start_at_each(program: Words, words: Words) -> Iterator[Inner]:
    """Yield `program` with the words from each index on, and each word with a blank as a shell text."""
    for at in range(len(words)):
        yield Inner("", (*program, *words[at:]))
        yield from (Inner("", text=word.text) for word in words[at : at + 1] if _has_blank(word.text))


def _follow(words: Words) -> Iterator[Inner]:
    """Yield the command after a word that many programs put before a command: `devbox run …`, `x -- …`."""
    for at, word in enumerate(words[1:_LOOKED_AT], start=2):
        if word.text in _INTRODUCING and words[at:]:
            yield Inner("", tuple(words[at:]))
            if _has_blank(words[at].text):
                yield Inner("", text=words[at].text)


def _textual(words: Words) -> Iterator[Inner]:
    """Yield every word with a blank in it as a shell text."""
    for word in words[1:]:
        for text in (word.text, word.text.partition("=")[2]):
            if _has_blank(text):
                begin = next((mark for mark in _BEFORE_TEXT if text.startswith(mark)), "")
                yield Inner("", text=text.removeprefix(begin))


def _editor(words: Words) -> Iterator[Inner]:
    """Yield the text after `!` in a command of an editor, and the string literals in one with a parenthesis.

    A command that may run a text that it computes is an unknown one.
    """
    for last, word in itertools.pairwise(words):
        is_command = last.text in ("-c", "--cmd") or word.text.startswith(("+", "-c"))
        if is_command and _COMPUTES.search(word.text):
            yield ANY_COMMAND
        _, mark, text = word.text.partition("!")
        if mark:
            yield Inner("", text=text)
        if "(" in word.text:
            yield from (Inner("", text=match[1] or match[2]) for match in LITERAL.finditer(word.text))


def _values(words: Words) -> Iterator[Inner]:
    """Yield what is behind each equals sign of a word, if it has a blank: `-o A::B::=text`."""
    for word in words[1:]:
        _, *parts = word.text.split("=", _LOOKED_AT)
        values = ("=".join(parts[at:]) for at in range(len(parts)))
        yield from (Inner("", text=value) for value in values if _has_blank(value))


def _sops(words: Words) -> Iterator[Inner]:
    yield from _textual(words) if words[1:] and words[1].text.startswith("exec-") else ()


def _has_blank(text: str) -> bool:
    return any(char.isspace() for char in text)


GUESSES: Mapping[str, Callable[[Words], Iterator[Inner]]] = {
    "anywhere": _anywhere,
    "editor": _editor,
    "introduced": _follow,
    "sops": _sops,
    "texts": _textual,
    "values": _values,
}
"""The functions that guess, by the name in a record."""
