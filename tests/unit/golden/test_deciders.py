"""The rules that decide golden cases."""

from pathlib import Path

from tests.unit.golden.conftest import Write

from permitry.config.load import load_rules
from permitry.golden.case import read_case
from permitry.golden.deciders import Decider, Deciders, same


def find(deciders: Deciders, path: Path) -> Decider:
    """Return what decides the case of a file."""
    return deciders.find(path, read_case(path))


def test_cases_of_the_same_files_share_their_rules(write: Write) -> None:
    """They are loaded once; a path is one from the folder of the case."""
    (write("one").parent / "mine.toml").write_text("schema = 1\n")
    deciders = Deciders()
    first, second = (find(deciders, write(name, rules=["permitry:plan", "mine.toml"])) for name in ("a", "b"))
    assert first is second
    assert find(deciders, write("c", rules=["mine.toml"])) is not first


def test_those_given_are_for_cases_that_name_none(write: Write) -> None:
    """A case of an empty list names that it has none."""
    given = load_rules("permitry:plan")
    deciders = Deciders(given)
    assert find(deciders, write()).rules is given
    assert find(deciders, write(rules=[])).rules.rules == ()
    assert find(Deciders(), write()).rules.rules == ()


def test_a_rule_is_known_wherever_its_file_is() -> None:
    """By all that it says."""
    decider = Decider.of(load_rules("permitry:money"))
    (rule,) = decider.rules.rules
    assert rule not in decider.identities
    assert same(rule) in decider.identities
    (found,) = [each for each in load_rules("permitry:base").rules if each.id == rule.id]
    assert same(found) in decider.identities
