"""The condition `prompt`: what the user wrote in this session."""

from collections.abc import Mapping
from typing import Any

import attrs

from permitry.conditions._regex import Regex
from permitry.conditions._words import nearest
from permitry.conditions.provenance.normal_form import normal, words_of
from permitry.conditions.provenance.provenance import Provenance, provenance_of
from permitry.conditions.written import Place, PlainCondition
from permitry.core.rule import Request
from permitry.core.template import Template
from permitry.errors import RuleError, UnevaluableError

__all__ = ["PromptCondition"]

_OPERATORS = ("words", "regex")


@attrs.frozen
class PromptCondition(PlainCondition):
    """Holds when the user wrote one of the words, or a message that the regex matches."""

    key = "prompt"
    table = dict
    description = "What the user wrote in this session: `{ words = [...] }` or `{ regex = ... }`."
    example = str
    is_pure = True

    words: tuple[str, ...] = ()
    regex: Regex | None = None

    @classmethod
    def read(cls, _place: Place, part: Mapping[str, Any], /) -> "PromptCondition":
        """Return the condition of a table with `words` or `regex`. Raises: `RuleError`."""
        for name in part:
            if name not in _OPERATORS:
                raise RuleError(f"unknown operator `{name}`; {nearest(name, _OPERATORS)}")
        words, regex = part.get("words", []), part.get("regex")
        if not isinstance(words, list) or not all(map(_can_be_said, words)):
            raise RuleError('`words` is a list of words; write `words = ["pay", "send money"]`')
        if regex is not None and not isinstance(regex, str):
            raise RuleError("`regex` is a text; put it in quotes")
        if not words and regex is None:
            raise RuleError("an empty table says nothing; give `words` or `regex`")
        return cls(tuple(words), None if regex is None else Regex(regex))

    def holds(self, request: Request) -> bool:
        """Return whether the user wrote one. Raises: `UnevaluableError` where that is not known."""
        known = provenance_of(request.context)
        is_found = self.regex is not None and any(map(self.regex.matches, known.texts))
        if is_found or any(known.is_said(normal(word)) for word in self.words):
            return True
        if not known.is_complete:
            raise UnevaluableError("not all messages of the user are known here")
        return False

    @property
    def expected(self) -> str:
        """What it asks for, as shown in near misses."""
        shown = [f'"{word}"' for word in self.words]
        return " or ".join([*shown, *([f"a text like {self.regex}"] if self.regex else [])])

    def fact(self, request: Request) -> str:  # noqa: ARG002 -- what the user wrote may be long
        """Return what is true instead, as shown in near misses."""
        return "the user wrote of no such thing"

    @classmethod
    def context(cls, value: str, _templates: Mapping[str, Template], /) -> Mapping[str, Any]:
        """Return a session in which the user wrote this message alone."""
        return {"provenance": Provenance.of([value])}


def _can_be_said(word: object) -> bool:
    """Return whether a text has a letter or digit, on one line: all else is never found."""
    return isinstance(word, str) and bool(words_of(word)) and len(word.strip().splitlines()) == 1
