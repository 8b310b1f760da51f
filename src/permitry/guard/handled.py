"""What became of calls: kept for the latest of them, and of all others that they were handled."""

from collections import OrderedDict
from typing import Generic, TypeAlias, TypeVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.counts import Fingerprints
from permitry.errors import LedgerError

__all__ = ["Asker", "HandledCalls"]

Outcome = TypeVar("Outcome")
Asker: TypeAlias = tuple[str, str]
"""Who makes calls: the id of a session, and an agent."""
_Key: TypeAlias = tuple[Asker, str | None, str]


# What is set later is not validated: attrs would do that for every field, several times a call.
@attrs.define(eq=False, on_setattr=attrs.setters.NO_OP)
class HandledCalls(Generic[Outcome]):
    """Outcomes by call: the same call is one of the same asker with the same id, tool and arguments. Not thread-safe.

    Those of open questions are all kept, as there is a bound on these; of the others the last `calls`, and no more than
    go with `size` bytes of arguments. Of what is not kept, `ids` are remembered in 80 bytes each; past that every id
    that the handler did not make up itself counts as used.
    """

    calls: int = attrs.field(default=1_000, validator=attrs.validators.ge(0))
    size: int = attrs.field(default=16 * 1024 * 1024, validator=attrs.validators.ge(0))
    ids: int = attrs.field(default=500_000, validator=attrs.validators.ge(0))
    _deciding: set[_Key] = attrs.field(factory=set, init=False, repr=False)
    _open: dict[_Key, Outcome] = attrs.field(factory=dict, init=False, repr=False)
    _settled: "OrderedDict[_Key, tuple[Outcome, int]]" = attrs.field(factory=OrderedDict, init=False, repr=False)
    _taken: int = attrs.field(default=0, init=False, repr=False)
    _forgotten: Fingerprints = attrs.field(init=False, repr=False)
    _is_full: bool = attrs.field(default=False, init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._forgotten = Fingerprints(self.ids)

    def find(self, asker: Asker, call: ToolCall) -> Outcome | None:
        """Return what became of a call, or None where that is not kept."""
        key = asker, call.call_id, call.digest
        settled = self._settled.get(key)
        if settled is not None:
            return settled[0]
        return self._open.get(key)

    def keep(self, asker: Asker, call: ToolCall, outcome: Outcome, *, is_open: bool) -> None:
        """Keep what became of a call, in place of what was kept before; `is_open` while it waits for an answer."""
        key = asker, call.call_id, call.digest
        self._open.pop(key, None)
        if key in self._settled:
            self._taken -= self._settled.pop(key)[1]
        if is_open:
            self._open[key] = outcome
            return
        size = len(call.canonical)
        self._settled[key] = outcome, size
        self._taken += size
        while len(self._settled) > self.calls or self._taken > self.size:
            self._forget()

    def enter(self, asker: Asker, call: ToolCall) -> None:
        """Note that a call is being decided.

        Raises: `LedgerError` for one that is being decided already, as by a rule that asks about its own call.
        """
        key = asker, call.call_id, call.digest
        if key in self._deciding:
            raise LedgerError(f"the call `{call.call_id}` is being decided already")
        self._deciding.add(key)

    def leave(self, asker: Asker, call: ToolCall) -> None:
        """Note that a call has been decided, whatever came of it."""
        self._deciding.discard((asker, call.call_id, call.digest))

    def is_used(self, asker: Asker, call: ToolCall, *, is_given: bool) -> bool:
        """Return whether a call may have been handled whose outcome is not kept.

        `is_given` says that its id comes from outside: when too many have been used to remember them all, none of these
        is known to be new.
        """
        # An id that the handler has just made up is like no other.
        if not is_given:
            return False
        return self._is_full or self._forgotten.count(hash((asker, call.call_id, call.digest))) > 0

    def _forget(self) -> None:
        # INVARIANT: law 4. What is forgotten of a call is what became of it, never that it was handled.
        key, (_, size) = self._settled.popitem(last=False)
        self._taken -= size
        self._is_full |= not self._forgotten.add(hash(key))
