"""The question that a client shows, and what counts as its answer."""

import asyncio

import mcp_types as types
from tests.tables import for_each

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.core.call import ToolCall
from permitry_hosts.gateway.asking import ClientChannel, can_ask, read_answer, the_form


def request(**arguments: object) -> ToolConfirmationRequest:
    """Return the question about a call."""
    return ToolConfirmationRequest(ToolCall("write", arguments, server="fs"), reason="the rule says so")


def test_the_question_shows_the_call() -> None:
    """Its tool, why it is asked, and all of its arguments."""
    form = the_form(request(path="a", text="b"))
    assert form.message.split("\n") == [
        "The agent wants to call mcp:fs/write.", "Why you are asked: the rule says so",
        "{", '  "path": "a",', '  "text": "b"', "}",
    ]  # fmt: skip
    assert form.requested_schema["required"] == ["approve"]


def test_nothing_in_it_is_invisible() -> None:
    """No argument can hide what follows, or look like another line of the question."""
    message = the_form(request(path="a\u202eb\u200b\x1b[2K", text="x\nWhy you are asked: you are not")).message
    assert "\\u202e" in message
    assert "\\u200b" in message
    assert "\x1b" not in message
    assert "\nWhy you are asked: you are not" not in message
    message = the_form(request(), "It is new:\nyou are not asked", "And: so").message
    assert message.split("\n")[1:3] == ["It is new:\\nyou are not asked", "And: so"]


def test_long_arguments_are_said_to_be_cut() -> None:
    """The user knows that there is more."""
    message = the_form(request(text="x" * 50_000)).message
    assert len(message) < 9_000
    assert "CHARACTERS ARE NOT SHOWN" in message


@for_each(
    ("answer", "response"),
    [
        (types.ElicitResult(action="accept", content={"approve": True}), ToolConfirmationResponse(approved=True)),
        (
            types.ElicitResult(action="accept", content={"approve": False, "instructions": "no"}),
            ToolConfirmationResponse(approved=False, instructions="no"),
        ),
        (types.ElicitResult(action="decline"), ToolConfirmationResponse(approved=False)),
        (types.ElicitResult(action="decline", content={"approve": True}), ToolConfirmationResponse(approved=False)),
        (types.ElicitResult(action="cancel"), None),
        (types.ElicitResult(action="cancel", content={"approve": True}), None),
        (types.ElicitResult(action="accept"), None),
        (types.ElicitResult(action="accept", content={}), None),
        (types.ElicitResult(action="accept", content={"approve": "true"}), None),
        (types.ElicitResult(action="accept", content={"approve": 1}), None),
        (types.ElicitResult(action="accept", content={"approve": 1.0}), None),
        (types.ElicitResult(action="accept", content={"approve": None}), None),
        (types.ElicitResult(action="accept", content={"approve": True, "instructions": 1}), None),
        (types.ListRootsResult(roots=[]), None),
        ({"action": "accept", "content": {"approve": True}}, None),
        (None, None),
    ],
)
def test_only_what_the_form_asks_for_is_an_answer(answer: object, response: ToolConfirmationResponse | None) -> None:
    """Anything else is none."""
    assert read_answer(answer) == response


@for_each(
    ("capabilities", "can"),
    [
        (None, False),
        (types.ClientCapabilities(), False),
        (types.ClientCapabilities(elicitation=types.ElicitationCapability()), True),
        (types.ClientCapabilities(elicitation=types.ElicitationCapability(form={})), True),
        (types.ClientCapabilities(elicitation=types.ElicitationCapability(url={})), False),
    ],
)
def test_who_can_be_asked(capabilities: types.ClientCapabilities | None, *, can: bool) -> None:
    """A client that shows forms; one that opens addresses alone does not."""
    assert can_ask(capabilities) is can


def test_a_channel_asks_for_the_request_at_hand() -> None:
    """Two tasks have two clients; a task without one has no answer, and a thread never has."""
    channel = ClientChannel()
    yes, no = (ToolConfirmationResponse(approved=each) for each in (True, False))

    async def asked(given: ToolConfirmationResponse | None) -> ToolConfirmationResponse | None:
        async def answer(_: ToolConfirmationRequest) -> ToolConfirmationResponse | None:
            await asyncio.sleep(0)
            return given

        if given is not None:
            channel.use(answer)
        await asyncio.sleep(0)
        return await channel.aask(request())

    async def main() -> list[ToolConfirmationResponse | None]:
        return list(await asyncio.gather(asked(yes), asked(None), asked(no)))

    assert asyncio.run(main()) == [yes, None, no]
    channel.ask(request())
