"""A rule for the tests of the parts of a policy."""

import attrs

from permitry.core.decision import Verdict
from permitry.core.rule import Question

__all__ = ["StubRule"]


@attrs.define
class StubRule:
    """Answers `answer`, and covers `covered`, to every question; an exception is raised instead."""

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

    def matches(self, _: Question) -> object:
        """Return or raise the answer, and count the question."""
        self.asked += 1
        return _given(self.answer)

    def covers(self, _: Question) -> object:
        """Return or raise what it covers."""
        return _given(self.covered)

    def near_miss(self, _: Question) -> str | None:
        """Return no near miss."""
        return None


def _given(what: object) -> object:
    if isinstance(what, Exception):
        raise what
    return what
