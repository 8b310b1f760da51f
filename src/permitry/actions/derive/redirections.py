"""What redirections touch, and what they connect to: bash opens a connection for `/dev/tcp/…`."""

import re
from collections.abc import Iterator

import attrs

from permitry.actions.command import NOWHERE, Command, Redirection
from permitry.actions.derive.substituted import with_found
from permitry.actions.folders import Folder
from permitry.actions.hosts import read_url
from permitry.actions.programs.tops import only_top
from permitry.core.action import Access, Action, Connect, Run, Word

__all__ = ["EXPANSION", "connect_perhaps", "may_be_socket", "read_redirection", "socket_of"]

EXPANSION = re.compile(r"[$`(]")
"""What begins an expansion in the target of a redirection."""

_SOCKETS = ("/dev/tcp/", "/dev/udp/")


def read_redirection(redirection: Redirection, run: Run, folder: Folder, *, is_usual: bool) -> Iterator[Action]:
    """Yield what a redirection of a program reads, writes or connects to.

    `is_usual`: a substitution in it is what it seems.
    """
    target = redirection.target
    if target is None or target == NOWHERE:
        return
    connect = socket_of(target)
    if connect is not None:
        yield Connect(target, is_certain=False) if may_be_socket(target) else connect
        return
    access = Access.READ if redirection.operator == "<" else Access.WRITE
    origin = f"{redirection.operator} {target}"
    word = Word(target, is_home=redirection.is_home, is_open=redirection.is_open)
    if is_usual and word.is_open:
        word = only_top(*with_found((word,)))
    touch = folder.place_of(word, access, origin=origin)
    yield attrs.evolve(touch, words=run.words, sets=run.sets)


def connect_perhaps(command: Command) -> Iterator[Connect]:
    """Yield a connection for each redirection to an open word that may be one."""
    for each in command.redirections:
        if each.is_open and each.target is not None and may_be_socket(each.target):
            yield Connect(each.target, is_certain=False)


def socket_of(target: str) -> Connect | None:
    """Return the connection that bash opens instead of a file of this name, or None."""
    kind, _, address = target.removeprefix("/dev/").partition("/")
    if not target.startswith(_SOCKETS):
        return None
    host, _, port = address.partition("/")
    return attrs.evolve(read_url(f"{kind}://{host}:{port}"), text=target, is_certain=False)


def may_be_socket(target: str) -> bool:
    """Return whether an expansion may turn a target into a name for which bash opens a connection to any host."""
    before = EXPANSION.split(target, maxsplit=1)[0]
    return before != target and any(
        kind.startswith(before) or (before.startswith(kind) and "/" not in before.removeprefix(kind))
        for kind in _SOCKETS
    )
