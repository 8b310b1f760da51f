"""Whether a test of an argument can be passed: a reason only where surely no value passes."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.tables import for_each

from permitry.config.load import Origin, load_rules
from permitry_ops.lint.never_matches import contradiction

Found = Callable[[str], str | None]


@pytest.fixture
def found(write: Callable[[str, str], Origin], rule: Callable[..., str]) -> Found:
    """Return a function that loads a test of the argument `n`, and returns what is against it."""

    def of(test: str) -> str | None:
        written = rule("a", "block", 'tools = ["x"]', f"when.args.n = {test}")
        (loaded,) = load_rules([write("rules.toml", f"schema = 1\n{written}")]).rules
        return contradiction(cast("Any", loaded.scope.when.plain[0]))

    return of


@for_each("test")
def test_no_value_passes(found: Found, test: str) -> None:
    """Nothing is between the bounds, or what is listed is excluded."""
    assert found(test) is not None


@for_each("test")
def test_a_value_passes_or_may(found: Found, test: str) -> None:
    """Then nothing is reported."""
    assert found(test) is None
