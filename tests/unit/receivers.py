"""A server on this machine that is posted to, and replies as it is made to."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

import attrs

__all__ = ["Receiver", "Reply", "receiving"]

Reply: TypeAlias = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""


@attrs.define(eq=False)
class Receiver:
    """Keeps the requests, with their headers in small letters. `replies` are given in turn, the last one for ever.

    A function gets the headers and the body; bytes go out as they are, and a number is waited for, in seconds, between
    the bytes of an answer that never ends.
    """

    address: str = ""
    replies: "list[Reply | bytes | float | Callable[[Mapping[str, str], bytes], Reply]]" = attrs.field(factory=list)
    requests: list[tuple[dict[str, str], bytes]] = attrs.field(factory=list)
    is_over: threading.Event = attrs.field(factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        """Reply."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.receiver.requests.append((headers, body))
        replies = self.receiver.replies
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        match reply:
            case bytes():
                self.wfile.write(reply)
            case float():
                self.wfile.write(b"HTTP/1.1 200 OK\r\n")
                while not self.receiver.is_over.is_set():
                    self.wfile.write(b"X")
                    time.sleep(reply)
            case tuple():
                self._reply(*reply)
            case _:
                self._reply(*reply(headers, body))

    def _reply(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Yield a server that runs."""
    receiver = Receiver()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Own", (_Handler,), {"receiver": receiver}))
    receiver.address = f"http://127.0.0.1:{server.server_address[1]}/ask"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()
