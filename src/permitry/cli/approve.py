"""`permitry approve`: answer the questions of a hook, or of a store, from another terminal."""

import argparse
import time
from typing import NoReturn

from permitry.cli.approve_stored import StoreInbox, check_asker, check_terminal, open_store
from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.config.folders import user_state
from permitry.confirm.response import ToolConfirmationResponse
from permitry.core.texts import one_line, visible
from permitry.errors import PermitryError
from permitry.hooks.waiting import Question, Questions

__all__ = ["configure"]

_NEAR = 2
"""So many processes above a hook are those of its host: a shell, perhaps, and the host itself."""

_PAUSE = 0.5
_DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry approve`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the question to answer; without it, all are listed")
    parser.add_argument(
        "--store", metavar="STORE", help="questions of a store; default: permitry.db in your state folder"
    )
    parser.add_argument("--watch", action="store_true", help="wait for questions, and ask each as it comes")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """List the open questions, or show one and take its answer from the terminal."""
    if options.id is not None and options.watch:
        raise PermitryError("--watch is for all questions, and takes no id")
    questions, stored = Questions(user_state() / "questions"), open_store(options.store)
    if options.watch:
        _watch(questions, stored)
    if options.id is None:
        print("\n".join(_lines(questions) + stored.lines()) or "no question is open")
    else:
        _answer(options.id, questions, stored)
    return ExitCode.OK


def _watch(questions: Questions, stored: StoreInbox) -> NoReturn:
    """Ask about each question once, as it comes, until an interrupt."""
    check_terminal()
    seen: set[str] = set()
    while True:
        names = [*questions.names(), *stored.names()]
        # One that is asked again, after it was closed, is shown again.
        seen &= set(names)
        for name in names:
            if name not in seen:
                seen.add(name)
                try:
                    _answer(name, questions, stored)
                except PermitryError as error:
                    tell([str(error)])
        time.sleep(_PAUSE)


def _answer(name: str, questions: Questions, stored: StoreInbox) -> None:
    question = _found(questions, name) if name.isalnum() else None
    if question is not None:
        _ask(questions, question)
    elif not stored.ask(name):
        raise PermitryError(f"the question `{one_line(name)}` is not open")


def _ask(questions: Questions, question: Question) -> None:
    check_asker(question.above[:_NEAR])
    for key, value in (("host", question.host), ("folder", question.folder), ("agent", question.agent)):
        print(f"{key + ':':<9}{one_line(value)}")
    print(f"reason:  {one_line(question.reason)}\ncall:    {visible(_call(question))}")
    response = _response(input("May it run? [y/N, or words to the model] "))
    questions.answer(question, response)
    print("approved, once" if response.approved else "refused")


def _lines(questions: Questions) -> list[str]:
    """Return a line for each open question; one that is damaged is reported, and keeps no other from being listed."""
    lines: list[str] = []
    for name in questions.names():
        try:
            question = _found(questions, name)
        except PermitryError as error:
            tell([str(error)])
        else:
            lines += [] if question is None else [_line(question)]
    return lines


def _found(questions: Questions, name: str) -> Question | None:
    """Return an open question.

    Raises: `PermitryError` for one that is damaged.
    """
    try:
        question = questions.find(name)
        if question is not None:
            _line(question)
    except _DAMAGED as error:
        path = questions.folder / f"{name}.question"
        raise PermitryError(f"the question `{one_line(name)}` is damaged; remove `{path}`") from error
    return question


def _line(question: Question) -> str:
    return f"{question.id}  {_left(question)}  {question.host}  {one_line(_call(question))}"


def _call(question: Question) -> str:
    parts = (f"{key}={value!r}" for key, value in question.arguments.items())
    return f"{question.tool} {' '.join(parts)}"


def _left(question: Question) -> str:
    return f"{max(0, round(question.until - time.time())):>4} s"


def _response(line: str) -> ToolConfirmationResponse:
    words = line.strip()
    if words.lower() in ("y", "yes"):
        return ToolConfirmationResponse(True)
    return ToolConfirmationResponse(False, instructions="" if words.lower() in ("", "n", "no") else words)
