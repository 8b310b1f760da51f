"""`permitry approve`: answer the questions of a hook, from another terminal."""

import argparse
import os
import sys
import time

from permitry.cli.inputs import tell
from permitry.cli.main import ExitCode
from permitry.config.folders import user_state
from permitry.confirm.response import ToolConfirmationResponse
from permitry.core.texts import one_line, visible
from permitry.errors import PermitryError
from permitry.hooks.waiting import Question, Questions, ancestors

__all__ = ["configure"]

_NEAR = 2
"""So many processes above a hook are those of its host: a shell, perhaps, and the host itself."""

_DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry approve`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the question to answer; without it, all are listed")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """List the open questions, or show one and take its answer from the terminal."""
    questions = Questions(user_state() / "questions")
    if options.id is None:
        print("\n".join(_lines(questions)) or "no question is open")
        return ExitCode.OK
    question = _found(questions, options.id) if options.id.isalnum() else None
    if question is None:
        raise PermitryError(f"the question `{one_line(options.id)}` is not open")
    _check_asker(question)
    for key, value in (("host", question.host), ("folder", question.folder), ("agent", question.agent)):
        print(f"{key + ':':<9}{one_line(value)}")
    print(f"reason:  {one_line(question.reason)}\ncall:    {visible(_call(question))}")
    response = _response(input("May it run? [y/N, or words to the model] "))
    questions.answer(question, response)
    print("approved, once" if response.approved else "refused")
    return ExitCode.OK


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


def _check_asker(question: Question) -> None:
    """Raise `PermitryError` where the agent could be the one that answers."""
    if not sys.stdin.isatty():
        raise PermitryError("a question is answered by a human at a terminal")
    if set(question.above[:_NEAR]) & set(ancestors(os.getpid())):
        raise PermitryError("this question was asked above this process; answer it in another terminal")


def _response(line: str) -> ToolConfirmationResponse:
    words = line.strip()
    if words.lower() in ("y", "yes"):
        return ToolConfirmationResponse(True)
    return ToolConfirmationResponse(False, instructions="" if words.lower() in ("", "n", "no") else words)
