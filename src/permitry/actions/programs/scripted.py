"""The commands that programs of `awk` and scripts of `sed` run, for restrictions."""

import re
from collections.abc import Iterator, Sequence

from permitry.actions.programs.awk import runs_computed
from permitry.actions.programs.running import ANY_COMMAND, Inner
from permitry.actions.programs.sed import effects_of_sed
from permitry.core.action import Word

__all__ = ["commands_of_awk", "commands_of_sed"]

Words = Sequence[Word]

_ELSEWHERE = re.compile(r"@\s*(?:[A-Za-z_]\w*(?:::\w+)?\s*\(|include\b|load\b)|\A(?:-D|--de)")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.?)*)(?:"|\Z)', re.DOTALL)


def commands_of_awk(words: Words) -> Iterator[Inner]:
    """Yield the literals of a program with `system` or a pipe; an unknown command too if it may run anything else.

    That is: a command or the name of a function that it computes, a file that it includes, or the debugger of `gawk`.
    """
    for word in words[1:]:
        if "system" in word.text or "|" in word.text:
            literals = _LITERAL.finditer(word.text)
            yield from (Inner("", text=match[1].replace('\\"', '"'), is_guess=True) for match in literals)
            if runs_computed(word.text):
                yield ANY_COMMAND
        if _ELSEWHERE.search(word.text):
            yield ANY_COMMAND


def commands_of_sed(words: Words) -> Iterator[Inner]:
    """Yield the text after the command `e`; an unknown command if a script runs its input, or cannot be parsed."""
    effects = effects_of_sed(words[1:])
    yield from (Inner("", text=command) for command in effects.commands)
    if effects.runs_input:
        yield ANY_COMMAND
