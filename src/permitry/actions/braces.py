"""Choices in braces, as programs other than a shell expand them: `a{b,c}` is `ab` and `ac`, the innermost first.

A shell expands the outermost first, heeds quotes, and leaves `{a}` alone: see
`permitry.actions.reading.simple_command`. In the patterns of rules braces are a part of the grammar, and a mistake in
them is an error.
"""

import re
from collections.abc import Callable

__all__ = ["BRACES", "expand", "split_choice"]

BRACES = re.compile(r"\{([^{}]*)\}")
_STEPS = 4


def split_choice(match: re.Match[str], most: int) -> list[str]:
    """Return the alternatives of one pair of braces; of too many, the rest as one."""
    return match[1].split(",", most)


def expand(
    text: str,
    most: int,
    find: re.Pattern[str] = BRACES,
    choices: Callable[[re.Match[str], int], list[str]] = split_choice,
) -> tuple[list[str], bool]:
    """Return what a text expands to, in order, and whether that is all: it is not where there are more than `most`.

    `find` is what holds a choice, and `choices` says what it expands to. Time and memory are bounded by `most`.
    """
    done: list[str] = []
    waiting = [text]
    for _ in range(_STEPS * most):
        if not waiting or len(done) + len(waiting) > most:
            break
        current = waiting.pop()
        match = find.search(current)
        if match is None:
            done.append(current)
            continue
        head, tail = current[: match.start()], current[match.end() :]
        waiting += [f"{head}{each}{tail}" for each in reversed(choices(match, most))]
    rest = [each for each in reversed(waiting) if not find.search(each)]
    return done + rest, not waiting
