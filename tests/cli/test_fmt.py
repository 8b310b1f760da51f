"""`permitry fmt`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Outcome

from permitry.cli.main import ExitCode

_UGLY, _PRETTY = "schema=1  # one\n\n\n\n", "schema = 1  # one\n"


@pytest.fixture
def files(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a file in another layout and one in ours, which is the current one."""
    monkeypatch.chdir(workspace)
    (workspace / "ugly.toml").write_text(_UGLY, encoding="utf-8")
    (workspace / "pretty.toml").write_text(_PRETTY, encoding="utf-8")
    return workspace


def test_files_are_brought_into_the_layout(cli: Callable[..., Outcome], files: Path) -> None:
    """Those that were in another one are named, and keep their mode."""
    (files / "ugly.toml").chmod(0o640)
    assert cli("fmt", "ugly.toml", "pretty.toml") == (ExitCode.OK, "changed ugly.toml\n", "")
    assert (files / "ugly.toml").read_text() == _PRETTY
    assert (files / "ugly.toml").stat().st_mode & 0o777 == 0o640
    assert cli("fmt", "ugly.toml", "pretty.toml") == (ExitCode.OK, "", "")


def test_a_check_changes_nothing(cli: Callable[..., Outcome], files: Path) -> None:
    """It names the files, and fails."""
    assert cli("fmt", "--check", "ugly.toml", "pretty.toml") == (ExitCode.FAILED, "would change ugly.toml\n", "")
    assert (files / "ugly.toml").read_text() == _UGLY
    assert cli("fmt", "--check", "pretty.toml") == (ExitCode.OK, "", "")


@pytest.mark.usefixtures("files")
def test_a_program_reads_of_all_files(cli: Callable[..., Outcome]) -> None:
    """Also of those that were left as they are."""
    code, out, _ = cli("fmt", "--check", "--json", "ugly.toml", "pretty.toml")
    assert code == ExitCode.FAILED
    assert list(map(json.loads, out.splitlines())) == [
        {"file": "ugly.toml", "changed": True}, {"file": "pretty.toml", "changed": False},
    ]  # fmt: skip


def test_a_link_stays_one(cli: Callable[..., Outcome], files: Path) -> None:
    """And its file is written."""
    (files / "link.toml").symlink_to("ugly.toml")
    cli("fmt", "link.toml")
    assert (files / "link.toml").is_symlink()
    assert (files / "ugly.toml").read_text() == _PRETTY


def test_with_a_mistake_nothing_is_written(cli: Callable[..., Outcome], files: Path) -> None:
    """All problems are shown, each at its place."""
    (files / "bad.toml").write_text("a = 1\nb = \n", encoding="utf-8")
    code, out, err = cli("fmt", "ugly.toml", "bad.toml", "none.toml")
    assert (code, out) == (ExitCode.INVALID, "")
    assert "bad.toml:2:" in err
    assert "none.toml: cannot be read: no such file or directory" in err
    assert (files / "ugly.toml").read_text() == _UGLY
