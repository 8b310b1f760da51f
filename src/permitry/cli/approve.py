"""`permitry approve`: answer questions from another terminal."""

import argparse
import time
from typing import NoReturn

from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.approve_stored import StoreInbox, check_terminal
from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.stores import STORE, find_store
from permitry.core.texts import one_line
from permitry.errors import PermitryError
from permitry.guard.ledgers import questions_at

__all__ = ["configure"]

_PAUSE = 0.5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry approve`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the question to answer; without it, all are listed")
    parser.add_argument("--store", metavar="STORE", help=f"the store: {STORE}")
    parser.add_argument("--watch", action="store_true", help="wait for questions, and ask each as it comes")
    parser.add_argument(
        "--respond", metavar="TEXT", help="answer in place of the tool: the model gets this text as the result"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """List the open questions, or show one and take its answer from the terminal."""
    if options.id is not None and options.watch:
        raise PermitryError("--watch is for all questions, and takes no id")
    if options.id is None and options.respond is not None:
        raise PermitryError("--respond is for one question, and needs its id")
    inbox = StoreInbox(questions_at(find_store(options)))
    if options.watch:
        _watch(inbox)
    if options.id is None:
        print("\n".join(inbox.lines()) or "no question is open")
    else:
        given = None if options.respond is None else ToolConfirmationResponse(False, result=options.respond)
        _answer(options.id, inbox, given)
    return ExitCode.OK


def _watch(inbox: StoreInbox) -> NoReturn:
    check_terminal()
    seen: set[str] = set()
    while True:
        names = inbox.names()
        # One that is asked again, after it was closed, is shown again.
        seen &= set(names)
        for name in names:
            if name not in seen:
                seen.add(name)
                try:
                    _answer(name, inbox)
                except PermitryError as error:
                    tell([str(error)])
        time.sleep(_PAUSE)


def _answer(name: str, inbox: StoreInbox, given: ToolConfirmationResponse | None = None) -> None:
    if not inbox.ask(name, given):
        raise PermitryError(f"the question `{one_line(name)}` is not open; `permitry approve` lists those that are")
