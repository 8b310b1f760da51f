"""Events: what one answers, the other sees."""

import asyncio
import contextlib
import json
from collections.abc import Iterator

import httpx
import pytest
from tests.unit.permitry_ops.inbox.inboxes import MemoryInbox, serving
from tests.unit.permitry_ops.inbox.people import ANN, BOB

from permitry.errors import StoreError
from permitry_ops.inbox.app import InboxApp
from permitry_ops.inbox.live import Live, State


@pytest.fixture
def served() -> Iterator[tuple[InboxApp, str]]:
    """Yield an inbox that is served on this machine, and its address."""
    with serving(MemoryInbox()) as both:
        yield both


@contextlib.contextmanager
def browser(origin: str, token: str) -> Iterator[httpx.Client]:
    """Yield a browser that has logged in."""
    with httpx.Client(base_url=origin, headers={"Origin": origin}, timeout=10, trust_env=False) as client:
        assert client.post("/login", data={"token": token}).status_code == 303
        yield client


def states(lines: Iterator[str]) -> Iterator[State]:
    """Yield the states of events."""
    yield from (State(**json.loads(line[6:])) for line in lines if line.startswith('data: {"v'))


def test_the_second_approver_sees_the_answer_of_the_first(served: tuple[InboxApp, str]) -> None:
    """On the page of the question, and on the list of all."""
    app, origin = served
    with (
        browser(origin, app.access.link(ANN)) as ann,
        browser(origin, app.access.link(BOB)) as bob,
        bob.stream("GET", "/questions/q1/events") as stream,
        bob.stream("GET", "/events") as listed,
    ):
        assert stream.headers["content-type"].startswith("text/event-stream")
        seen, of_list = states(stream.iter_lines()), states(listed.iter_lines())
        assert (next(seen), next(of_list)) == (State("", ""), State("q1", "1 open question."))
        csrf = ann.get("/questions/q1").text.split('name="csrf" value="')[1].split('"')[0]
        form = {"csrf": csrf, "digest": "d1", "action": "approve"}
        assert ann.post("/questions/q1/answer", data=form).status_code == 303
        assert next(seen) == State("approved by ann", "This question is closed: approved by ann.")
        assert next(of_list) == State("", "No question is open.")


def test_the_events_end_with_the_session(served: tuple[InboxApp, str]) -> None:
    """Who has logged out sees nothing any more."""
    app, origin = served
    with browser(origin, app.access.link(ANN)) as ann, ann.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: changed"
        key = next(iter(ann.cookies.values()))
        app.access.log_out(key)
        assert "event: ended" in list(lines)


def test_a_store_that_is_away_is_said() -> None:
    """The events go on."""

    def away() -> State:
        raise StoreError("away")

    async def first() -> str:
        events = Live(pause=0.0).events("k", away, lambda: True)
        found = await anext(events)
        await events.aclose()  # type: ignore[attr-defined]  # it is a generator
        return found

    assert '"version": "away"' in asyncio.run(first())


def test_one_look_serves_all() -> None:
    """A hundred pages do not read the store a hundred times."""
    looks: list[None] = []
    live = Live(pause=10.0)

    def look() -> State:
        looks.append(None)
        return State("1")

    async def all_first() -> None:
        for _ in range(3):
            events = live.events("k", look, lambda: True)
            await anext(events)
            await events.aclose()  # type: ignore[attr-defined]  # as above

    asyncio.run(all_first())
    assert len(looks) == 1


def test_no_more_than_a_hundred_listen() -> None:
    """One that leaves makes room."""
    live = Live(pause=0.0)

    async def listen() -> list[bool]:
        streams = [live.events("k", lambda: State(""), lambda: True) for _ in range(100)]
        for stream in streams:
            await anext(stream)
        full = live.is_full
        await streams[0].aclose()  # type: ignore[attr-defined]  # as above
        freed = live.is_full
        for stream in streams[1:]:
            await stream.aclose()  # type: ignore[attr-defined]  # as above
        return [full, freed]

    assert asyncio.run(listen()) == [True, False]
