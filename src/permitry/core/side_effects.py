"""What a call leaves behind when it runs: labels on the session, calls counted for budgets."""

import attrs

from permitry.core.shared import Limit

__all__ = ["SideEffects"]


@attrs.frozen
class SideEffects:
    """What one call leaves behind: labels, the ids of the rules whose budget it counts against, and its targets.

    `shared` are those of the budgets that are not of the session alone.
    """

    labels: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    shared: frozenset[Limit] = frozenset()
