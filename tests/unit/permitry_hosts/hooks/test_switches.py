"""Settings that switch hooks off are found, however they are written."""

from pathlib import Path

import pytest
from tests.tables import for_each

from permitry.errors import PermitryError
from permitry_hosts.hooks.hosts import host_named
from permitry_hosts.hooks.switches import check_switches, read_settings


@for_each(("host", "name", "text"))
def test_a_switch_is_found_in_whatever_form_the_host_reads_it(host: str, name: str, text: str, tmp_path: Path) -> None:
    """A byte order mark, a key that is there twice, an older name."""
    (tmp_path / name).write_text(text)
    with pytest.raises(PermitryError):
        check_switches(host_named(host), tmp_path / (name if name.endswith("json") else "hooks.json"))


@for_each("name", [".github/copilot/settings.json", ".claude/settings.json"])
def test_copilot_reads_other_files_of_a_project(name: str, tmp_path: Path) -> None:
    """Each of them switches off the hook of the user."""
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text('{"disableAllHooks": true}')
    with pytest.raises(PermitryError, match=f"{tmp_path}/{name}"):
        check_switches(host_named("copilot"), tmp_path / ".github/hooks/permitry.json")


def test_a_file_that_is_not_there_has_no_text(tmp_path: Path) -> None:
    """Nor has one below a file."""
    (tmp_path / "a").write_text("x")
    assert read_settings(tmp_path / "b") == read_settings(tmp_path / "a/b") == ""
    with pytest.raises(PermitryError, match="cannot read"):
        read_settings(tmp_path)
