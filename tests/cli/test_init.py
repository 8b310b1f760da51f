"""`permitry init`: a first rule file, written once."""

from collections.abc import Callable
from pathlib import Path

import pytest

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a Python project, as the current one."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    monkeypatch.chdir(folder)
    return folder


def test_a_project_is_guarded_in_three_commands(cli: Cli, project: Path) -> None:
    """Write the file, trust it, and its permissions count."""
    code, out, _ = cli("init")
    assert code == 0
    assert out.startswith("wrote .permitry/rules.toml; kinds of project found: Python\n")
    assert cli("check", "--command", "pytest -q")[0] == 3
    assert cli("trust")[0] == 0
    assert cli("check", "--command", "pytest -q")[0] == 0
    assert cli("check", "--command", "pytest -q; npm publish")[0] == 2
    assert (project / ".permitry" / "rules.toml").is_file()


def test_what_is_there_is_never_replaced(cli: Cli, project: Path) -> None:
    """The user's own rules stay as they are."""
    (project / ".permitry").mkdir()
    file = project / ".permitry" / "rules.toml"
    file.write_text("schema = 1\n", encoding="utf-8")
    code, out, err = cli("init")
    assert (code, out) == (4, "")
    assert err == "permitry: `.permitry/rules.toml` exists already; edit it, or see a new one with --print\n"
    assert file.read_text(encoding="utf-8") == "schema = 1\n"


def test_the_file_can_be_looked_at_first(cli: Cli, project: Path) -> None:
    """With --print nothing is written."""
    code, out, _ = cli("init", "--print")
    assert code == 0
    assert 'id = "python-tests"' in out
    assert not (project / ".permitry").exists()


def test_another_folder_is_named(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next steps name the folder, too."""
    monkeypatch.chdir(project.parent)
    code, out, _ = cli("init", "project")
    assert code == 0
    assert "permitry trust project\n" in out


def test_what_is_no_folder_is_refused(cli: Cli, project: Path) -> None:
    """The error names the way out."""
    code, _, err = cli("init", str(project / "pyproject.toml"))
    assert code == 4
    assert err.endswith("is not a directory; name the folder of a project\n")


def test_nothing_is_written_through_a_link(cli: Cli, project: Path) -> None:
    """A repository may bring one that leads to the rules of the user, which count everywhere."""
    (project.parent / "rules-of-the-user").mkdir()
    (project / ".permitry").symlink_to("../rules-of-the-user")
    code, out, err = cli("init")
    assert (code, out) == (4, "")
    assert "`.permitry` is a link" in err
    assert list((project.parent / "rules-of-the-user").iterdir()) == []
