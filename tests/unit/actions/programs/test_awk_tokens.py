"""The tokens of a program of `awk`."""

import pytest
from tests.tables import for_each

from permitry.actions.programs.awk_tokens import tokens_of
from permitry.actions.programs.entries import RefusedError


@for_each(("text", "kinds"))
def test_tokens_are_cut(text: str, kinds: str) -> None:
    """A slash divides behind a value, and begins an expression where none may stand."""
    assert " ".join(token.kind for token in tokens_of(text)).strip() == kinds


@for_each("text")
def test_what_two_may_cut_differently_is_refused(text: str) -> None:
    """And what no implementation that only prints needs."""
    with pytest.raises(RefusedError):
        tuple(tokens_of(text))


def test_a_name_knows_whether_it_is_called() -> None:
    """Only without a blank in between: the function may be the user's own."""
    assert [token.text for token in tokens_of("f(x) g (y)") if token.is_called] == ["f"]
