"""Shared budgets as one process counts them: it takes some uses at once, and more when they are used up."""

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

import attrs

from permitry.core.shared import Limit
from permitry.errors import StoreError, UnevaluableError
from permitry.store.counters import Account, StoredCounters, Uses

__all__ = ["Counters"]

_LOG = logging.getLogger("permitry.limits")
_MOST = 1_000
_LONGEST, _PART = 10.0, 128
# For so long after a failure the store is not believed where it can be read, and not written.
_PAUSE = 1.0

Clock = Callable[[], tuple[float, float]]


def _clocks() -> tuple[float, float]:
    """Return the time of the wall, and one that no one sets, which goes on while the machine sleeps."""
    # On Linux that of `monotonic` does not; elsewhere it does.
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.time(), time.monotonic()


def _check_name(_: object, field: "attrs.Attribute[str]", value: object) -> None:
    if not isinstance(value, str) or not value.isprintable() or (field.name == "principal" and not value.strip()):
        raise ValueError(f"`{field.name}` must be a printable name, not {value!r}")


@attrs.define(eq=False)
class Lease:
    """Uses that were taken at a time of the clock, `since`; `left` of them were not used yet."""

    taken: Uses
    since: tuple[float, float]
    length: float
    left: int

    def is_recent(self, now: tuple[float, float]) -> bool:
        """Return whether it is not over, by the clock of the wall and by one that no one sets."""
        return all(0.0 <= at - since < self.length for at, since in zip(now, self.since, strict=True))

    def has_use(self, now: tuple[float, float]) -> bool:
        """Return whether one of the uses can happen now."""
        # INVARIANT: a use happens before the time at which it is counted; of a single one that is when it was taken.
        return self.left > 0 and self.taken.count > 1 and self.is_recent(now)


@attrs.define(eq=False)
class Counters:
    """The shared budgets in a store, for the calls of a `principal` of an `organisation`. Thread-safe.

    `close` gives back what was taken and not used. Without it, that counts as used until its window is over.
    """

    store: StoredCounters
    principal: str = attrs.field(validator=_check_name)
    organisation: str = attrs.field(default="", validator=_check_name)
    clock: Clock = attrs.field(default=_clocks, kw_only=True, repr=False)
    _leases: dict[Limit, Lease] = attrs.field(factory=dict, init=False, repr=False)
    _failure: tuple[float, str] | None = attrs.field(default=None, init=False, repr=False)
    _process: int = attrs.field(factory=os.getpid, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def whose(self, limit: Limit) -> str:
        """Return whose calls are counted, in words."""
        name = self._account(limit).name
        return f"{limit.by} `{name}`" if name else limit.by

    def snapshot(self) -> "Snapshot":
        """Return counts of this moment that give the same answer each time."""
        return Snapshot(self)

    def uses(self, limit: Limit) -> int:
        """Return how many uses are counted, without those leased and not used, or raise `UnevaluableError`."""
        with self._lock:
            lease, now = self._lease(limit), self.clock()
            if lease is not None and lease.has_use(now):
                return lease.taken.used - lease.left
            failure = self._failure
        if failure is not None and 0.0 <= now[1] - failure[0] < _PAUSE:
            raise UnevaluableError(f"the budget cannot be counted: {failure[1]}")
        try:
            return self.store.count(self._account(limit), limit.seconds)
        except StoreError as error:
            raise UnevaluableError(f"the budget cannot be counted: {error}") from error

    def charge(self, limits: Collection[Limit], within: Collection[Limit] = ()) -> bool:
        """Count a call for each of `limits`; False, and none, if one of `within` is spent. Else `StoreError`."""
        taken: list[Lease] = []
        with self._lock:
            # Those that may be spent come first, so that nothing is counted for the others in vain.
            for limit in sorted(limits, key=lambda limit: limit not in within):
                lease = self._take(limit)
                if lease is not None:
                    taken.append(lease)
                elif limit in within:
                    for each in taken:
                        each.left += 1
                    return False
                else:
                    with self._note_failure():
                        self.store.add(self._account(limit), limit.seconds)
        return True

    def close(self) -> None:
        """Give back what is left, as far as the store can be reached."""
        with self._lock:
            for limit in list(self._leases):
                lease = self._lease(limit)
                self._leases.pop(limit, None)
                if lease is not None and lease.left:
                    with suppress(StoreError):
                        self.store.give_back(self._account(limit), lease.taken.at, lease.left)

    def _take(self, limit: Limit) -> Lease | None:
        """Return the lease of which a use was taken; None where the budget is spent."""
        now, lease = self.clock(), self._lease(limit)
        if lease is not None and lease.has_use(now):
            lease.left -= 1
            return lease
        # INVARIANT: what is given back is forgotten before, as it may be gone although the store does not answer.
        self._leases.pop(limit, None)
        wanted, back, length = 1, None, min(_LONGEST, limit.seconds / _PART)
        if lease is not None and lease.left:
            back = lease.taken.at, lease.left
        elif lease is not None and lease.is_recent(now):
            # As long as a process uses up what it takes in time, it takes more at once.
            wanted = min(_MOST, 2 * lease.taken.count)
        with self._note_failure():
            got = self.store.take(
                self._account(limit), limit.most, limit.seconds, wanted=wanted, length=length, returned=back
            )
        if got is None:
            return None
        new = self._leases[limit] = Lease(got, now, length, got.count - 1)
        return new

    def _lease(self, limit: Limit) -> Lease | None:
        if self._process != os.getpid():
            # INVARIANT: what was taken before a fork is used, and given back, by one of the two processes alone.
            self._leases.clear()
            self._process = os.getpid()
        return self._leases.get(limit)

    def _account(self, limit: Limit) -> Account:
        return Account(limit.rule, limit.by, self.principal if limit.by == "principal" else self.organisation)

    @contextmanager
    def _note_failure(self) -> Iterator[None]:
        """Note whether the store could be written."""
        try:
            yield
        except StoreError as error:
            _LOG.warning("a shared budget cannot be counted: %s", error)
            self._failure = self.clock()[1], str(error)
            raise
        self._failure = None


@attrs.frozen
class Snapshot:
    """The counts of one moment: what was asked before is answered as it was then."""

    counters: Counters = attrs.field(repr=False)
    _answers: dict[Limit, int | str] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    def uses(self, limit: Limit) -> int:
        """Return how many uses are counted, or raise `UnevaluableError`."""
        answer = self._answers.get(limit)
        if answer is None:
            try:
                answer = self.counters.uses(limit)
            except UnevaluableError as error:
                answer = str(error)
            self._answers[limit] = answer
        if isinstance(answer, str):
            raise UnevaluableError(answer)
        return answer

    def relies_on(self, limit: Limit) -> bool:
        """Return whether it was answered that the budget is not spent."""
        answer = self._answers.get(limit)
        return isinstance(answer, int) and answer < limit.most

    def whose(self, limit: Limit) -> str:
        """Return whose calls are counted, in words."""
        return self.counters.whose(limit)

    def snapshot(self) -> "Snapshot":
        """Return itself."""
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # A copy elsewhere counts nothing, and without counts a budget counts as spent.
        return type(None), ()
