"""The condition `digest`."""

from typing import ClassVar

import attrs

from permitry.core.rule import Question
from permitry.rules.conditions._words import words

__all__ = ["DigestCondition"]


@attrs.frozen
class DigestCondition:
    """Holds for the very calls whose digests are listed (SHA-256 over kind, server, name and arguments, in hex)."""

    is_pure: ClassVar[bool] = True

    digests: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- the digest is always known
        """Return whether the call is one of those listed."""
        return question.call.digest in self.digests

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"digest = {question.call.digest[:12]}..."
