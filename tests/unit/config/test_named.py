"""Rule files by their names: missing ones, those out of bounds, and how they are shown."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.config.catalogue import find_shipped
from permitry.config.named import explain_missing, out_of_bounds, shorten_name
from permitry.config.origin import Origin


@for_each(
    ("name", "message", "hint"),
    [
        ("rules.toml", "there is no file `rules.toml`", "did you mean `rule.toml`?"),
        ("base", "there is no file `base`", "did you mean the shipped set `permitry:base`?"),
        ("folder", "`folder` is a folder", "name a rule file in it"),
        ("permitry:bse", "there is no shipped rule set `permitry:bse`", "did you mean `permitry:base`?"),
        ("x" * 300, f"`{'x' * 300}` cannot be looked at: file name too long", "check the path"),
    ],
)
def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path, name: str, message: str, hint: str) -> None:
    """With a way out; one that is there is none."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "rule.toml").touch()
    assert explain_missing(name, tmp_path / name) == (message, hint)
    assert explain_missing("rule.toml", tmp_path / "rule.toml") is None


def test_a_project_reads_small_files_below_its_root(tmp_path: Path) -> None:
    """A trusted origin without a root reads any file."""
    small, large = tmp_path / "small.toml", tmp_path / "large.toml"
    small.touch()
    large.write_bytes(b" " * (256 * 1024 + 1))
    project = Origin("rules.toml", is_trusted=False, root=tmp_path)
    assert out_of_bounds(small, small, project) is None
    assert "is larger than" in str(out_of_bounds(large, large, project))
    assert "lies outside the project" in str(out_of_bounds(tmp_path / "x", tmp_path.parent / "x", project))
    assert out_of_bounds(large, large, Origin("rules.toml")) is None


def test_what_is_typed_looks_at_nothing_outside(tmp_path: Path) -> None:
    """By path, by a link, and behind a NUL; no name of a file there is in the hint."""
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.toml").touch()
    (tmp_path / "in" / "mine.toml").touch()
    (tmp_path / "in" / "link.toml").symlink_to(tmp_path / "secret.toml")
    folder = (tmp_path / "in",)
    for within in ((), folder):
        for name in ("../secret.toml", "../secre.toml", "link.toml", "..", "../secre\0.toml"):
            message, hint = explain_missing(name, tmp_path / "in" / name, within) or ("", "")
            assert message == f"`{name}` lies outside the folder of the rules"
            assert "secret" not in hint
    assert explain_missing("mine.toml", tmp_path / "in" / "mine.toml", folder) is None
    one = (tmp_path / "secret.toml",)
    assert explain_missing("../secret.toml", tmp_path / "in" / "../secret.toml", one) is None
    assert explain_missing("permitry:base", find_shipped("permitry:base"), ()) is None


def test_a_file_is_shown_as_the_one_that_extends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a relative path, or by an absolute one; never as if it were shipped."""
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "permitry:x" / "a.toml"
    assert shorten_name(target, str(tmp_path / "b.toml")) == str(target)
    assert shorten_name(target, "b.toml") == "./permitry:x/a.toml"
    assert shorten_name(tmp_path / "a.toml", "b.toml") == "a.toml"
