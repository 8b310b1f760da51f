"""The formats in which models write calls as text, one file a family."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import attrs

from permitry.messages.formats import (
    bare_json,
    deepseek,
    function_xml,
    gemma,
    glm,
    harmony,
    invoke,
    kimi,
    marked_json,
    minimax_m3,
    mistral,
    pythonic,
    quoting,
    react,
    thinking,
)
from permitry.messages.formats.mark import Mark

__all__ = ["FORMATS", "Marks", "marks_of"]

# Where formats share a mark, the first that understands what follows it has it.
_ALL: Final[tuple[Mark, ...]] = (
    *thinking.MARKS,
    *function_xml.MARKS,
    *marked_json.MARKS,
    *glm.MARKS,
    *pythonic.MARKS,
    *invoke.MARKS,
    *minimax_m3.MARKS,
    *mistral.MARKS,
    *deepseek.MARKS,
    *kimi.MARKS,
    *gemma.MARKS,
    *harmony.MARKS,
    *react.MARKS,
    *bare_json.MARKS,
    *quoting.MARKS,
)

_INNER: Final = frozenset({"bare_json", "functionary_first"})

FORMATS: Final = tuple(
    sorted({name for mark in _ALL for name in (mark.format, *mark.aliases) if name} - _INNER | {"auto"})
)


@attrs.frozen
class Marks:
    """All marks that count for one format: how to find one, who reads what begins with it, what it may begin with."""

    pattern: "re.Pattern[str]"
    readers: Mapping[str, tuple[tuple[Mark, "re.Pattern[str] | None"], ...]]
    starts: frozenset[str]
    longest: int


@lru_cache(maxsize=len(FORMATS))
def marks_of(format_name: str) -> Marks:
    """Return the marks that count when texts of this format are parsed."""
    serving = [mark for mark in _ALL if mark.serves(format_name)]
    texts = {mark.text for mark in serving} | {mark.closer for mark in serving if mark.closer}
    patterns = {mark.pattern or re.escape(mark.text): mark.text for mark in serving}
    patterns |= {re.escape(mark.closer): mark.closer for mark in serving if mark.closer}
    readers = {text: _readers(text, serving) for text in texts}
    starts = frozenset(text[:length] for text in texts for length in range(1, len(text)))
    return Marks(_any_of(patterns), MappingProxyType(readers), starts, max(map(len, texts)))


def _any_of(patterns: Mapping[str, str]) -> "re.Pattern[str]":
    """Return a pattern for any of `patterns`, which begin with the texts they map to; the longest text comes first.

    There is a group for each first character, so that a search skips all other characters at once.
    """
    groups: dict[str, list[str]] = {}
    for pattern, text in sorted(patterns.items(), key=lambda item: -len(item[1])):
        first = re.escape(text[0])
        groups.setdefault(first, []).append(pattern.removeprefix(first))
    return re.compile("|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items()))


def _readers(text: str, serving: Iterable[Mark]) -> tuple[tuple[Mark, "re.Pattern[str] | None"], ...]:
    """Return the marks that may be where `text` is, the longest first."""
    fitting = sorted((mark for mark in serving if text.startswith(mark.text)), key=lambda mark: -len(mark.text))
    return tuple((mark, re.compile(mark.pattern) if mark.pattern else None) for mark in fitting)
