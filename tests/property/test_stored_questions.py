"""Laws of questions and grants in a store: whatever comes in whatever order, in however many processes."""

import contextlib
import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permitry.audit.redaction import redacted
from permitry.channels.clock import Moment
from permitry.channels.response import ToolConfirmationResponse
from permitry.channels.stored_question import answer_text
from permitry.config.load import load_policy
from permitry.core.call import ToolCall
from permitry.errors import ReplayError
from permitry.guard.grants import Grant
from permitry.guard.grants_in_force import Grants
from permitry.guard.guard import Guard
from permitry.guard.outcome import Permit
from permitry.guard.session import Session
from permitry.guard.stored_ledger import StoredLedger
from permitry.store.chained_store import Store
from permitry.store.grants import StoredGrants
from permitry.store.questions import StoredQuestions
from permitry.store.records import store_at

Opened: TypeAlias = Callable[[], AbstractContextManager[Store]]

POLICIES = {
    effect: load_policy(f'schema = 1\n[[rule]]\nid = "r"\neffect = "{effect}"\ntools = ["write"]\n')
    for effect in ("allow", "confirm", "block")
}
CALLS = [ToolCall("write", {"n": number}, call_id=f"c{number}") for number in range(2)]
RESPONSES = {
    "yes": ToolConfirmationResponse(approved=True),
    "no": ToolConfirmationResponse(approved=False),
    "instead": ToolConfirmationResponse(approved=False, result="by hand"),
}
LIFETIME = 100.0
POLICY = load_policy("schema = 1\n")


STEP = st.one_of(
    st.tuples(st.just("check"), st.just(0), st.sampled_from(sorted(POLICIES))),
    st.tuples(st.sampled_from(["answer", "answer", "here"]), st.just(0), st.sampled_from(sorted(RESPONSES))),
    st.tuples(st.just("restart"), st.just(0), st.just("")),
    st.tuples(st.just("wait"), st.sampled_from([60, 150]), st.sampled_from(["", "set back", "set ahead"])),
)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest) -> Iterator[Opened]:
    """Return what opens an empty store of each kind."""
    if request.param == "sqlite":
        yield opened_file
        return
    store = store_at(request.getfixturevalue("postgres").new())

    @contextlib.contextmanager
    def emptied() -> Iterator[Store]:
        with store.change() as connection:
            connection.execute("DELETE FROM question")
            connection.execute("DELETE FROM permission_grant")
        yield store

    yield emptied
    store.close()


@contextlib.contextmanager
def opened_file() -> Iterator[Store]:
    """Yield a new store."""
    with tempfile.TemporaryDirectory() as folder:
        store = store_at(Path(folder) / "permitry.db")
        yield store
        store.close()


class Scene:
    """Processes of one session, one after the other, and what must be true of its calls."""

    def __init__(self, store: Store) -> None:
        self.questions, self.now = StoredQuestions(store), Moment(1_000.0, "boot", 0.0)
        self.asked_at, self.accepted, self.ran = dict[int, float](), dict[int, str](), dict[int, int]()
        self.restart(0, "")

    def restart(self, _: int, __: str) -> None:
        """Begin a new process."""
        ledger = StoredLedger(self.questions, redacted, lifetime=LIFETIME, clock=lambda: self.now)
        self.guard = Guard(POLICIES["confirm"], session=Session(id="s"), ledger=ledger)

    def wait(self, seconds: int, how: str) -> None:
        """Let time pass, and set the clock on the wall."""
        wall = {"": seconds, "set back": -5_000, "set ahead": 5_000}[how]
        self.now = Moment(self.now.wall + wall, "boot", self.now.steady + seconds)

    def row(self, number: int) -> Mapping[str, Any] | None:
        """Return the question about a call."""
        call = CALLS[number]
        return self.questions.earlier("s", "main", call.call_id or "", call.digest)

    def check(self, number: int, effect: str) -> None:
        """Make a call, under a rule; once it was asked about, only a yes lets it run."""
        before = self.row(number)
        self.guard.policy = POLICIES[effect]
        outcome = self.guard.check(CALLS[number])
        if before is None and self.row(number) is not None:
            self.asked_at[number] = self.now.steady
        if isinstance(outcome, Permit):
            assert effect == "allow" if before is None else self.accepted[number] == "yes"
            self.run(number, outcome)

    def run(self, number: int, permit: Permit) -> None:
        """Run a call; a permit that was taken before is given again, and is of no use."""
        with contextlib.suppress(ReplayError):
            permit.take()
            self.ran[number] = self.ran.get(number, 0) + (number in self.asked_at)
            assert self.ran[number] <= 1

    def answer(self, number: int, how: str) -> None:
        """Answer from elsewhere: the first that is in time is accepted."""
        row, text = self.row(number), answer_text(RESPONSES[how])
        if row is not None and self.questions.answer(row["id"], row["digest"], text, "ann", self.now):
            self.accept(number, how)

    def here(self, number: int, how: str) -> None:
        """Answer where the call was made."""
        row = self.row(number)
        outcome = None if row is None else self.guard.answer(row["id"], RESPONSES[how])
        if isinstance(outcome, Permit):
            assert how == "yes"
            # It may be the very answer that was given elsewhere, and is taken with this.
            if self.accepted.get(number) != how:
                self.accept(number, how)
            self.run(number, outcome)

    def accept(self, number: int, how: str) -> None:
        """Note an answer that counts: there is one, and it is in time."""
        assert number not in self.accepted
        assert self.now.steady - self.asked_at[number] <= LIFETIME
        self.accepted[number] = how


@given(happened=st.lists(STEP, min_size=5, max_size=14))
def test_a_call_that_was_asked_about_runs_once_by_a_yes_in_time(
    opened: Opened, happened: list[tuple[str, int, str]]
) -> None:
    """Whatever the rules say by then, whatever is done to the clock, and however often the process is started again."""
    with opened() as store:
        scene = Scene(store)
        for kind, number, how in [("check", 0, "confirm"), *happened]:
            getattr(scene, kind)(number, how)


@given(uses=st.integers(0, 4), order=st.lists(st.sampled_from(["a", "b", "revoke"]), max_size=8))
def test_a_grant_permits_no_more_calls_than_it_has_uses(opened: Opened, uses: int, order: list[str]) -> None:
    """In all processes together, and none once it is revoked."""
    with opened() as store:
        grants = StoredGrants(store)
        grants.add(Grant('tools = ["write"]', uses_left=uses, id="g").row())
        guards = {name: Guard(POLICY, grants=Grants(grants)) for name in "ab"}
        permitted, is_revoked = 0, False
        for number, name in zip(itertools.count(), order, strict=False):
            if name == "revoke":
                is_revoked = grants.revoke("g", Moment.now()) or is_revoked
                continue
            is_permitted = isinstance(guards[name].check(CALLS[0].with_id(f"c{number}")), Permit)
            assert is_permitted is (permitted < uses and not is_revoked)
            permitted += is_permitted
