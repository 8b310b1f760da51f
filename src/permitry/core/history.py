"""What ran before in a session: the part of the past that rules may look at."""

from collections.abc import Iterable, Iterator, Sequence

import attrs

__all__ = ["History", "Ran"]


@attrs.frozen
class Ran:
    """One call that ran: when (seconds, on the clock of the session), what, for whom.

    `rules` are the ids of the rules whose budget it counts against; `targets` what it touched or connected to.
    """

    at: float
    tool: str
    agent: str
    digest: str
    rules: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()


@attrs.frozen(eq=False)
class History:
    """The calls that had run at one moment, oldest first; never changes.

    Looks at a list that its session only appends to, so that a context costs the same however long the session is.
    """

    _log: Sequence[Ran] = attrs.field(default=(), repr=False)
    _length: int = attrs.field(init=False)

    @_length.default
    def _now(self) -> int:
        return len(self._log)

    @classmethod
    def of(cls, calls: Iterable[Ran]) -> "History":
        """Return a history of its own."""
        return cls(tuple(calls))

    def __len__(self) -> int:
        return self._length

    def latest(self) -> Iterator[Ran]:
        """Yield the calls, newest first."""
        return (self._log[at] for at in range(self._length - 1, -1, -1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        return tuple(self.latest()) == tuple(other.latest())

    def __hash__(self) -> int:
        return hash(tuple(self.latest()))

    def __reduce__(self) -> tuple[object, ...]:
        return History, (tuple(self._log[: self._length]),)
