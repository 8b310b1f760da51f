"""What a program may run besides itself where only habit says so: guesses, which restrict and permit nothing."""

import re
from collections.abc import Iterator, Sequence

from permitry.actions.programs.catalogue import catalogue
from permitry.actions.shell.running import LITERAL, Inner
from permitry.core.action import Word

__all__ = ["guessed"]

Words = Sequence[Word]

_LOOKED_AT = 12
_INTRODUCING = frozenset(
    {"--", "-c", "-e", "-x", "--command", "--exec", "--run", "exec", "exec-env", "develop", "enter", "run", "x"}
)
_TEXTUAL = frozenset(
    {
        "adb",
        "dtach",
        "entr",
        "fzf",
        "gdb",
        "lldb",
        "nodemon",
        "screen",
        "sg",
        "sk",
        "tmux",
        "tsp",
        "watchexec",
        "zellij",
    }
)
_EDITORS = frozenset({"emacs", "ex", "gvim", "nvim", "rvim", "vi", "view", "vim", "vimdiff"})
_SED = frozenset({"gsed", "sed"})
_BEFORE_TEXT = ("shell ", "!", "|", "exec ")
_EXECUTED = re.compile(r"(?:^|[0-9$/,!~;{}\s])e([^\n]+)")
_REPLACED = re.compile(r"s([^\w\s\\])(?:(?!\1)[^\\]|\\.)*\1((?:(?!\1)[^\\]|\\.)*)\1[gpiImM0-9]*e", re.DOTALL)


def guessed(name: str, words: Words) -> Iterator[Inner]:
    """Yield what a program may run, by the look of its words."""
    if name not in catalogue():
        yield from _introduced(words)
    if name in _TEXTUAL:
        yield from _textual(words)
    elif name in _EDITORS:
        yield from _editor(words)
    elif name in _SED:
        yield from _sed(words)


def _introduced(words: Words) -> Iterator[Inner]:
    """Yield what stands behind a word that many programs use for it: `devbox run …`, `x -- …`."""
    for at, word in enumerate(words[1:_LOOKED_AT], start=2):
        if word.text in _INTRODUCING and words[at:]:
            yield Inner("", tuple(words[at:]))
            if _has_blank(words[at].text):
                yield Inner("", text=words[at].text)


def _textual(words: Words) -> Iterator[Inner]:
    """Yield every word with a blank in it: a program of one word never has one."""
    for word in words[1:]:
        for text in (word.text, word.text.partition("=")[2]):
            if _has_blank(text):
                begin = next((mark for mark in _BEFORE_TEXT if text.startswith(mark)), "")
                yield Inner("", text=text.removeprefix(begin))


def _editor(words: Words) -> Iterator[Inner]:
    """Yield what stands behind `!` in a command of an editor, and the string literals in it."""
    for word in words[1:]:
        _, mark, text = word.text.partition("!")
        if mark:
            yield Inner("", text=text)
        if "(" in word.text:
            yield from (Inner("", text=match[1] or match[2]) for match in LITERAL.finditer(word.text))


def _sed(words: Words) -> Iterator[Inner]:
    """Yield what the command `e`, and the flag `e` of `s`, may run."""
    for word in words[1:]:
        yield from (Inner("", text=match[1]) for match in _EXECUTED.finditer(word.text))
        yield from (Inner("", text=match[2]) for match in _REPLACED.finditer(word.text))


def _has_blank(text: str) -> bool:
    return any(char.isspace() for char in text)
