"""A guard for each session: found by the host's key, bounded, and never replaced by one that knows less."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from permitry.errors import ForgottenSessionError
from permitry.guard.guard import Guard
from permitry.guard.guards import Guards


def _guards(**bounds: int) -> Guards:
    return Guards(lambda _: Guard(), **bounds)


def test_each_session_has_a_guard_of_its_own() -> None:
    """Always the same one."""
    guards = _guards()
    assert guards["a"] is guards["a"]
    assert guards["a"] is not guards["b"]
    assert len(guards) == 2
    assert "a" in guards
    assert "c" not in guards


def test_a_session_is_made_from_its_key() -> None:
    """An error in that is passed on, and nothing is kept of it."""
    seen = []

    def make(key: object) -> Guard:
        seen.append(key)
        if len(seen) == 1:
            raise OSError("no workspace")
        return Guard()

    guards = Guards(make)
    with pytest.raises(OSError, match="no workspace"):
        guards["a"]
    assert isinstance(guards["a"], Guard)
    assert seen == ["a", "a"]


def test_the_guard_of_a_sub_agent_is_made_from_that_of_its_parent() -> None:
    """Which is made first, if need be."""

    def make(key: object) -> Guard:
        assert isinstance(key, tuple)
        session, agent = key
        return Guard(session=guards[session, None].session.child(agent)) if agent else Guard()

    guards = Guards(make)
    child = guards["a", "reviewer"]
    assert child.session.parent is guards["a", None].session
    assert len(guards) == 2


def test_a_guard_is_not_made_from_itself() -> None:
    """Nor from one that is made from it; and the next call finds no half of it."""

    def make(key: object) -> Guard:
        made.append(key)
        return guards["b" if key == "a" else "a"] if len(made) < 9 else Guard()

    made: list[object] = []
    guards = Guards(make)
    with pytest.raises(RecursionError, match="the guard of 'a' cannot be made from itself"):
        guards["a"]
    assert made == ["a", "b"]
    made += [""] * 9
    assert guards["a"] is guards["a"]


def test_the_session_used_longest_ago_is_dropped_and_gets_no_other_guard() -> None:
    """What it had read is forgotten, so that nothing more may run in it."""
    guards = _guards(most=2)
    first = guards["a"]
    guards["b"]
    assert guards["a"] is first
    guards["c"]
    assert "b" not in guards
    with pytest.raises(ForgottenSessionError, match="start a new one"):
        guards["b"]
    assert guards["a"] is first


def test_past_the_last_key_that_can_be_remembered_no_session_begins() -> None:
    """Those that are kept go on."""
    guards = _guards(most=1, keys=1)
    guards["a"], guards["b"]
    kept = guards["c"]
    with pytest.raises(ForgottenSessionError):
        guards["d"]
    assert guards["c"] is kept


def test_threads_that_come_together_get_one_guard() -> None:
    """Two would each know half."""

    def make(key: object) -> Guard:
        time.sleep(0.01)
        made.append(key)
        return Guard()

    made: list[object] = []
    guards = Guards(make)
    with ThreadPoolExecutor(8) as pool:
        assert len({id(guard) for guard in pool.map(lambda _: guards["a"], range(100))}) == 1
    assert made == ["a"]
