"""Heads of a record, sent to another machine, where the one who can change the record cannot change them."""

import json
from collections.abc import Mapping

from permitry.channels.http_post import host_of, is_address, post
from permitry.errors import AuditError

__all__ = ["is_address", "send"]

_SECONDS = 10
_MOST = 1024 * 1024


def send(address: str, head: Mapping[str, object]) -> None:
    """Post a head as JSON; when this returns, the server took it. Raises: `AuditError`."""
    try:
        host = host_of(address)
    except ValueError as error:
        raise AuditError(str(error)) from error
    try:
        reply = post(address, json.dumps(head).encode(), {}, seconds=_SECONDS, most=_MOST)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise AuditError(f"cannot send the head to `{host}`: {reason}") from error
    if not 200 <= reply.status < 300:  # noqa: PLR2004 -- the statuses of a success
        raise AuditError(f"`{host}` did not take the head: {reply.status} {reply.reason}")
