"""Questions in files: each answer counts once, for one call, in time."""

import os
import threading
import time
from pathlib import Path

import attrs
import pytest

from permitry.confirm.response import ToolConfirmationResponse
from permitry.errors import LedgerError, PermitryError
from permitry.hooks.waiting import Question, Questions, ancestors

YES, NO = ToolConfirmationResponse(True), ToolConfirmationResponse(False, instructions="Not today.")


def _question(name: str = "a1", *, digest: str = "d1", seconds: float = 60) -> Question:
    return Question(
        name, "claude-code", "s1", "main", "Bash", {"command": "make"}, digest, "why", "/p", time.time() + seconds
    )


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    """Return no questions."""
    return Questions(tmp_path / "state" / "questions")


def test_an_answer_counts_once(questions: Questions) -> None:
    """And closes its question."""
    questions.open(_question())
    assert questions.take("a1", "d1") is None
    for answer in (YES, NO):
        question = _question()
        questions.open(question)
        questions.answer(question, answer)
        assert questions.take("a1", "d1") == answer
        assert questions.take("a1", "d1") is None
        assert questions.names() == []


def test_an_answer_is_for_one_call(questions: Questions) -> None:
    """For another one it is thrown away."""
    questions.open(question := _question())
    questions.answer(question, YES)
    assert questions.take("a1", "d2") is None
    assert questions.take("a1", "d1") is None


def test_a_question_is_answered_once(questions: Questions) -> None:
    """The first answer counts."""
    questions.open(question := _question())
    questions.answer(question, NO)
    with pytest.raises(LedgerError):
        questions.answer(question, YES)
    assert questions.take("a1", "d1") == NO


def test_a_late_answer_counts_for_nothing(questions: Questions) -> None:
    """Whether the human or the agent comes late."""
    questions.open(late := _question(seconds=-1))
    assert questions.names() == ["a1"]
    assert questions.find("a1") is None
    with pytest.raises(LedgerError):
        questions.answer(late, YES)
    questions.open(question := _question(seconds=0.2))
    questions.answer(question, YES)
    time.sleep(0.3)
    assert questions.take("a1", "d1") is None


def test_an_answer_to_another_question_of_this_name_counts_for_nothing(questions: Questions) -> None:
    """It was about what the human was shown."""
    questions.open(shown := _question())
    questions.open(attrs.evolve(shown, arguments={"command": "rm"}))
    with pytest.raises(LedgerError):
        questions.answer(shown, YES)


def test_a_question_that_is_asked_again_meanwhile_can_be_answered(questions: Questions) -> None:
    """The agent that waits for it made the call once more."""
    questions.open(shown := _question())
    questions.open(attrs.evolve(shown, until=shown.until + 60, above=[2]))
    questions.answer(shown, YES)
    assert questions.take("a1", "d1") == YES


def test_it_waits_for_an_answer(questions: Questions) -> None:
    """No longer than needed, and no longer than it may."""
    questions.open(question := _question())
    threading.Timer(0.2, questions.answer, (question, YES)).start()
    begun = time.monotonic()
    assert questions.wait(question, 30) == YES
    assert time.monotonic() - begun < 10
    assert questions.wait(question, 0.2) is None
    assert questions.wait(question, 0) is None


def test_of_many_that_see_an_answer_one_has_it(questions: Questions) -> None:
    """Two calls may be the same."""
    questions.open(question := _question())
    found: list[ToolConfirmationResponse | None] = []
    threads = [threading.Thread(target=lambda: found.append(questions.wait(question, 1))) for _ in range(8)]
    for thread in threads:
        thread.start()
    questions.answer(question, YES)
    for thread in threads:
        thread.join()
    assert [each for each in found if each] == [YES]


def test_the_folder_is_the_users_alone(questions: Questions) -> None:
    """In another one an answer could be anyone's."""
    questions.open(_question())
    assert questions.folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in questions.folder.iterdir()] == [0o600]
    questions.folder.chmod(0o770)
    with pytest.raises(PermitryError, match="you alone"):
        questions.open(_question("b2"))
    with pytest.raises(PermitryError, match="you alone"):
        questions.names()


def test_there_are_no_questions_before_the_first() -> None:
    """And no folder is made for that."""
    assert Questions(Path("/nowhere/questions")).names() == []


def test_the_same_call_of_the_same_agent_has_the_same_question() -> None:
    """So that it is not asked again while it is open."""
    one = Question.name("codex", "s1", "main", "d1")
    assert one == Question.name("codex", "s1", "main", "d1")
    others = [("codex", "s1", "sub", "d1"), ("codex", "s2", "main", "d1"), ("gemini", "s1", "main", "d1")]
    assert one not in {Question.name(*other) for other in others}


def test_the_processes_above_are_found() -> None:
    """The parent first."""
    assert next(ancestors(os.getpid())) == os.getppid()
    assert list(ancestors(2**30)) == []
