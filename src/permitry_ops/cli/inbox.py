"""`permitry inbox`: answer questions in a browser."""

import argparse
import functools
import os
import sys
from pathlib import Path

from permitry.audit.record import user_name
from permitry.channels.ancestors import ancestors
from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.stores import STORE, find_store, record_to_read
from permitry.errors import PermitryError
from permitry.extras import missing
from permitry.guard.ledgers import RecordedGrants
from permitry.store.questions import StoredQuestions
from permitry.store.records import store_at

__all__ = ["configure"]

_ROLES = ("approver", "viewer")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry inbox`."""
    add = parser.add_argument
    add("--store", metavar="STORE", help=f"the store: {STORE}")
    add("--record", metavar="RECORD", help="the record to show; default: that in the store")
    add(
        "--listen", default="127.0.0.1:8710", metavar="HOST:PORT", help="default: 127.0.0.1:8710, on this machine alone"
    )
    proxy = "the address, such as https://inbox.example.com, of a proxy with TLS in front of the inbox"
    add("--behind-proxy", metavar="URL", help=proxy)
    user = "print a link for this user, an approver or a viewer; may be given again; default: you, as an approver"
    add("--user", action="append", default=[], type=_user, metavar="NAME[:ROLE]", help=user)
    add("--tokens", type=Path, metavar="FILE", help="lasting tokens: NAME ROLE TOKEN in each line")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Serve until the process is ended."""
    try:
        from permitry_ops.inbox.access import User
        from permitry_ops.inbox.app import InboxApp
        from permitry_ops.inbox.record_view import RecordView
        from permitry_ops.inbox.serve import Address, read_tokens, serve
        from permitry_ops.inbox.stored import StoreInbox
    except ModuleNotFoundError as error:
        raise PermitryError(missing(error.name, "inbox")) from error
    address = Address.parse(options.listen, options.behind_proxy)
    database = store_at(find_store(options))
    above = functools.partial(ancestors, os.getpid())
    stored = StoreInbox(StoredQuestions(database), above, RecordedGrants(database))
    app = InboxApp(stored, address.site, RecordView(record_to_read(options)))
    users = options.user
    if options.tokens is not None:
        for user, token in read_tokens(options.tokens):
            app.access.add_token(token, user)
    elif not users:
        users = [(user_name(), "approver")]
    # An agent that starts an inbox must not be the one who gets in.
    if users and not sys.stdout.isatty():
        raise PermitryError("links are printed on a terminal only; name a file of tokens with --tokens")
    with address.listen() as listening:
        tell([f"the inbox is at {address.origin}/; end it with Ctrl-C"])
        for name, role in users:
            token = app.access.link(User(name, role == "approver"))
            print(f"{name} ({role}): {address.origin}/login#{token}")
        if users:
            print("each link is for one login, within 15 minutes", flush=True)
        serve(app, listening)
    return ExitCode.OK


def _user(text: str) -> tuple[str, str]:
    name, colon, role = text.partition(":")
    if not name.isprintable() or not name.strip() or (colon and role not in _ROLES):
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME, NAME:approver or NAME:viewer")
    return name, role or "approver"
