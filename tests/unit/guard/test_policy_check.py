"""What is given as a policy, and is none."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.core.policy import AuthorizationPolicy
from permitry.guard.policy_check import check_policy


@for_each(
    ("given", "hint"),
    [("rules.toml", "load_policy('rules.toml')"), (Path("a"), "load it first"), ([], "for rules")],
)
def test_what_is_not_a_policy_is_refused_with_the_way_to_one(given: object, hint: str) -> None:
    """A path is the most usual mistake."""
    with pytest.raises(TypeError, match="must be an AuthorizationPolicy") as caught:
        check_policy(None, None, given)
    assert hint in str(caught.value)


def test_a_policy_is_taken() -> None:
    """Also an empty one, which confirms everything."""
    check_policy(None, None, AuthorizationPolicy())
