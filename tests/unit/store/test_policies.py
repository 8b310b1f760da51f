"""The rules behind the versions of a policy, in every store."""

import json

import pytest
from tests.unit.store.conftest import Place, body

from permitry.audit.rule_files import RuleFile
from permitry.store.chain import BrokenChainError

FILES = (RuleFile("rules.toml", "schema = 1\n"), RuleFile("permitry:base", "# base\n", "shipped"))


def keep(place: Place, version: str, *, at: str = "2026-11-01") -> None:
    """Keep rules under a version."""
    fields = {"event": "policy", "policy_version": version, "files": [each.to_dict() for each in FILES]}
    fields |= {"code_rules": ["c"], "lists": []}
    place.store.keep_policy(version, FILES, json.dumps({"at": at, **fields}))


def test_rules_are_kept_once(place: Place) -> None:
    """With one record, which names them."""
    assert not place.store.has_policy("v1")
    keep(place, "v1")
    keep(place, "v1")
    assert place.store.has_policy("v1")
    assert [(each.version, each.files) for each in place.store.policies()] == [("v1", FILES)]
    assert place.store.verify() == 6


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rule_file SET text = 'other' WHERE digest <> ''",
        "DELETE FROM rule_file",
        "DELETE FROM policy",
        "UPDATE policy SET number = 1",
        "UPDATE policy SET version = 'v2'",
    ],
)
def test_a_change_is_found(place: Place, statement: str) -> None:
    """Of a text, and of what says which record names it."""
    keep(place, "v1")
    place.change(statement)
    with pytest.raises(BrokenChainError, match=r"v1|v2"):
        place.store.verify()


def test_versions_without_rules_are_named(place: Place) -> None:
    """As older stores have them; that is no failure."""
    keep(place, "v1")
    place.store.append(body(6, policy_version="v1"), body(7, policy_version="v0"))
    assert place.store.policies_in_use().unkept == ["v0"]
    assert place.store.verify() == 8


def test_what_is_pruned_takes_its_rules_along(place: Place) -> None:
    """Unless a record that stays names them: then they are recorded once more."""
    keep(place, "v1")
    keep(place, "v2")
    place.store.append(json.dumps({"at": "2026-12-01", "event": "decided", "policy_version": "v2"}))
    place.store.prune("2026-11-30", json.dumps({"at": "2026-12-02", "event": "pruned"}))
    assert [each.version for each in place.store.policies()] == ["v2"]
    assert place.store.policies_in_use().unkept == []
    assert place.store.verify() == 3
