"""What a file about one language of scripts gives to the tests."""

import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

import attrs

__all__ = ["Call", "Effect", "Grow", "Language"]

Call: TypeAlias = tuple[str, ...]
Grow: TypeAlias = Callable[[random.Random, str], str]
"""Prints a random text that a symbol of the grammar stands for, mutated."""


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
