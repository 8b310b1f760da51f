"""`Guards`: a guard for each session of a host that serves many, such as a gateway or a server."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

import attrs

from permitry.core.counts import Fingerprints
from permitry.errors import ForgottenSessionError
from permitry.guard.guard import Guard

__all__ = ["Guards"]


@attrs.define(eq=False)
class Guards:
    """Guards by the host's own key of a session; `make` gives the guard of a new one. Thread-safe.

    At most `most` are kept, the ones used last. What a session has read, and what was asked about in it, would be
    forgotten with its guard, so that a session whose guard was dropped gets no other one. Of `keys` sessions this is
    remembered, in 80 bytes each; past that no new session gets a guard.
    """

    make: Callable[[Hashable], Guard]
    most: int = attrs.field(default=1_000, kw_only=True, validator=attrs.validators.ge(1))
    keys: int = attrs.field(default=500_000, kw_only=True, validator=attrs.validators.ge(0))
    _guards: "OrderedDict[Hashable, Guard]" = attrs.field(factory=OrderedDict, init=False, repr=False)
    _dropped: Fingerprints = attrs.field(init=False, repr=False)
    _is_full: bool = attrs.field(default=False, init=False, repr=False)
    _making: set[Hashable] = attrs.field(factory=set, init=False, repr=False)
    # `make` may look up the guard of another session, such as that of a sub-agent's parent.
    _lock: threading.RLock = attrs.field(factory=threading.RLock, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._dropped = Fingerprints(self.keys)

    def __getitem__(self, key: Hashable) -> Guard:
        """Return the guard of a session, a new one for a key that was not used before.

        Raises: `ForgottenSessionError` for a session whose guard was dropped: refuse its calls. What `make` raises;
        `RecursionError` when it looks up the guard that it makes.
        """
        with self._lock:
            guard = self._guards.get(key)
            if guard is None:
                # INVARIANT: law 4. A guard that starts afresh would allow what labels and history no longer forbid.
                if self._is_full or self._dropped.count(hash(key)):
                    raise ForgottenSessionError("too many sessions came since this one was used; start a new one")
                guard = self._guards[key] = self._make(key)
                while len(self._guards) > self.most:
                    oldest, _ = self._guards.popitem(last=False)
                    self._is_full |= not self._dropped.add(hash(oldest))
            self._guards.move_to_end(key)
            return guard

    def _make(self, key: Hashable) -> Guard:
        if key in self._making:
            raise RecursionError(f"the guard of {key!r} cannot be made from itself")
        self._making.add(key)
        try:
            return self.make(key)
        finally:
            self._making.discard(key)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._guards

    def __len__(self) -> int:
        return len(self._guards)
