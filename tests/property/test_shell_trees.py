"""What the strict reader returns for a text is what the text was printed from."""

import random
from collections.abc import Callable

import attrs
from hypothesis import assume, given
from hypothesis import strategies as st

from permitry.actions.command import Command
from permitry.actions.reading.strict import read_strictly


@given(chance=st.randoms(use_true_random=False))
def test_a_tree_decomposes_to_what_it_was_built_from(
    shell_tree: Callable[[random.Random], tuple[str, list[Command]]], chance: random.Random
) -> None:
    """A random tree in random quoting and spacing is read back: words, redirections, connectors, constructs."""
    text, expected = shell_tree(chance)
    assume(len(expected) <= 200)
    assert [_without_place(each) for each in read_strictly(text)] == expected, text


def _without_place(command: Command) -> Command:
    """Return a command without its place; whether the text of a here-document may have expansions is left out."""
    redirections = tuple(
        attrs.evolve(each, is_open=False) if each.target is None else each for each in command.redirections
    )
    return attrs.evolve(command, start=0, end=0, redirections=redirections)
