"""Questions that are posted to a web address, and their answers."""

import asyncio
import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs
import pytest
from tests.tables import for_each
from tests.unit.receivers import Receiver, Reply, receiving

from permitry.audit.record import MemoryRecorder
from permitry.channels.channel import CallbackChannel
from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.seal import Seal
from permitry.channels.webhook import SeenSignatures, WebhookChannel, sign, verify
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.core.origin import Origin
from permitry.errors import ChannelError
from permitry.guard.guard import Guard
from permitry.guard.outcome import Cause, Permit, Refusal

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
RULES = 'schema = 1\n[[rule]]\nid = "ask"\neffect = "confirm"\ntools = ["write"]\n'
CALL = ToolCall("write", {"path": "a", "password": "hunter22"}, call_id="c1")
REQUEST = ToolConfirmationRequest(CALL, pending_id="p1")
YES = ToolConfirmationResponse(approved=True)
Answering = Callable[[Mapping[str, str], bytes], Reply]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Return a server."""
    with receiving() as running:
        yield running


def answering(response: ToolConfirmationResponse = YES, secret: str = SECRET, **changed: object) -> Answering:
    """Return what a receiver does that answers all questions so, or to a question that was changed."""

    def answer(headers: Mapping[str, str], body: bytes) -> Reply:
        question = verify(headers, body, SECRET)
        return 200, *sign(response, {**question, **changed}, secret)

    return answer


def channel(receiver: Receiver, **more: Any) -> WebhookChannel:  # noqa: ANN401 -- the fields of a channel
    """Return a channel to a server, which is in a hurry."""
    return WebhookChannel(receiver.address, SECRET, **{"wait": 10.0, "pause": 0.01, **more})


@for_each(
    "response",
    [
        YES, ToolConfirmationResponse(approved=False, instructions="Not now."),
        ToolConfirmationResponse(approved=False, abort=True), ToolConfirmationResponse(approved=True, skip_future=True),
        ToolConfirmationResponse(approved=False, result="3 files"),
    ],
    ids=str,
)  # fmt: skip
def test_an_answer_comes_back(receiver: Receiver, response: ToolConfirmationResponse) -> None:
    """Each kind of them."""
    receiver.replies = [answering(response)]
    assert channel(receiver).ask(REQUEST) == response


def test_a_question_has_no_secrets(receiver: Receiver) -> None:
    """It has the digest of the call, with them; a receiver that may see them is told so."""
    receiver.replies = [answering()]
    origin = Origin("auth.password", '"hunter22"', ("look #1",), is_said=False)
    channel(receiver).ask(attrs.evolve(REQUEST, preview="+password=hunter22", origins=(origin,)))
    headers, body = receiver.requests[0]
    assert b"hunter22" not in body
    question = verify(headers, body, SECRET)
    assert (question["id"], question["digest"], question["tool"]) == ("p1", CALL.digest, "write")
    assert question["arguments"] == {"path": "a", "password": "[redacted]"}
    channel(receiver, redact=lambda value: value).ask(attrs.evolve(REQUEST, pending_id="p2"))
    assert b"hunter22" in receiver.requests[1][1]


def test_an_edit_is_taken_where_all_was_shown(receiver: Receiver) -> None:
    """Else what was left out would be lost, or replaced."""
    receiver.replies = [answering(ToolConfirmationResponse(approved=True, arguments={"path": "b"}))]
    response = channel(receiver).ask(ToolConfirmationRequest(ToolCall("write", {"path": "a"}), pending_id="p1"))
    assert response is not None
    assert response.arguments == {"path": "b"}
    with pytest.raises(ChannelError, match="not shown in full"):
        channel(receiver).ask(REQUEST)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answering(digest="d2"), "another question"), (answering(id="p2"), "another question"),
        (answering(secret="whsec_" + base64.b64encode(b"x" * 32).decode()), "signature is wrong"),
        ((200, {}, b'{"type": "permitry.answer", "approved": true}'), "not signed"),
        ((301, {"Location": "/"}, b""), "did not take the question: 301"), ((404, {}, b""), "404"),
        ((204, {}, b""), "204"),
        ((200, {}, b"x" * 65_537), "more than 65,536 bytes"),
        ((202, {}, b""), "nothing waits for an answer"),
        (lambda headers, body: (200, headers, body), "received before|not a `permitry.answer`"),
    ],
)  # fmt: skip
def test_what_is_not_an_answer_to_the_question_is_none(receiver: Receiver, reply: Any, why: str) -> None:  # noqa: ANN401 -- whatever a server says
    """And is not asked for again."""
    receiver.replies = [reply]
    with pytest.raises(ChannelError, match=why):
        channel(receiver).ask(REQUEST)
    assert len(receiver.requests) == 1


@for_each("text", ["", "[]", "{", "\udcff", '{"approved": true}', '{"type": "permitry.question"}'])
def test_a_signed_text_that_is_no_answer_is_none(receiver: Receiver, text: str) -> None:
    """Also what one would be, of another type."""
    body = text.encode("utf-8", "surrogateescape")
    receiver.replies = [(200, Seal(SECRET).headers("p1", body), body)]
    with pytest.raises(ChannelError, match=r"cannot be read|is not a `permitry\.answer`"):
        channel(receiver).ask(REQUEST)


@for_each(
    "fields",
    [
        {},
        {"approved": "yes"},
        {"approved": True, "more": 1},
        {"approved": True, "result": "x"},
        {"approved": True, "id": "p1"},
    ],
    ids=str,
)
def test_an_answer_with_other_fields_is_none(receiver: Receiver, fields: dict[str, object]) -> None:
    """What it means is not known."""
    body = json.dumps({"type": "permitry.answer", "digest": CALL.digest, **fields}).encode()
    receiver.replies = [(200, Seal(SECRET).headers("p1", body), body)]
    with pytest.raises(ChannelError, match="it is not an answer"):
        channel(receiver).ask(REQUEST)


@for_each("seconds", [-301, 301])
def test_an_answer_of_another_time_is_none(receiver: Receiver, seconds: int) -> None:
    """As one that was kept for later."""
    body = json.dumps({"type": "permitry.answer", "digest": CALL.digest, "approved": True}).encode()
    receiver.replies = [(200, Seal(SECRET, clock=lambda: time.time() + seconds).headers("p1", body), body)]
    with pytest.raises(ChannelError, match="within the last"):
        channel(receiver).ask(REQUEST)


def test_an_answer_counts_once(receiver: Receiver) -> None:
    """A second time it is a replay, also to the same question."""
    question = {"id": "p1", "digest": CALL.digest}
    receiver.replies = [(200, *sign(YES, question, SECRET))]
    asking = channel(receiver)
    assert asking.ask(REQUEST) == YES
    with pytest.raises(ChannelError, match="received before"):
        asking.ask(REQUEST)


def test_what_fails_is_posted_again_with_the_same_id(receiver: Receiver) -> None:
    """And the same body, signed anew; the receiver knows it again."""
    receiver.replies = [(500, {}, b""), (503, {}, b""), b"", answering()]
    assert channel(receiver).ask(REQUEST) == YES
    assert {headers["webhook-id"] for headers, _ in receiver.requests} == {"p1"}
    assert len({body for _, body in receiver.requests}) == 1
    assert len(receiver.requests) == 4


def test_in_the_end_there_is_no_answer(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many attempts, ever further apart, or where no time is left for the next one."""
    pauses: list[float] = []
    monkeypatch.setattr("permitry.channels.webhook.time.sleep", pauses.append)
    receiver.replies = [(500, {}, b"")]
    with pytest.raises(ChannelError, match="could not be asked, 8 times: 500 Internal Server Error"):
        channel(receiver, attempts=8, pause=1.0, wait=1_000.0).ask(REQUEST)
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    with pytest.raises(ChannelError, match="could not be asked, 1 times"):
        channel(receiver, pause=20.0).ask(REQUEST)


def test_a_server_that_is_not_there_gives_no_answer() -> None:
    """In words that name it."""
    with pytest.raises(ChannelError, match=r"`127\.0\.0\.1` could not be asked, 2 times: .*refused"):
        WebhookChannel("http://127.0.0.1:1/", SECRET, attempts=2, pause=0.0).ask(REQUEST)


def test_a_question_is_posted_at_least_once() -> None:
    """Never is a mistake of who sets it up, and found there."""
    with pytest.raises(ValueError, match="attempts"):
        WebhookChannel("http://127.0.0.1:1/", SECRET, attempts=0)


def test_a_server_that_never_ends_its_answer_is_not_waited_for(receiver: Receiver) -> None:
    """Whatever it sends meanwhile: the time is that of the whole question."""
    receiver.replies = [0.05]
    start = time.monotonic()
    with pytest.raises(ChannelError, match=r"has not answered within 0\.5 seconds"):
        channel(receiver, wait=0.5).ask(REQUEST)
    assert time.monotonic() - start < 5


def test_an_answer_may_be_given_elsewhere(receiver: Receiver) -> None:
    """The receiver has taken the question, and the next channel waits."""
    receiver.replies = [(202, {}, b"")]
    asked: list[ToolConfirmationRequest] = []

    def answer(request: ToolConfirmationRequest) -> ToolConfirmationResponse:
        asked.append(request)
        return YES

    assert channel(receiver, then=CallbackChannel(answer)).ask(REQUEST) == YES
    assert asked == [REQUEST]


def test_a_question_that_is_too_large_is_not_posted(receiver: Receiver) -> None:
    """The reason says so."""
    with pytest.raises(ChannelError, match="more than 4,194,304 bytes"):
        channel(receiver).ask(attrs.evolve(REQUEST, preview="x" * 4 * 1024 * 1024))
    assert receiver.requests == []


def test_a_question_without_an_id_gets_one(receiver: Receiver) -> None:
    """Each its own."""
    receiver.replies = [answering()]
    for _ in range(2):
        channel(receiver).ask(attrs.evolve(REQUEST, pending_id=None))
    assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 2


@for_each(
    ("url", "secret", "error"),
    [("http://a.example", SECRET, ValueError), ("https://a.example", "secret", ValueError)],
)
def test_a_channel_that_could_not_ask_safely_is_not_made(url: str, secret: str, error: type[Exception]) -> None:
    """The mistake is found before the first question."""
    with pytest.raises(error, match=r"is not|random bytes"):
        WebhookChannel(url, secret)
    wrong: Any = lambda _: YES  # noqa: E731 -- a function is not a channel
    with pytest.raises(TypeError, match="CallbackChannel"):
        WebhookChannel("https://a.example", SECRET, wrong)
    assert SECRET not in repr(WebhookChannel("https://a.example", SECRET))


def test_a_receiver_takes_each_request_once(receiver: Receiver) -> None:
    """A copy of one is refused; so is what it has signed itself, and an id that was put into a signed text."""
    receiver.replies = [answering()]
    channel(receiver).ask(REQUEST)
    [(headers, body)] = receiver.requests
    seen = SeenSignatures()
    verify(headers, body, SECRET, seen)
    with pytest.raises(ChannelError, match="received before"):
        verify(headers, body, SECRET, seen)
    with pytest.raises(ChannelError, match=r"not a `permitry\.question`"):
        verify(*sign(YES, {"id": "p1", "digest": "d"}, SECRET), SECRET)
    with pytest.raises(ChannelError, match="not the one that is signed"):
        verify(Seal(SECRET).headers("p2", body), body, SECRET)


@for_each("is_async", [False, True])
def test_a_guard_asks_by_a_webhook(receiver: Receiver, *, is_async: bool) -> None:
    """A yes permits; what goes wrong blocks, and is on record."""
    recorder = MemoryRecorder()
    guard = Guard(load_policy(RULES), channel=channel(receiver, attempts=1), recorder=recorder)

    def asked(call: ToolCall) -> object:
        return asyncio.run(_asked_aside(guard, call)) if is_async else guard.inline(call)

    receiver.replies = [answering()]
    assert isinstance(asked(CALL), Permit)
    receiver.replies = [(500, {}, b"")]
    refusal = asked(CALL.with_id("c2"))
    assert isinstance(refusal, Refusal)
    assert refusal.cause is Cause.UNANSWERED
    assert "ChannelError: `127.0.0.1` could not be asked" in str(recorder.records[-1]["error"])


async def _asked_aside(guard: Guard, call: ToolCall) -> object:
    """Return what becomes of a call, while the event loop goes on."""
    asked = asyncio.ensure_future(guard.ainline(call))
    rounds = 0
    while not asked.done():
        rounds += 1
        await asyncio.sleep(0)
    assert rounds > 1
    return asked.result()
