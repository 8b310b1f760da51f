"""Where the inbox listens, and who may log in with a token."""

import socket
from pathlib import Path

import pytest
from tests.tables import for_each
from tests.unit.permitry_ops.inbox.people import ANN, EVE

from permitry.errors import AdapterError
from permitry_ops.inbox.serve import Address, read_tokens

TOKEN = "t" * 32


@for_each("text", ["127.0.0.1:8710", "localhost:8710", "[::1]:8710"])
def test_this_machine_is_listened_at(text: str) -> None:
    """Without a proxy, by its three names."""
    address = Address.parse(text)
    assert address.port == 8710
    assert address.origin == "http://127.0.0.1:8710"


@for_each("text", ["0.0.0.0:8710", "[::]:8710", "192.168.1.5:8710", "inbox.example.com:8710", "127.1:8710"])
def test_another_address_needs_a_proxy(text: str) -> None:
    """What is read and answered there would go over the network as it is."""
    with pytest.raises(AdapterError, match="--behind-proxy"):
        Address.parse(text)
    assert Address.parse(text, "https://inbox.example.com").site.is_secure


@for_each("text", ["", "8710", ":8710", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", "127.0.0.1:x"])
def test_what_is_not_an_address_is_refused(text: str) -> None:
    """With an example of one."""
    with pytest.raises(AdapterError, match="such as 127"):
        Address.parse(text)


@for_each("proxy", ["http://inbox.example.com", "https://", "https://a/b", "https://a b", "https://A", "*"])
def test_a_proxy_is_a_site_with_tls(proxy: str) -> None:
    """Nothing else: browsers compare its address with their own."""
    with pytest.raises(AdapterError, match="TLS"):
        Address.parse("127.0.0.1:8710", proxy)


def test_behind_a_proxy_only_its_name_counts() -> None:
    """Links begin with it, and requests for this machine are refused."""
    address = Address.parse("127.0.0.1:8710", "https://inbox.example.com:8443")
    assert address.origin == "https://inbox.example.com:8443"
    assert address.site.hosts == {"inbox.example.com:8443"}


def test_a_port_that_is_taken_is_said() -> None:
    """With the option that names another one."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("127.0.0.1", taken.getsockname()[1])
        with pytest.raises(AdapterError, match="--listen"):
            address.listen()


def test_a_socket_listens() -> None:
    """On the address that was named."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Address("127.0.0.1", port).listen() as listening:
        assert listening.getsockname() == ("127.0.0.1", port)


def kept(path: Path, text: str, mode: int = 0o600) -> Path:
    """Return a file of tokens."""
    path.write_text(text)
    path.chmod(mode)
    return path


def test_tokens_are_read(tmp_path: Path) -> None:
    """With names and roles; lines may be empty, or comments."""
    file = kept(tmp_path / "tokens", f"# who\n\nann approver {TOKEN}\neve  viewer\t{TOKEN}2\n")
    assert read_tokens(file) == [(ANN, TOKEN), (EVE, f"{TOKEN}2")]


@for_each("line", [f"ann {TOKEN}", f"ann admin {TOKEN}", "ann approver short", f"a b approver {TOKEN}"])
def test_a_line_that_is_wrong_is_named_and_not_shown(tmp_path: Path, line: str) -> None:
    """It may be a token."""
    with pytest.raises(AdapterError, match=":2:") as caught:
        read_tokens(kept(tmp_path / "tokens", f"# who\n{line}\n"))
    assert not {TOKEN, "short"} & set(str(caught.value).split())


def test_tokens_that_others_may_read_are_refused(tmp_path: Path) -> None:
    """And a file that is not there, or is no text."""
    with pytest.raises(AdapterError, match="chmod 600"):
        read_tokens(kept(tmp_path / "tokens", f"ann approver {TOKEN}", 0o640))
    with pytest.raises(AdapterError, match="cannot read"):
        read_tokens(tmp_path / "nothing")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(AdapterError, match="cannot read"):
        read_tokens(tmp_path / "binary")
