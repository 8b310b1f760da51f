"""Plain data of a cache is checked against the shipped sets."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from tests.tables import for_each

from permitry.config.catalogue import PREFIX
from permitry.config.integrity import check_integrity
from permitry.config.load import compile_rules

NAMES = ["permitry:base"]
OWN = {"id": "mine", "source": "rules.toml:2", "priority": 250}


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    """Return the base set as plain data; it is not to be changed."""
    return dict(compile_rules(NAMES).data)


def test_what_is_shipped_is_accepted(shipped: dict[str, Any]) -> None:
    """So are rules of the user next to it."""
    check_integrity(NAMES, shipped)
    check_integrity(NAMES, {**shipped, "rules": [OWN, *shipped["rules"]]})


@for_each(
    ("change", "message"),
    [
        (lambda data: data["rules"].pop(), "the rules are not those"),
        (lambda data: data["tools"].extend([{"name": "a"}] * 2), "the tools are not those"),
        (lambda data: data["rules"].append(data["rules"][0]), "the rules are not those"),
        (lambda data: data["rules"][0].update(effect="allow"), "the rules are not those"),
        (lambda data: data["rules"].append({**OWN, "source": f"{PREFIX}base:1"}), "claims to be"),
        (lambda data: data["rules"].append({**OWN, "priority": 99}), "only an admin's rule"),
    ],
)
def test_what_is_otherwise_is_refused(
    shipped: dict[str, Any], change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """A rule that is gone, twice there or changed, one that claims to be shipped, and one before all others."""
    data = copy.deepcopy(shipped)
    change(data)
    with pytest.raises(ValueError, match=message):
        check_integrity(NAMES, data)


def test_the_base_is_always_among_the_sets(shipped: dict[str, Any]) -> None:
    """Without a set there is nothing to check against; a set that is not shipped is an error as well."""
    with pytest.raises(ValueError, match="is not among the sets"):
        check_integrity([], shipped)
    with pytest.raises(KeyError):
        check_integrity(["permitry:nothing"], shipped)
