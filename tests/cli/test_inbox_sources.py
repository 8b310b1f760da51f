"""The questions of hooks in the inbox."""

import os
import time
from pathlib import Path

import attrs
import pytest

from permitry.cli.inbox_sources import HookInbox, Inboxes
from permitry.confirm.response import ToolConfirmationResponse
from permitry.errors import LedgerError, PermitryError
from permitry.hooks.waiting import Question, Questions

YES, NO = ToolConfirmationResponse(True), ToolConfirmationResponse(False, instructions="no")


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    """Return a folder with a question."""
    questions = Questions(tmp_path / "questions")
    call = {"command": "curl -u a:hunter22 x"}
    until = time.time() + 60
    questions.open(Question("abc123", "codex", "s", "main", "shell", call, "d1", "leaves", "/work", until, [1]))
    return questions


@pytest.fixture
def inbox(questions: Questions) -> HookInbox:
    """Return its inbox."""
    return HookInbox(questions)


def test_a_question_is_listed_without_secrets_and_found_in_full(inbox: HookInbox) -> None:
    """It says who asks, where, and for how long."""
    (listed,) = inbox.open()
    assert "hunter22" not in str(listed)
    shown = inbox.find("abc123")
    assert shown is not None
    assert "hunter22" in str(shown.arguments)
    assert (shown.place, shown.reason, shown.may_edit) == ("codex in /work", "leaves", False)
    assert 50 < shown.left <= 60


def test_an_answer_is_taken_by_the_hook_once(inbox: HookInbox, questions: Questions) -> None:
    """A second one is refused; the list has it no more."""
    inbox.answer("abc123", "d1", NO, "ann")
    with pytest.raises(LedgerError):
        inbox.answer("abc123", "d1", YES, "bob")
    assert inbox.open() == []
    shown = inbox.find("abc123")
    assert shown is not None
    assert shown.outcome == "rejected by ann"
    assert questions.take("abc123", "d1") == NO
    gone = inbox.find("abc123")
    assert gone is not None
    assert gone.outcome == "rejected by ann"


def test_an_answer_from_a_terminal_is_seen(inbox: HookInbox, questions: Questions) -> None:
    """By whom is not known."""
    question = questions.find("abc123")
    assert question is not None
    assert inbox.find("abc123") is not None
    questions.answer(question, YES)
    assert inbox.open() == []
    shown = inbox.find("abc123")
    assert shown is not None
    assert shown.outcome == "answered elsewhere"


def test_the_same_call_asked_again_is_open_again(inbox: HookInbox, questions: Questions) -> None:
    """What was answered before is used up."""
    question = questions.find("abc123")
    assert question is not None
    inbox.answer("abc123", "d1", YES, "ann")
    assert questions.take("abc123", "d1") == YES
    questions.open(question)
    assert [shown.id for shown in inbox.open()] == ["abc123"]


@pytest.mark.parametrize("response", [attrs.evolve(YES, arguments={}), attrs.evolve(YES, skip_future=True)])
def test_a_hook_takes_a_yes_or_a_no(inbox: HookInbox, questions: Questions, response: ToolConfirmationResponse) -> None:
    """An edit would be lost, and the call run as it was."""
    with pytest.raises(LedgerError, match="yes or a no"):
        inbox.answer("abc123", "d1", response, "ann")
    assert not questions.is_answered("abc123")


def test_a_hook_asks_each_time(inbox: HookInbox) -> None:
    """Its calls are not permitted for a time."""
    shown = inbox.find("abc123")
    assert shown is not None
    assert not shown.may_grant
    inbox.answer("abc123", "d1", YES, "ann")
    with pytest.raises(LedgerError, match="each time"):
        Inboxes([inbox]).grant("abc123", 60.0, "ann")


def test_another_call_is_not_answered(inbox: HookInbox) -> None:
    """Nor one that is not there, nor a file elsewhere."""
    for name, digest in (("abc123", "d2"), ("abc124", "d1"), ("../questions/abc123", "d1"), ("", "d1")):
        with pytest.raises(LedgerError):
            inbox.answer(name, digest, YES, "ann")
    assert inbox.find("../questions/abc123") is None


def test_an_agent_that_starts_an_inbox_answers_nothing(inbox: HookInbox, questions: Questions) -> None:
    """The host that asked is above it."""
    question = questions.find("abc123")
    assert question is not None
    questions.open(attrs.evolve(question, above=[os.getppid(), 1]))
    with pytest.raises(LedgerError, match="above this process"):
        inbox.answer("abc123", "d1", YES, "ann")


@pytest.mark.parametrize("text", ["{", "[]", '{"until": "x"}', '{"until": 9999999999}'])
def test_a_damaged_question_hides_no_other(inbox: HookInbox, questions: Questions, text: str) -> None:
    """It is not in the list, and its page says that it is damaged."""
    (questions.folder / "bad1.question").write_text(text)
    assert [shown.id for shown in inbox.open()] == ["abc123"]
    with pytest.raises(PermitryError, match="damaged"):
        inbox.find("bad1")


def test_several_inboxes_are_one(inbox: HookInbox, tmp_path: Path) -> None:
    """An answer goes where the question is."""
    both = Inboxes([HookInbox(Questions(tmp_path / "none")), inbox])
    assert [shown.id for shown in both.open()] == ["abc123"]
    assert both.find("nothing") is None
    with pytest.raises(LedgerError, match="no question"):
        both.answer("nothing", "d1", YES, "ann")
    both.answer("abc123", "d1", YES, "ann")
    assert both.open() == []
