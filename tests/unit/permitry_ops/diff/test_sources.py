"""What is compared: files, sets, folders and revisions."""

from pathlib import Path

import pytest
from tests.unit.permitry_ops.diff.conftest import Git

from permitry.errors import PermitryError
from permitry_ops.diff.sources import Loaded, load

RULE = 'schema = 1\n[[rule]]\nid = "a"\neffect = "block"\ntools = ["x"]\n'


def test_a_file_and_a_set_are_loaded(tmp_path: Path) -> None:
    """By the names that other commands take."""
    path = tmp_path / "a.toml"
    path.write_text(RULE)
    with load(str(path)) as one, load("permitry:base") as other:
        assert [rule.id for rule in one.rules.rules] == ["a"]
        assert len(other.rules.rules) > 10
        assert one.name(f"{path}:2") == f"{path}:2"
        assert one.name(None) == ""


def test_a_place_in_a_revision_is_named_by_it() -> None:
    """And a shipped set by its own name."""
    with load("permitry:base") as base:
        loaded = Loaded(base.rules, "/tmp/gone/", "main:")  # noqa: S108 -- a name
        assert loaded.name("/tmp/gone/rules/a.toml:3") == "main:rules/a.toml:3"  # noqa: S108 -- a name
        assert loaded.name("permitry:guard:7") == "permitry:guard:7"


def test_the_sets_of_a_revision_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: Git) -> None:
    """Where they are next to the file: permitry's own rules."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base.toml").write_text(RULE)
    (tmp_path / "more.toml").write_text('schema = 1\nextends = ["permitry:base"]\n')
    git(tmp_path)
    with load("git:HEAD:more.toml") as loaded:
        assert [rule.id for rule in loaded.rules.rules] == ["a"]
        assert [loaded.name(rule.source) for rule in loaded.rules.rules] == ["HEAD:base.toml:2"]


@pytest.mark.parametrize(
    "name", ["git:", "git:main", "git::a.toml", "git:--help:a.toml", "git:no-such-revision:a.toml"]
)
def test_what_is_no_revision_is_an_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That names the form, whatever it looks like to git."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PermitryError, match="git:REVISION:PATH"), load(name):
        pass
