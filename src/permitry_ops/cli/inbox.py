"""`permitry inbox`: answer questions in a browser, or try rules there."""

import argparse
import functools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from permitry_ops.inbox.access import Access
    from permitry_ops.inbox.app import InboxApp
    from permitry_ops.inbox.serve import Address
    from permitry_ops.inbox.try_app import TryApp

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
    tried = "show only a page to try rules, of no store: the first of these rule files or shipped sets can be changed "
    tried += "there, and the others count as they are; without any, the file of the project, or what init would write"
    add("--try", nargs="*", dest="rules", metavar="RULES", help=tried)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Serve until the process is ended."""
    try:
        from permitry_ops.inbox.access import Access, User
        from permitry_ops.inbox.serve import Address, read_tokens, serve
    except ModuleNotFoundError as error:
        raise PermitryError(missing(error.name, "inbox")) from error
    address, access = Address.parse(options.listen, options.behind_proxy), Access()
    app = _inbox(options, address, access) if options.rules is None else _trial(options, address, access)
    users = options.user
    if options.tokens is not None:
        for user, token in read_tokens(options.tokens):
            access.add_token(token, user)
    elif not users:
        users = [(user_name(), "approver")]
    # An agent that starts an inbox must not be the one who gets in.
    if users and not sys.stdout.isatty():
        raise PermitryError("links are printed on a terminal only; name a file of tokens with --tokens")
    with address.listen() as listening:
        what = "inbox" if options.rules is None else "page to try rules"
        tell([f"the {what} is at {address.origin}/; end it with Ctrl-C"])
        for name, role in users:
            token = access.link(User(name, role == "approver"))
            print(f"{name} ({role}): {address.origin}/login#{token}")
        if users:
            print("each link is for one login, within 15 minutes", flush=True)
        serve(app.asgi(), listening)
    return ExitCode.OK


def _inbox(options: argparse.Namespace, address: "Address", access: "Access") -> "InboxApp":
    from permitry_ops.inbox.app import InboxApp
    from permitry_ops.inbox.record_view import RecordView
    from permitry_ops.inbox.stored import StoreInbox

    database = store_at(find_store(options))
    above = functools.partial(ancestors, os.getpid())
    stored = StoreInbox(StoredQuestions(database), above, RecordedGrants(database))
    return InboxApp(stored, address.site, RecordView(record_to_read(options)), access)


def _trial(options: argparse.Namespace, address: "Address", access: "Access") -> "TryApp":
    from permitry_ops.inbox.trial import Start
    from permitry_ops.inbox.try_app import TryApp

    if options.store is not None or options.record is not None:
        raise PermitryError("--try opens no store and no record; leave out --store and --record")
    folder = Path.cwd()
    return TryApp(Start.read(options.rules, folder), address.site, str(folder), access)


def _user(text: str) -> tuple[str, str]:
    name, colon, role = text.partition(":")
    if not name.isprintable() or not name.strip() or (colon and role not in _ROLES):
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME, NAME:approver or NAME:viewer")
    return name, role or "approver"
