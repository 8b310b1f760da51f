"""`permitry approve`: answer questions from another terminal."""

import argparse
import time
from collections.abc import Sequence
from typing import NoReturn, Protocol

from permitry.cli.approve_files import FileInbox
from permitry.cli.approve_stored import StoreInbox, check_terminal
from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.cli.stores import STORE, existing_store
from permitry.core.texts import one_line
from permitry.errors import PermitryError
from permitry.ledgers import questions_at

__all__ = ["configure"]

_PAUSE = 0.5


class _Inbox(Protocol):
    """Questions that are kept in one place."""

    def names(self) -> list[str]:
        """Return the ids of the questions that can be answered, oldest first."""
        ...

    def lines(self) -> list[str]:
        """Return a line for each question that can be answered."""
        ...

    def ask(self, name: str) -> bool:
        """Show a question, and answer it from the terminal; False where there is none of this id.

        Raises: `PermitryError`.
        """
        ...


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry approve`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the question to answer; without it, all are listed")
    parser.add_argument("--store", metavar="STORE", help=f"the store: {STORE}")
    parser.add_argument("--watch", action="store_true", help="wait for questions, and ask each as it comes")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """List the open questions, or show one and take its answer from the terminal."""
    if options.id is not None and options.watch:
        raise PermitryError("--watch is for all questions, and takes no id")
    inboxes = (StoreInbox(questions_at(existing_store(options))), FileInbox())
    if options.watch:
        _watch(inboxes)
    if options.id is None:
        print("\n".join(line for inbox in inboxes for line in inbox.lines()) or "no question is open")
    else:
        _answer(options.id, inboxes)
    return ExitCode.OK


def _watch(inboxes: Sequence[_Inbox]) -> NoReturn:
    """Ask about each question once, as it comes, until an interrupt."""
    check_terminal()
    seen: set[str] = set()
    while True:
        names = [name for inbox in inboxes for name in inbox.names()]
        # One that is asked again, after it was closed, is shown again.
        seen &= set(names)
        for name in names:
            if name not in seen:
                seen.add(name)
                try:
                    _answer(name, inboxes)
                except PermitryError as error:
                    tell([str(error)])
        time.sleep(_PAUSE)


def _answer(name: str, inboxes: Sequence[_Inbox]) -> None:
    if not any(inbox.ask(name) for inbox in inboxes):
        raise PermitryError(f"the question `{one_line(name)}` is not open")
