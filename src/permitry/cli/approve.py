"""`permitry approve`: answer questions from another terminal."""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import attrs

from permitry.audit.record import user_name
from permitry.channels.ancestors import ancestors
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode, terminal_columns
from permitry.cli.prompt import TerminalChannel, edit_in_editor, open_terminal
from permitry.cli.stores import STORE, find_store
from permitry.config.default import create_default_authorization_policy
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.decision import Decision, Verdict
from permitry.core.explanation import Explanation
from permitry.core.texts import one_line
from permitry.errors import LedgerError, PermitryError
from permitry.guard.ledgers import questions_at

if TYPE_CHECKING:
    from permitry.store.questions import StoredQuestions

__all__ = ["StoreInbox", "check_asker", "check_terminal", "configure", "time_left"]

_PAUSE = 0.5
_LONGEST = 200
_SHORTEST = 20
_SAID = {"approved": "approved, once", "responded": "responded", "rejected": "refused"}
_UNITS = ((2 * 86_400, 86_400, "d"), (2 * 3_600, 3_600, "h"), (2 * 60, 60, "min"))
_NO_TERMINAL = "a human answers questions and makes grants: type this at a terminal, without a pipe"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry approve`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the question to answer; without it, all are listed")
    parser.add_argument("--store", metavar="STORE", help=f"the store: {STORE}")
    parser.add_argument("--watch", action="store_true", help="wait for questions, and ask each as it comes")
    meant = "answer in place of the tool: the model gets this text as the result"
    parser.add_argument("--respond", metavar="TEXT", help=meant)
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


def _watch(inbox: "StoreInbox") -> NoReturn:
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


def _answer(name: str, inbox: "StoreInbox", given: ToolConfirmationResponse | None = None) -> None:
    if not inbox.ask(name, given):
        raise PermitryError(f"the question `{one_line(name)}` is not open; `permitry approve` lists those that are")


@attrs.frozen
class StoreInbox:
    """The open questions of a store."""

    store: "StoredQuestions"

    def names(self) -> list[str]:
        """Return the ids of the questions that can be answered, oldest first."""
        return [row["id"] for row in self.store.open(Moment.now())]

    def lines(self) -> list[str]:
        """Return a line for each question that can be answered, without the secrets in its call."""
        return [_line(question) for question in self._open()]

    def ask(self, name: str, given: ToolConfirmationResponse | None = None) -> bool:
        """Show a question, and answer it; False where it is not open. Raises: `PermitryError`."""
        question = next((each for each in self._open() if each.id == name), None)
        if question is None or question.request is None:
            return False
        check_asker(question.above if question.deadline.boot == Moment.now().boot else ())
        print(f"session: {one_line(question.session)}\nagent:   {one_line(question.agent)}")
        response = _response(question) if given is None else given
        if response is None:
            raise PermitryError(f"the question `{name}` has no answer, and stays open")
        answer_to(self.store, question, response, by=user_name())
        print(_SAID[response.outcome])
        return True

    def _open(self) -> Iterator[StoredQuestion]:
        for row in self.store.open(Moment.now()):
            try:
                yield StoredQuestion.of(row)
            except LedgerError as error:
                tell([str(error)])


def time_left(seconds: float) -> str:
    """Return a time in the largest unit of which there are two."""
    for least, length, unit in _UNITS:
        if seconds >= least:
            return f"{round(seconds / length)} {unit}"
    return f"{max(0, round(seconds))} s"


def check_terminal() -> None:
    """Raise `PermitryError` where no human can be at a terminal."""
    if not sys.stdin.isatty():
        raise PermitryError(_NO_TERMINAL)


def check_asker(above: Iterable[int]) -> None:
    """Raise `PermitryError` where the agent could be the one that answers: below one of these processes."""
    check_terminal()
    if set(above) & {os.getpid(), *ancestors(os.getpid())}:
        raise PermitryError("this question was asked above this process; answer it in another terminal")


def _response(question: StoredQuestion) -> ToolConfirmationResponse | None:
    terminal = open_terminal()
    if terminal is None or question.request is None:
        raise PermitryError(_NO_TERMINAL)
    with terminal:
        explain = partial(_explain, question.decision, question.request.others)
        return TerminalChannel(terminal, explain, edit_in_editor).ask(question.request)


def _explain(decided: Decision, others: tuple[Decision, ...], call: ToolCall) -> Explanation:
    explained = create_default_authorization_policy().explain(call, AuthContext())
    actions = tuple(
        each if each.decision.verdict is Verdict.ALLOW else attrs.evolve(each, decision=decided)
        for each in explained.actions
    )
    return attrs.evolve(explained, decision=decided, rules=(), actions=actions, declaration=(), others=others)


def _line(question: StoredQuestion) -> str:
    parts = " ".join(f"{key}={value!r}" for key, value in question.arguments.items())
    left = time_left(Moment.now().until(question.deadline))
    start = f"{question.id}  {left:>6}  {one_line(question.agent)}  "
    # At a terminal, a line for each.
    longest = _LONGEST
    if sys.stdout.isatty():
        longest = max(_SHORTEST, terminal_columns() - len(start))
    return start + _cut(one_line(f"{question.tool} {parts}"), longest)


def _cut(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[: longest - 3]}..."
