"""Links, tokens, sessions and limits."""

import pytest
from tests.unit.permitry_ops.inbox.people import ANN, EVE

from permitry_ops.inbox.access import Access, Login, User


@pytest.fixture
def now() -> list[float]:
    """Return the time, which the test sets."""
    return [0.0]


@pytest.fixture
def access(now: list[float]) -> Access:
    """Return an access with that time."""
    return Access(lambda: now[0])


def found(access: Access, key: str | None) -> User | None:
    """Return whose session has a key."""
    login = access.find(key or "")
    return None if login is None else login.user


def test_a_link_makes_one_session(access: Access) -> None:
    """The second time it is unknown."""
    token = access.link(ANN)
    assert found(access, access.log_in(token)) == ANN
    assert access.log_in(token) is None


def test_a_link_is_late_after_a_quarter_of_an_hour(access: Access, now: list[float]) -> None:
    """A late one is used up as well."""
    token = access.link(ANN)
    now[0] = 15 * 60.0
    assert access.log_in(token) is None
    now[0] = 0.0
    assert access.log_in(token) is None


def test_a_session_ends_after_twelve_hours(access: Access, now: list[float]) -> None:
    """And when one logs out."""
    key = access.log_in(access.link(EVE))
    now[0] = 12 * 3600.0 - 1
    assert found(access, key) == EVE
    now[0] += 1
    assert found(access, key) is None


def test_no_token_is_a_key(access: Access) -> None:
    """A token is not a session, and a key is not a token."""
    token = access.link(ANN)
    assert access.find(token) is None
    key = access.log_in(token)
    assert key is not None
    assert access.log_in(key) is None
    assert access.find("") is None


def test_after_ten_failures_in_a_minute_wrong_tokens_wait(access: Access, now: list[float]) -> None:
    """A right one is looked at all the same, and a minute later no one waits."""
    for _ in range(10):
        assert access.delay == 0
        access.log_in("x")
    assert access.delay == 1
    assert access.log_in(access.link(ANN)) is not None
    now[0] = 60.0
    assert access.delay == 0


def test_the_oldest_of_too_many_sessions_ends(access: Access) -> None:
    """A thousand are enough."""
    access.add_token("t", ANN)
    keys = [access.log_in("t") for _ in range(1_001)]
    assert [found(access, keys[0]), found(access, keys[1]), found(access, keys[-1])] == [None, ANN, ANN]


def test_a_form_is_of_its_session(access: Access) -> None:
    """Any other text is not its token, whatever it consists of."""
    login = Login(ANN, 1.0)
    assert access.is_from(login, login.csrf)
    assert not any(access.is_from(login, text) for text in ("", "\ud800", Login(ANN, 1.0).csrf))


def test_secrets_are_not_shown() -> None:
    """Neither in a traceback nor in a log."""
    access = Access()
    token = access.link(ANN)
    assert token not in repr(access)
    login = Login(ANN, 0.0)
    assert login.csrf not in repr(login)


def test_roles_have_names() -> None:
    """As the header shows them."""
    assert (ANN.role, EVE.role) == ("approver", "viewer")
