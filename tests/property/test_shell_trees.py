"""What the strict reader returns for a text is what the text was printed from."""

import random
from collections.abc import Callable

import attrs
from hypothesis import assume, given
from hypothesis import strategies as st

from permitry.actions.shell.strict import Command, read_strictly


@given(chance=st.randoms(use_true_random=False))
def test_a_tree_decomposes_to_what_it_was_built_from(
    shell_tree: Callable[[random.Random], tuple[str, list[Command]]], chance: random.Random
) -> None:
    """A random tree in random quoting and spacing is read back: words, redirections, connectors, constructs."""
    text, expected = shell_tree(chance)
    assume(len(expected) <= 200)
    assert [attrs.evolve(each, start=0, end=0) for each in read_strictly(text)] == expected, text
