"""The hosts are found by their files."""

from pathlib import Path

from tests.tables import for_each

from permitry_hosts.hooks.hosts import HOSTS, find_hosts, host_named


@for_each("name", HOSTS)
def test_a_host_has_the_name_of_its_file(name: str) -> None:
    """By it the command, the set of tools and the file are found."""
    assert host_named(name).name == name


def test_the_hosts_of_a_user_are_those_with_a_folder(tmp_path: Path) -> None:
    """Which each of them makes when it is started."""
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".config/opencode").mkdir(parents=True)
    assert find_hosts(tmp_path) == ["codex", "opencode"]
