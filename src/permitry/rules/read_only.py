"""The rule `read-only`."""

from typing import ClassVar

import attrs

from permitry.core.rule import BuiltInRule, Question
from permitry.core.spec import DEFAULT_READ_ONLY_TOOLS

__all__ = ["ReadOnlyToolRule"]


@attrs.frozen
class ReadOnlyToolRule(BuiltInRule):
    """Lets every call run that is known to be read-only.

    Phase: permission, priority 200. The tool's traits say so; without a spec, a short list of names does.

    Source: seed 003, "ReadOnlyToolRule".
    """

    id: ClassVar[str] = "read-only"
    reason: ClassVar[str] = "the tool only reads"

    def priority(self) -> int:
        """Return 200."""
        return 200

    def matches(self, question: Question) -> bool:
        """Return whether the call is known to be read-only."""
        return question.is_read_only

    def near_miss(self, question: Question) -> str | None:
        """Return what keeps a familiar read-only name from counting: a spec, a server, another payload."""
        if question.call.name not in DEFAULT_READ_ONLY_TOOLS:
            return None
        if question.spec is not None:
            return "the tool's own traits, which do not say read_only"
        return f"kind = {question.call.kind.value}; the name alone speaks only for function tools"
