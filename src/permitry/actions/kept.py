"""Calls that were read before: agents repeat them, and a call is read again when it is recorded.

What a call does depends on its arguments, the declaration of its tool, the workspace, and what was looked up on the
disk. So its actions are used again for the same call, once every look-up was seen to have the same answer as before.
"""

from collections.abc import Hashable
from typing import Any

import attrs

from permitry.actions.disk import Disk
from permitry.core.action import Actions
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.spec import ToolSpec

__all__ = ["Kept", "key_of"]

MOST_KEPT = 64
"""So many calls are kept; when there are more, all are forgotten."""
_LONGEST = 1_000
_MOST_ACTIONS = 50
_PLAIN = frozenset({str, int, bool, type(None)})


@attrs.define(eq=False)
class Kept:
    """The actions of calls, by everything they depend on besides the disk. Thread-safe."""

    _read: dict[Hashable, tuple[ToolSpec, Disk, Actions]] = attrs.field(factory=dict)

    def find(self, key: Hashable, spec: ToolSpec) -> Actions | None:
        """Return the actions under a key, unless the declaration of the tool or the disk has changed."""
        found = self._read.get(key)
        if found is not None and found[0] is spec and found[1].is_unchanged:
            return found[2]
        return None

    def keep(self, key: Hashable, spec: ToolSpec, disk: Disk, actions: Actions) -> None:
        """Keep the actions, which were read by this disk, if there are not too many."""
        if len(actions.certain) + len(actions.possible) + len(actions.guessed) > _MOST_ACTIONS:
            return
        if len(self._read) >= MOST_KEPT:
            self._read.clear()
        self._read[key] = spec, disk, actions

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, ()


def key_of(call: ToolCall, context: AuthContext) -> Hashable:
    """Return what the actions of a call of a tool depend on; None for a call that is not kept.

    Without a workspace they depend on the current folder of this process as well.
    """
    values = tuple(call.arguments.values())
    kinds = tuple(map(type, values))
    if context.workspace is None or not _PLAIN.issuperset(kinds):
        return None
    if sum(len(value) for value in values if type(value) is str) > _LONGEST:
        return None
    # The kinds as well, as `1` and `True` are equal.
    return context.workspace, tuple(call.arguments), values, kinds
