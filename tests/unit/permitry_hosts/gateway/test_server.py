"""Which server it is."""

from pathlib import Path

import pytest

from permitry_hosts.gateway.upstream import Server


def test_the_folder_of_a_program_is_part_of_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`python server.py` is another program in another project."""
    here = Server("a", ("python", "server.py")).identity
    monkeypatch.chdir(tmp_path)
    assert Server("a", ("python", "server.py")).identity != here
    assert Server("a", ("python", "server.py"), folder=str(tmp_path)).identity != here
    assert Server("a", url="http://127.0.0.1").identity == Server("a", url="http://127.0.0.1", folder="b").identity


def test_a_server_is_described_by_its_program() -> None:
    """Which the user can try by hand; arguments and an address may hold secrets."""
    assert Server("a", ("npx", "--key=secret")).description == "the MCP server `a`, started by `npx`,"
    assert Server("a", url="http://127.0.0.1/?key=secret").description == "the MCP server `a`"


def test_a_server_is_known_by_how_it_is_started() -> None:
    """Another program of the same name is another server; what it is told in secret says nothing."""
    servers = [
        Server("a", ("b",)), Server("c", ("b",)), Server("a", ("b", "d")), Server("a", url="http://127.0.0.1"),
        Server("a", ("b",), folder="/"),
    ]  # fmt: skip
    assert len({server.identity for server in servers}) == len(servers)
    assert Server("a", ("b",), env={"KEY": "1"}).identity == servers[0].identity
    assert "secret" not in repr(Server("a", url="http://127.0.0.1", headers={"authorization": "secret"}))
