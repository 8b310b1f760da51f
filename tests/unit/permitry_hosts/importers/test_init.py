"""The hosts whose rules are read, and the places where these lie."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry_hosts.importers import HOSTS, Importer, usual_files


def test_files_are_found_at_the_usual_places(tmp_path: Path) -> None:
    """In the project and in the home folder, with the names that are shown."""
    for name in (
        "p/.claude/settings.json",
        "h/.claude/settings.json",
        "h/.codex/rules/b.rules",
        "h/.codex/rules/a.rules",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "p" / "opencode.json").mkdir()
    project, home = tmp_path / "p", tmp_path / "h"
    names = {host: [name for name, _ in usual_files(host, project, home)] for host in HOSTS}
    assert names == {
        "claude-code": [".claude/settings.json", "~/.claude/settings.json"],
        "codex": ["~/.codex/rules/a.rules", "~/.codex/rules/b.rules"],
        "gemini": [],
        "inspect_ai": [],
        "opencode": [],
        "tunacode": [],
    }


def test_a_file_of_the_whole_machine_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as settings that a company manages; it is shown by its path."""
    (tmp_path / "a.json").touch()
    places = (f"{tmp_path}/a.json", f"{tmp_path}/b.json")
    monkeypatch.setattr("permitry_hosts.importers.HOSTS", {"x": Importer(HOSTS["codex"].read, places)})
    assert usual_files("x", tmp_path, tmp_path) == [(f"{tmp_path}/a.json", tmp_path / "a.json")]


@for_each("host", HOSTS)
def test_no_file_is_no_rule(host: str) -> None:
    """An empty list of files is a list of no rules."""
    assert not HOSTS[host].read([]).rows or host == "inspect_ai"
