"""The condition `digest`."""

import re
from typing import Annotated

import attrs

from permitry.conditions._words import words
from permitry.conditions.written import PlainCondition, Problem, Words
from permitry.core.rule import Request

__all__ = ["DigestCondition"]

_DIGEST = re.compile(r"[0-9a-f]{64}")


def _digest_problem(word: str) -> Problem | None:
    if _DIGEST.fullmatch(word):
        return None
    hint = "a digest has 64 hexadecimal digits; `permitry explain --json` shows it"
    return f"`{word[:80]}` is not a digest", hint


@attrs.frozen
class DigestCondition(PlainCondition):
    """Holds for exactly the calls whose SHA-256 is listed, over kind, server, name and arguments."""

    key = "digest"
    table = Annotated[Words, _digest_problem]
    description = "The digest of the very call, in hex."
    is_answered = True
    is_pure = True

    digests: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, request: Request) -> bool:
        """Return whether the call is one of those listed."""
        return request.call.digest in self.digests

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"digest = {request.call.digest[:12]}..."
