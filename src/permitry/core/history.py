"""What ran before in a session: the part of the past that rules may look at."""

import contextlib
import copy
import hashlib
import itertools
import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal, TypeAlias

import attrs

from permitry.core.counts import Fingerprints, Tally
from permitry.errors import UnevaluableError

__all__ = ["Bounds", "History", "Log", "Ran", "Whose", "copy_state", "set_state"]

Whose: TypeAlias = tuple[str, Literal["session", "agent", "tool"], str]
"""A rule, and whose calls its budget counts: all, or those of an agent or a tool of that name."""

_LONGEST_TARGET = 256
_ENDLESS = 1 << 62
_LETTERS_OF_DIGEST = 16
_NO_CALLS = Tally(exact=1, most=1)


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


@attrs.frozen
class Bounds:
    """How much of its past a session remembers. Past a bound, counts are too high or are not known: never too low.

    `calls` are kept in full, with at most ten times as many targets; `digests` is how many different calls before these
    are counted. Every account of a budget (`accounts`) keeps the times of `times` calls exactly, and `targets`.

    Of what the session hears, `messages` of the user with `message_size` characters are kept, and the values of
    `results` that take about `result_size` bytes: the oldest go first, and one that is larger than that is not kept.
    """

    calls: int = attrs.field(default=1_000, validator=attrs.validators.ge(1))
    digests: int = attrs.field(default=500_000, validator=attrs.validators.ge(1))
    accounts: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))
    times: int = attrs.field(default=1_024, validator=attrs.validators.ge(1))
    targets: int = attrs.field(default=5_000, validator=attrs.validators.ge(1))
    messages: int = attrs.field(default=1_000, validator=attrs.validators.ge(1))
    message_size: int = attrs.field(default=1_048_576, validator=attrs.validators.ge(1))
    results: int = attrs.field(default=1_000, validator=attrs.validators.ge(1))
    result_size: int = attrs.field(default=33_554_432, validator=attrs.validators.ge(1))


Locked: TypeAlias = Any
"""A `Log`, or what is kept next to it: an object with a `lock`."""


def copy_state(log: Locked) -> dict[str, Any]:
    """Return a copy of the fields of an object, but for its `lock`."""
    with log.lock:
        names = [field.name for field in attrs.fields(type(log)) if field.name != "lock"]
        return {name: copy.deepcopy(getattr(log, name)) for name in names}


def set_state(log: Locked, state: dict[str, Any]) -> None:
    """Fill a copy, which is looked at, while nothing is added to it."""
    for name, value in {**state, "lock": contextlib.nullcontext()}.items():
        setattr(log, name, value)


@attrs.define(eq=False)
class Log:
    """The calls of a session as they run. It only grows, and takes a bounded amount of memory.

    Thread-safe with a `lock`; without one, nothing may be added while another thread looks at it.
    """

    bounds: Bounds = attrs.field(factory=Bounds)
    lock: contextlib.AbstractContextManager[object] = attrs.field(factory=contextlib.nullcontext, repr=False)
    length: int = attrs.field(default=0, init=False)
    kept: deque[Ran] = attrs.field(factory=deque, init=False, repr=False)
    # How many targets there are in the calls that are kept.
    _weight: int = attrs.field(default=0, init=False, repr=False)
    repeated: Fingerprints = attrs.field(init=False, repr=False)
    accounts: dict[Whose, Tally] = attrs.field(factory=dict, init=False, repr=False)
    # Whether some digest, or some account, found no room.
    is_full: bool = attrs.field(default=False, init=False, repr=False)
    is_crowded: bool = attrs.field(default=False, init=False, repr=False)

    @repeated.default
    def _count_digests(self) -> Fingerprints:
        return Fingerprints(self.bounds.calls + self.bounds.digests)

    def add(self, ran: Ran) -> None:
        """Note that a call may run."""
        if ran.targets:
            ran = attrs.evolve(ran, targets=frozenset(map(_short, ran.targets)))
        with self.lock:
            self.length += 1
            self.kept.append(ran)
            self._weight += len(ran.targets)
            self.is_full = not self.repeated.add(ran.digest[:_LETTERS_OF_DIGEST]) or self.is_full
            for rule in ran.rules:
                self._charge(rule, ran)
            while len(self.kept) > self.bounds.calls or self._weight > 10 * self.bounds.calls:
                self._weight -= len(self.kept.popleft().targets)

    @property
    def history(self) -> "History":
        """The history of this moment."""
        return History(self, self.length)

    @property
    def is_complete(self) -> bool:
        """Whether every call is still kept in full."""
        return len(self.kept) == self.length

    def _charge(self, rule: str, ran: Ran) -> None:
        for whose in _accounts_of(rule, ran):
            tally = self.accounts.get(whose)
            if tally is None and len(self.accounts) < self.bounds.accounts:
                tally = self.accounts[whose] = Tally(self.bounds.times, self.bounds.targets)
            if tally is None:
                self.is_crowded = True
            else:
                tally.add(ran.at, ran.targets)

    __getstate__ = copy_state
    __setstate__ = set_state


@attrs.frozen(eq=False)
class History:
    """The calls that had run at one moment; never changes.

    Looks at a log that its session goes on adding to: a context costs the same however long that is.

    Raises: `UnevaluableError` when what is asked for is not known any more.
    """

    _log: Log = attrs.field(factory=Log, repr=False)
    _length: int = 0

    @classmethod
    def of(cls, calls: Iterable[Ran]) -> "History":
        """Return a history of its own, oldest call first, that forgets nothing."""
        log = Log(Bounds(_ENDLESS, _ENDLESS, _ENDLESS, _ENDLESS, _ENDLESS))
        for ran in calls:
            log.add(ran)
        return log.history

    def __len__(self) -> int:
        return self._length

    def latest(self) -> Iterator[Ran]:
        """Yield the calls that are still kept in full, newest first."""
        log = self._log
        with log.lock:
            count = max(0, self._length - log.length + len(log.kept))
            return reversed(tuple(itertools.islice(log.kept, count)))

    def count(self, digest: str) -> int:
        """Return how often the call with this digest ran; if anything, too often."""
        log = self._log
        with log.lock:
            later = sum(ran.digest == digest for ran in self._later())
            every = log.repeated.count(digest[:_LETTERS_OF_DIGEST])
            if log.is_full and not every:
                raise UnevaluableError("so many calls ran that it is not known how often this one did")
            return every - later

    def calls(self, whose: Whose, since: float = -math.inf) -> int:
        """Return how many calls a budget counts, later than `since`; if anything, too many."""
        with self._log.lock:
            later = sum(_is_on(ran, whose, since) for ran in self._later())
            return self._tally(whose).calls_since(since) - later

    def targets(self, whose: Whose, new: Collection[str], since: float = -math.inf) -> int:
        """Return how many targets a budget counts, with the `new` ones."""
        log, others = self._log, frozenset(map(_short, new))
        with log.lock:
            tally = self._tally(whose)
            if log.is_complete and any(_is_on(ran, whose) for ran in self._later()):
                earlier = itertools.islice(log.kept, self._length)
                return len(others.union(*(ran.targets for ran in earlier if _is_on(ran, whose, since))))
            return tally.targets_since(since, others)

    def _tally(self, whose: Whose) -> Tally:
        tally = self._log.accounts.get(whose, _NO_CALLS)
        if tally is _NO_CALLS and self._log.is_crowded:
            raise UnevaluableError("so many budgets, agents and tools were counted that this one is not")
        return tally

    def _later(self) -> Iterator[Ran]:
        """Yield the calls that came after this moment."""
        count = self._log.length - self._length
        if count > len(self._log.kept):
            raise UnevaluableError("so many calls ran since that this moment is not known any more")
        return itertools.islice(reversed(self._log.kept), count)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, History):
            return NotImplemented
        if self._length != other._length:
            return False
        if self._log.is_complete and other._log.is_complete:
            return tuple(self.latest()) == tuple(other.latest())
        return self._log.__getstate__() == other._log.__getstate__()

    def __hash__(self) -> int:
        return hash(self._length)

    def __reduce__(self) -> tuple[object, ...]:
        # What was forgotten counts on in a copy.
        if self._log.is_complete:
            return History.of, (tuple(self.latest())[::-1],)
        return History, (self._log, self._length)


def _accounts_of(rule: str, ran: Ran) -> tuple[Whose, ...]:
    """Return the accounts of the budget of a rule that a call is on."""
    return (rule, "session", ""), (rule, "agent", ran.agent), (rule, "tool", ran.tool)


def _is_on(ran: Ran, whose: Whose, since: float = -math.inf) -> bool:
    """Return whether a call is on an account, and later than `since`."""
    rule, _, _ = whose
    # A call at no known time is never over.
    is_over = math.isfinite(ran.at) and ran.at <= since
    return rule in ran.rules and whose in _accounts_of(rule, ran) and not is_over


def _short(target: str) -> str:
    """Return a name for a target that takes little memory."""
    if len(target) <= _LONGEST_TARGET:
        return target
    return f"sha256:{hashlib.sha256(target.encode(errors='surrogatepass')).hexdigest()}"
