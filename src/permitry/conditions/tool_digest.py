"""The condition `tool_digest`."""

import re
from typing import Annotated

import attrs

from permitry.conditions._words import words
from permitry.conditions.written import PlainCondition, Problem, Words
from permitry.core.rule import Request
from permitry.errors import UnevaluableError

__all__ = ["ToolDigestCondition"]

_DIGEST = re.compile(r"[0-9a-f]{16,64}")


def _digest_problem(word: str) -> Problem | None:
    if _DIGEST.fullmatch(word):
        return None
    hint = "write its 64 hexadecimal digits, or the first 16 or more; `ToolSpec.digest` holds them"
    return f"`{word[:80]}` is not a digest of a tool", hint


@attrs.frozen
class ToolDigestCondition(PlainCondition):
    """Holds for tools whose declaration has a listed digest, or one that begins so."""

    key = "tool_digest"
    table = Annotated[Words, _digest_problem]
    description = "The digest of the tool's own declaration, in hex, or its first 16 digits or more."
    is_pure = True

    digests: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, request: Request) -> bool:
        """Return whether it begins with a listed one. Raises: `UnevaluableError` without a registry."""
        return _digest(request).startswith(self.digests)

    def fact(self, request: Request) -> str:
        """Return what is true instead, as shown in near misses."""
        return f"tool_digest = {_digest(request)[:16]}..."

    def implies(self, other: object) -> bool:
        """Return whether each of these digests begins with one of `other`."""
        if not isinstance(other, ToolDigestCondition):
            return False
        return all(digest.startswith(other.digests) for digest in self.digests)


def _digest(request: Request) -> str:
    if request.own is None:
        raise UnevaluableError("no registry declares the tool, so its declaration has no digest")
    return request.own.digest
