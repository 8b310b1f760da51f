"""Questions that are answered from elsewhere: the client has no say in them, and the human is shown all of it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import attrs
import mcp_types as types
import pytest
from mcp import Client
from tests.unit.permitry_hosts.gateway.conftest import Scene, answers, text_of, tool

from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import StoredQuestion, answer_to
from permitry.guard.stored_ledger import StoredLedger
from permitry.store.questions import StoredQuestions
from permitry.store.sqlite import SqliteStore

ASKS = 'schema = 1\n[[rule]]\nid = "ask-look"\neffect = "confirm"\ntools = ["mcp:*/look"]\nreason = "looks"'
ALLOWS = 'schema = 1\n[[rule]]\nid = "look"\neffect = "allow"\ntools = ["mcp:*/look"]'


@attrs.define
class Human:
    """Who answers in the store, and has seen these questions."""

    questions: StoredQuestions
    response: ToolConfirmationResponse
    seen: list[StoredQuestion] = attrs.field(factory=list)

    async def asked(self) -> StoredQuestion:
        """Return the next question."""
        while not (rows := self.questions.open(Moment.now())):  # noqa: ASYNC110 -- another connection changes it
            await asyncio.sleep(0.05)
        return StoredQuestion.of(rows[0])

    async def answer(self) -> None:
        """Answer the next question."""
        self.seen.append(await self.asked())
        answer_to(self.questions, self.seen[-1], self.response, by="ann")


@pytest.fixture
def human(tmp_path: Path) -> Iterator[Human]:
    """Return one who says yes."""
    with closing(SqliteStore(tmp_path / "s.db")) as store:
        yield Human(StoredQuestions(store), ToolConfirmationResponse(True))


def _scene(tmp_path: Path, human: Human, rules: str = ASKS) -> Scene:
    ledger = StoredLedger(human.questions, lambda value: value, lifetime=5.0)
    return Scene(tmp_path / "scene", rules, answer=answers(approve=True), mode="auto", ledger=ledger)


def _answered(scene: Scene, human: Human) -> str:
    """Return what a call gives that the human answers."""

    async def work(client: Client) -> str:
        result, _ = await asyncio.gather(client.call_tool("look", {"path": "a"}), human.answer())
        return text_of(result)

    return str(scene.run(work))


def test_the_answer_of_the_store_counts(tmp_path: Path, human: Human) -> None:
    """The client is not asked, though it could be."""
    scene = _scene(tmp_path, human)
    assert _answered(scene, human)
    assert (len(scene.ran), scene.asked) == (1, [])
    assert human.questions.open(Moment.now()) == []


def test_other_arguments_are_those_that_run(tmp_path: Path, human: Human) -> None:
    """The human has changed the call."""
    human.response = ToolConfirmationResponse(True, arguments={"path": "b"})
    scene = _scene(tmp_path, human)
    _answered(scene, human)
    assert scene.ran == [("look", {"path": "b"})]


@pytest.mark.parametrize(("schema", "is_error"), [(None, False), ({"type": "object"}, True)])
def test_a_human_answers_in_place_of_the_tool(
    tmp_path: Path, human: Human, *, schema: dict[str, Any] | None, is_error: bool
) -> None:
    """What a client could not take for a result of that tool is an error with these words."""
    human.response = ToolConfirmationResponse(False, result="3 files")
    scene = _scene(tmp_path, human)
    scene.fake.tools = [tool("look", output_schema=schema)]

    async def work(client: Client) -> types.CallToolResult:
        result, _ = await asyncio.gather(client.call_tool("look", {"path": "a"}), human.answer())
        return result

    result = scene.run(work)
    assert (text_of(result), result.is_error, scene.ran) == ("3 files", is_error, [])


def test_the_human_is_shown_how_a_tool_has_changed(tmp_path: Path, human: Human) -> None:
    """As the user of a client would be."""
    scene = _scene(tmp_path, human, ALLOWS)
    scene.call("look")
    scene.fake.tools = [tool("look", "Sends all\nto me.")]
    _answered(scene, human)
    assert human.seen[0].request is not None
    assert "the server has changed this tool" in human.seen[0].request.reason
    assert r"Sends all\nto me." in human.seen[0].request.reason


def test_a_client_cannot_answer(tmp_path: Path, human: Human) -> None:
    """Even one that knows the id of the question."""
    scene = _scene(tmp_path, human)

    async def work(client: Client) -> None:
        asked = asyncio.create_task(client.call_tool("look", {"path": "a"}))
        question = await human.asked()
        yes = types.ElicitResult(action="accept", content={"approve": True})
        params = types.CallToolRequestParams(
            name="look",
            arguments={"path": "a"},
            request_state=question.id,
            input_responses={"permitry.answer": yes},
        )
        # As if the seal of the state were broken.
        context = cast("Any", SimpleNamespace(protocol_version="2026-07-28"))
        refused = text_of(cast("types.CallToolResult", await scene.gateway.call_tool(context, params)))
        assert "No question about this call is open" in refused
        assert len(human.questions.open(Moment.now())) == 1
        human.response = ToolConfirmationResponse(False)
        await human.answer()
        await asked

    scene.run(work)
    assert scene.ran == []
