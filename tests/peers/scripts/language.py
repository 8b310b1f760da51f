"""What a file about one language of scripts gives to the tests."""

import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

from permitry.actions.command import Command
from permitry.actions.derive.unwrap import why_not_reading
from permitry.core.action import Word

__all__ = ["Call", "Effect", "Grow", "Judge", "Language", "only_reads"]

Call: TypeAlias = tuple[str, ...]
Grow: TypeAlias = Callable[[random.Random, str], str]
"""Prints a random text that a symbol of the grammar stands for, mutated."""


Judge: TypeAlias = Callable[[Call], bool]
"""Says whether a call does nothing but print."""


def only_reads(call: Call) -> bool:
    """Return whether a call only reads, to a permission."""
    return why_not_reading(Command(tuple(map(Word, call)))) is None


@attrs.frozen
class Effect:
    """Arguments with which some of the programs do more than read."""

    words: Call
    programs: tuple[str, ...]


@attrs.frozen
class Language:
    """A language of scripts: its programs by name, and how random calls of them are made.

    `grammar` is one for `Grammar`, wider than ours; `risk` is how often it chooses what is seldom.
    `call` makes a call that begins with the name that permitry knows. `harmless` are arguments with
    which every program only reads.
    """

    name: str
    programs: Mapping[str, Call]
    grammar: str
    risk: float
    call: Callable[[Grow, random.Random], Call]
    effects: tuple[Effect, ...]
    harmless: Call
    judges: tuple[Judge, ...] = (only_reads,)
