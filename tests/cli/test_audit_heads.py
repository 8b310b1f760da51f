"""Heads of a record, sent to another machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from tests.tables import for_each

from permitry.channels.http_post import is_address
from permitry.cli.audit_heads import send_head
from permitry.errors import AuditError

HEAD = {"at": "2026-01-01", "number": 7, "hash": "ab"}


class _Notary(HTTPServer):
    """Keeps what it is sent, and answers with `status`."""

    status = 200
    seen: list[tuple[str, Any]]


class _Handler(BaseHTTPRequestHandler):
    server: _Notary

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, json.loads(body) if body else None))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET = _answer  # noqa: N815 -- as the standard library calls them

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def notary(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Notary]:
    """Return a server on the loopback address, which no proxy of the environment hides."""
    monkeypatch.setenv("no_proxy", "*")
    server = _Notary(("127.0.0.1", 0), _Handler)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def address(notary: _Notary) -> str:
    """Return the address of the server."""
    return f"http://127.0.0.1:{notary.server_port}/heads"


def test_a_head_is_posted(notary: _Notary, address: str) -> None:
    """As JSON."""
    send_head(address, HEAD)
    assert notary.seen == [("POST", HEAD)]


@pytest.mark.parametrize("status", [301, 302, 307, 404, 500])
def test_a_head_that_was_not_taken_is_an_error(notary: _Notary, address: str, status: int) -> None:
    """A redirect is none that takes it, as it would be asked without the head."""
    notary.status = status
    with pytest.raises(AuditError, match=f"did not take the head: {status}"):
        send_head(address, HEAD)
    assert notary.seen == [("POST", HEAD)]


def test_a_server_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its name."""
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(AuditError, match=r"cannot send the head to `127\.0\.0\.1`"):
        send_head("http://127.0.0.1:1/", HEAD)


@for_each("address", ["http://example.com/", "http://127.0.0.1.example.com/", "https://[/", "ftp://x/"])
def test_an_address_that_others_could_change_is_refused(address: str) -> None:
    """Nothing is sent."""
    with pytest.raises(AuditError, match="not"):
        send_head(address, HEAD)


@for_each(("text", "is_one"), [("https://a.example/b", True), ("HTTP://x", True), ("heads.jsonl", False)])
def test_an_address_is_not_a_file(text: str, *, is_one: bool) -> None:
    """By how it begins."""
    assert is_address(text) is is_one
