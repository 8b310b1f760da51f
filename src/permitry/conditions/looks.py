"""The condition `looks`: the commands of `command` next to it certainly only look."""

from typing import Self

import attrs

from permitry.conditions.written import Place, Value, Written
from permitry.errors import RuleError

__all__ = ["LooksCondition"]


@attrs.frozen
class LooksCondition(Written):
    """Narrows the patterns of `command` to commands that only look: `kubectl get pods`."""

    key = "looks"
    table = bool
    description = "Of `command`: those that certainly only look, as `kubectl get`."

    @classmethod
    def read(cls, _place: Place, part: Value, /) -> Self:
        """Return the condition. Raises: `RuleError` for `false`, which any unknown command meets."""
        if not part:
            raise RuleError("`looks = false` is not a condition; leave it out")
        return cls()
