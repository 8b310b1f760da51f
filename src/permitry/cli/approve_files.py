"""The questions of hooks that are files, as `permitry approve` lists them, shows them, and answers them."""

import time

import attrs

from permitry.cli.approve_stored import check_asker
from permitry.cli.inputs import tell
from permitry.config.folders import user_state
from permitry.confirm.response import ToolConfirmationResponse
from permitry.core.texts import one_line, visible
from permitry.errors import PermitryError
from permitry.hooks.waiting import Question, Questions

__all__ = ["FileInbox"]

_NEAR = 2
"""So many processes above a hook are those of its host: a shell, perhaps, and the host itself."""

_DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)


def _folder() -> Questions:
    return Questions(user_state() / "questions")


@attrs.frozen
class FileInbox:
    """The open questions in the user's state folder."""

    questions: Questions = attrs.field(factory=_folder)

    def names(self) -> list[str]:
        """Return the ids of the questions that can be answered, oldest first."""
        return self.questions.names()

    def lines(self) -> list[str]:
        """Return a line for each open question; a damaged one is reported, and hides no other."""
        lines: list[str] = []
        for name in self.names():
            try:
                question = self._found(name)
            except PermitryError as error:
                tell([str(error)])
            else:
                lines += [] if question is None else [_line(question)]
        return lines

    def ask(self, name: str) -> bool:
        """Show a question, and answer it from the terminal; False where there is none of this id.

        Raises: `PermitryError` where the agent could be the one that answers, and for a question that is damaged.
        """
        question = self._found(name) if name.isalnum() else None
        if question is None:
            return False
        check_asker(question.above[:_NEAR])
        for key, value in (("host", question.host), ("folder", question.folder), ("agent", question.agent)):
            print(f"{key + ':':<9}{one_line(value)}")
        print(f"reason:  {one_line(question.reason)}\ncall:    {visible(_call(question))}")
        response = _response(input("May it run? [y/N, or words to the model] "))
        self.questions.answer(question, response)
        print("approved, once" if response.approved else "refused")
        return True

    def _found(self, name: str) -> Question | None:
        try:
            question = self.questions.find(name)
            if question is not None:
                _line(question)
        except _DAMAGED as error:
            path = self.questions.folder / f"{name}.question"
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
