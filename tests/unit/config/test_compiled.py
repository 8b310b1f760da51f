"""Rule files as they are compiled: what is obeyed, with all of it observed behind."""

from pathlib import Path

import pytest

import permitry.config.load
from permitry.config.load import compile_rules, load_rules
from permitry.config.plain import rule_set_of

RULE = '[[rule]]\nid = "{}"\neffect = "block"\ntools = ["tool"]\n'
WATCHED = f"schema = 1\n{RULE.format('no')}enforce = false\n{RULE.format('yes')}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with a rule that is observed."""
    path = tmp_path / "rules.toml"
    path.write_text(WATCHED, encoding="utf-8")
    return path


def test_what_is_compiled_is_what_its_data_says(path: Path) -> None:
    """Of both; what is read again from the data is the same."""
    compiled = compile_rules([str(path)])
    assert compiled.rules == rule_set_of(compiled.data) == load_rules(str(path))
    assert compiled.rules.observed is not None
    assert compiled.rules.files == compiled.rules.observed.files == (str(path),)
    assert [rule.id for rule in compiled.rules.rules] == ["yes"]
    assert [rule.id for rule in compiled.rules.observed.rules] == ["no", "yes"]
    only = rule_set_of(compiled.data, "other").observed
    assert only is not None
    assert not only.rules


def test_a_file_that_changes_between_the_two_reads_is_not_certain(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored must be of the bytes that it is stored for."""
    assert compile_rules([str(path)]).is_certain
    read = vars(permitry.config.load)["_read"]

    def read_and_change(*given: object) -> object:
        found = read(*given)
        path.write_text(f"schema = 1\n{RULE.format('other')}", encoding="utf-8")
        return found

    monkeypatch.setattr(permitry.config.load, "_read", read_and_change)
    assert not compile_rules([str(path)]).is_certain
