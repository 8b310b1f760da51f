"""The condition `digest`."""

from typing import ClassVar

import attrs

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.core.rule import Question, Test
from permitry.rules.conditions._words import words

__all__ = ["DigestCondition"]


@attrs.frozen
class DigestCondition:
    """Holds for the very calls whose digests are listed (SHA-256 over kind, server, name and arguments, in hex)."""

    is_about_call: ClassVar[bool] = True

    digests: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, is_generous: bool) -> bool:  # noqa: ARG002 -- the digest is always known
        """Return whether the call is one of those listed."""
        return question.call.digest in self.digests

    def compiled(self, question: Question, *, is_generous: bool) -> Test:  # noqa: ARG002 -- it asks the call alone
        """Return `holds` as a test of the call."""
        digests = frozenset(self.digests)

        def holds(call: ToolCall, _: AuthContext) -> bool:
            return call.digest in digests

        return holds

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"digest = {question.call.digest[:12]}..."
