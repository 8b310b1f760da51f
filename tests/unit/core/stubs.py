"""Rules for the tests of the parts of a policy."""

from collections.abc import Callable

import attrs

from permitry.core.decision import Verdict
from permitry.core.rule import Request, Unsure

__all__ = ["PlainRule", "StubRule", "always", "never"]


@attrs.define
class StubRule:
    """Answers `answer`, and covers `covered`, to every request; an exception is raised instead."""

    id: object
    answer: object = True
    covered: object = frozenset[int]()
    effect: object = Verdict.ALLOW
    priority_number: object = 250
    asked: int = 0
    reason: str = "why"
    message: str | None = None
    source: str | None = None
    specificity: tuple[int, int] = (0, 0)
    keeps: bool = False

    def priority(self) -> object:
        """Return its place in the order."""
        return self.priority_number

    def matches(self, _: Request) -> object:
        """Return or raise the answer, and count the request."""
        self.asked += 1
        return _given(self.answer)

    def covers(self, _: Request) -> object:
        """Return or raise what it covers."""
        return _given(self.covered)

    def near_miss(self, _: Request) -> str | None:
        """Return no near miss."""
        return None


def always(_: Request) -> bool:
    """Return True."""
    return True


def never(_: Request) -> bool:
    """Return False."""
    return False


@attrs.frozen
class PlainRule:
    """A rule of which everything can be said."""

    id: str
    effect: Verdict
    priority_number: int
    test: Callable[[Request], bool | Unsure] = attrs.field(default=always, repr=False)
    reason: str = ""
    message: str | None = None
    source: str | None = None
    near: Callable[[Request], str | None] = attrs.field(default=lambda _: None, repr=False)

    def priority(self) -> int:
        """Return its place in the order."""
        return self.priority_number

    def matches(self, request: Request) -> bool | Unsure:
        """Return what the test says."""
        return self.test(request)

    def near_miss(self, request: Request) -> str | None:
        """Return the near miss."""
        return self.near(request)


def _given(what: object) -> object:
    if isinstance(what, Exception):
        raise what
    return what
