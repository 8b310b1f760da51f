"""Who may use the inbox: one-time links and lasting tokens, exchanged for a session; roles; limits."""

import hashlib
import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable

import attrs

__all__ = ["Access", "Login", "User"]

_LINK = 15 * 60.0
_SESSION = 12 * 3600.0
_MOST_SESSIONS = 1_000
_MOST_FAILURES = 10
_MINUTE = 60.0
_PENALTY = 1.0


@attrs.frozen
class User:
    """A human by name; one who `may_answer` is an approver, another one a viewer."""

    name: str
    may_answer: bool

    @property
    def role(self) -> str:
        """The word for it."""
        return "approver" if self.may_answer else "viewer"


@attrs.define
class Login:
    """What a browser has after a login. `csrf` must come with each form; `notice` is shown once, on the next page."""

    user: User
    until: float
    csrf: str = attrs.field(factory=lambda: secrets.token_urlsafe(32), repr=False)
    notice: str = ""


def _key(text: str) -> str:
    # Looked up by its digest: how long that takes says nothing about the token.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@attrs.define
class Access:
    """The links, the tokens and the sessions; in memory, so that all sessions end with the process.

    A link is for one login, within 15 minutes; a session lasts 12 hours. After ten failures in a minute
    a wrong token has to wait. `clock` is monotonic. It is used in one event loop.
    """

    clock: Callable[[], float] = time.monotonic
    _links: dict[str, tuple[User, float]] = attrs.field(factory=dict, init=False, repr=False)
    _tokens: dict[str, User] = attrs.field(factory=dict, init=False, repr=False)
    _sessions: dict[str, Login] = attrs.field(factory=dict, init=False, repr=False)
    _failures: deque[float] = attrs.field(factory=lambda: deque(maxlen=_MOST_FAILURES), init=False, repr=False)

    def link(self, user: User) -> str:
        """Return a token for one login."""
        token = secrets.token_urlsafe(32)
        self._links[_key(token)] = (user, self.clock() + _LINK)
        return token

    def add_token(self, token: str, user: User) -> None:
        """Take a token that may be used again."""
        self._tokens[_key(token)] = user

    @property
    def delay(self) -> float:
        """The seconds that one whose token is wrong has to wait for the answer."""
        is_many = len(self._failures) == _MOST_FAILURES and self.clock() - self._failures[0] < _MINUTE
        return _PENALTY if is_many else 0.0

    def log_in(self, token: str) -> str | None:
        """Return the key of a new session for a token, or None; a link is used up by that."""
        key, now = secrets.token_urlsafe(32), self.clock()
        user, until = self._links.pop(_key(token), (None, 0.0))
        if user is None or now >= until:
            user = self._tokens.get(_key(token))
        if user is None:
            self._failures.append(now)
            return None
        self._sessions = {each: login for each, login in self._sessions.items() if now < login.until}
        while len(self._sessions) >= _MOST_SESSIONS:
            self._sessions.pop(next(iter(self._sessions)))
        self._sessions[_key(key)] = Login(user, now + _SESSION)
        return key

    def find(self, key: str) -> Login | None:
        """Return the session with a key; None for one that has ended."""
        login = self._sessions.get(_key(key))
        return None if login is None or self.clock() >= login.until else login

    def log_out(self, key: str) -> None:
        """End a session."""
        self._sessions.pop(_key(key), None)

    def is_from(self, login: Login, csrf: str) -> bool:
        """Return whether a form was made for this session."""
        return hmac.compare_digest(login.csrf.encode(), csrf.encode("utf-8", "surrogatepass"))
