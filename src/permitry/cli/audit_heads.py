"""Ends of the chain of records that are noted elsewhere: in a file, or by a server."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from permitry.channels import http_post
from permitry.errors import AuditError
from permitry.store.chain import Head

__all__ = ["add_anchors", "note_head", "read_heads", "send_head"]

_SUCCESS = range(200, 300)
"""The statuses of HTTP that say so."""
_SECONDS_TO_SEND = 10
_MOST_REPLIED = 1024 * 1024


def add_anchors(parser: argparse.ArgumentParser) -> None:
    """Add the option that names where heads are noted."""
    heads = "check the heads in this file, then add this one; or send it to this address; may be given again"
    parser.add_argument("--anchor", action="append", default=[], metavar="FILE|URL", help=heads)


def note_head(anchor: str, head: Mapping[str, object]) -> None:
    """Add a head to a file, or send it to an address. Raises: `AuditError`; `OSError`."""
    if http_post.is_address(anchor):
        send_head(anchor, head)
        return
    with Path(anchor).open("a", encoding="utf-8") as file:
        file.write(json.dumps(head) + "\n")


def send_head(address: str, head: Mapping[str, object]) -> None:
    """Post a head as JSON; when this returns, the server took it. Raises: `AuditError`."""
    try:
        host = http_post.host_of(address)
    except ValueError as error:
        raise AuditError(str(error)) from error
    try:
        reply = http_post.post(address, json.dumps(head).encode(), {}, seconds=_SECONDS_TO_SEND, most=_MOST_REPLIED)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise AuditError(f"cannot send the head to `{host}`: {reason}") from error
    if reply.status not in _SUCCESS:
        raise AuditError(f"`{host}` did not take the head: {reply.status} {reply.reason}")


def read_heads(anchor: str) -> list[Head]:
    """Return the heads in a file; none of an address. Raises: `AuditError`."""
    path = Path(anchor)
    if http_post.is_address(anchor) or not path.exists():
        return []
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [Head(int(line["number"]), bytes.fromhex(line["hash"])) for line in lines]
    except (ValueError, TypeError, LookupError) as error:
        raise AuditError(f"`{path}` is not a file of heads: {error}") from error
