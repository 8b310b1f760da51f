"""The condition `tool_digest`."""

from typing import ClassVar

import attrs

from permitry.core.rule import Question
from permitry.errors import UnevaluableError
from permitry.rules.conditions._words import words

__all__ = ["ToolDigestCondition"]


@attrs.frozen
class ToolDigestCondition:
    """Holds for tools that declare themselves in one of the listed ways; a digest may be cut to its beginning."""

    is_pure: ClassVar[bool] = True

    digests: tuple[str, ...] = attrs.field(converter=words)

    def holds(self, question: Question, *, over_approximate: bool) -> bool:  # noqa: ARG002 -- a digest is known or is not
        """Return whether the digest of the tool's own declaration begins with one of those listed.

        Raises: `UnevaluableError` when no registry declares the tool; a rule file does not declare the tool itself.
        """
        return _digest(question).startswith(self.digests)

    def fact(self, question: Question) -> str:
        """Return what is the case instead."""
        return f"tool_digest = {_digest(question)[:16]}..."


def _digest(question: Question) -> str:
    if question.own is None:
        raise UnevaluableError("no registry declares the tool, so its declaration has no digest")
    return question.own.digest
