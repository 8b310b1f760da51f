"""`permitry run --webhook`: calls are asked about by a post."""

import base64
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.receivers import Receiver, Reply, receiving

from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.channels.webhook import sign, verify
from permitry.guard.ledgers import questions_at

Outcome = tuple[int, str, str]
Cli = Callable[..., Outcome]
Recorded = Callable[[], list[dict[str, Any]]]
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
LINE = json.dumps({"id": "w", "name": "write_file", "arguments": {"path": "a", "content": "x"}}) + "\n"


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Return a server that has the secret of the environment."""
    monkeypatch.setenv("PERMITRY_WEBHOOK_SECRET", SECRET)
    with receiving() as running:
        yield running


@pytest.mark.parametrize("approved", [True, False])
def test_a_call_is_asked_about_by_a_post(
    cli: Cli, guarding: list[str], workspace: Path, receiver: Receiver, *, approved: bool
) -> None:
    """The secret is not left for the commands of an agent."""

    def answer(headers: Mapping[str, str], body: bytes) -> Reply:
        assert "PERMITRY_WEBHOOK_SECRET" not in os.environ
        return 200, *sign(ToolConfirmationResponse(approved), verify(headers, body, SECRET), SECRET)

    receiver.replies = [answer]
    code, _, err = cli(*guarding, "--webhook", receiver.address, stdin=LINE)
    assert code == 0
    assert [each.name for each in workspace.iterdir()] == (["a"] if approved else [])
    assert "asked through the webhook" in err


def test_an_answer_may_come_from_the_store(
    cli: Cli, guarding: list[str], workspace: Path, receiver: Receiver, tmp_path: Path
) -> None:
    """The post says that there is something to answer."""
    store = tmp_path / "permitry.db"

    def take(headers: Mapping[str, str], body: bytes) -> Reply:
        row = questions_at(store).find(verify(headers, body, SECRET)["id"])
        assert row is not None
        answer_to(questions_at(store), StoredQuestion.of(row), ToolConfirmationResponse(approved=True), by="ann")
        return 202, {}, b""

    receiver.replies = [take]
    cli(*guarding, "--webhook", receiver.address, "--store", store, "--unattended", "wait", stdin=LINE)
    assert [each.name for each in workspace.iterdir()] == ["a"]


@pytest.mark.parametrize("last", [400, 500, 200])
def test_the_first_answer_counts(
    cli: Cli, guarding: list[str], recorded: Recorded, receiver: Receiver, tmp_path: Path, *, last: int
) -> None:
    """One in the store, though the receiver fails afterwards, or says no."""
    store = tmp_path / "permitry.db"

    def refuse(headers: Mapping[str, str], body: bytes) -> Reply:
        shown = verify(headers, body, SECRET)
        row = questions_at(store).find(shown["id"])
        assert row is not None
        if row["answer"] is None:
            answer_to(questions_at(store), StoredQuestion.of(row), ToolConfirmationResponse(approved=True), by="ann")
        return (
            (last, *sign(ToolConfirmationResponse(approved=False), shown, SECRET)) if last == 200 else (last, {}, b"")
        )

    receiver.replies = [refuse]
    cli(*guarding, "--webhook", receiver.address, "--store", store, "--unattended", "wait", stdin=LINE)
    (answered,) = [each for each in recorded() if each["event"] == "answered"]
    assert (answered["approved"], answered["by"]) == (True, "ann")


def test_what_fails_blocks(cli: Cli, guarding: list[str], workspace: Path, receiver: Receiver) -> None:
    """As without an answer."""
    receiver.replies = [(404, {}, b"")]
    _, _, err = cli(*guarding, "--webhook", receiver.address, stdin=LINE)
    assert list(workspace.iterdir()) == []
    assert "not answered" in err


@pytest.mark.parametrize(
    ("words", "secret", "why"),
    [
        (["https://a.example"], "", "in PERMITRY_WEBHOOK_SECRET, which is not set: `whsec_`"),
        (["https://a.example"], "abc", "random bytes in base64"), (["http://a.example"], SECRET, "is not `https://`"),
        (["https://a.example", "--unattended", "block"], SECRET, "goes with"),
        (["https://a.example", "--answers", "answers.jsonl"], SECRET, "goes with"),
    ],
)  # fmt: skip
def test_a_webhook_that_cannot_be_used_is_an_error(
    cli: Cli, guarding: list[str], monkeypatch: pytest.MonkeyPatch, words: list[str], *, secret: str, why: str
) -> None:
    """Before anything runs."""
    monkeypatch.setenv("PERMITRY_WEBHOOK_SECRET", secret)
    code, _, err = cli(*guarding, "--webhook", *words, stdin=LINE)
    assert (code, why in err) == (4, True)
    assert not secret or secret not in err
