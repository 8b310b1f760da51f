"""The entities a text names, found by their looks alone: no model, and the same answer every time."""

import re
from collections.abc import Iterator

import attrs

__all__ = ["COMMON", "Entity", "entities_of", "key_of"]

_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_IDENTIFIER = re.compile(r"`([^`\s]{2,60})`|\"([^\"\s]{2,60})\"|“([^”\s]{2,60})”")
_HASHTAG = re.compile(r"(?<![\w#&/])#[^\W\d_][\w-]{1,49}")
_JOINING = frozenset({"af", "da", "de", "del", "der", "di", "du", "la", "of", "van", "von", "zu"})
COMMON = frozenset(
    {
        "a", "after", "all", "also", "an", "and", "are", "as", "at", "be", "because", "been", "before", "both", "but",
        "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has", "have", "he", "her", "his",
        "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "see",
        "she", "since", "so", "some", "such", "that", "the", "their", "then", "there", "these", "they", "this",
        "those", "to", "under", "until", "us", "was", "we", "were", "what", "when", "where", "which", "while", "who",
        "why", "will", "with", "would", "yes", "you", "your",
    }
)  # fmt: skip
"""Words that are in every text, and open sentences far more often than names."""

_MOST = 64
_LONGEST = 6
_LONGEST_NAME = 100


@attrs.frozen
class Entity:
    """Something a text names; `kind` is `name`, `identifier` or `hashtag`."""

    name: str
    kind: str

    @property
    def key(self) -> str:
        """What two spellings of the same entity share."""
        return key_of(self.name)


def key_of(name: str) -> str:
    """Return a name without regard to case and blanks."""
    # Half a surrogate pair, which JSON can spell, is not text to SQLite.
    return " ".join(name.encode(errors="replace").decode().split()).casefold()


def entities_of(text: str) -> tuple[Entity, ...]:
    """Return the entities `text` names, in the order of kinds and of the text, each once, 64 at most.

    A name is two to six capitalised words in a row (`Ada Lovelace`, `Bank of England`), without a word that only opens
    the sentence; an identifier is one word in backticks or double quotes; a hashtag is `#word`.
    """
    found: dict[str, Entity] = {}
    for entity in _all(text):
        found.setdefault(entity.key, entity)
        if len(found) == _MOST:
            break
    return tuple(found.values())


def _all(text: str) -> Iterator[Entity]:
    for match in _IDENTIFIER.finditer(text):
        yield Entity(next(filter(None, match.groups())), "identifier")
    for match in _HASHTAG.finditer(text):
        yield Entity(match[0], "hashtag")
    for words in _runs(text):
        name = _name(words)
        if name is not None:
            yield Entity(name, "name")


def _runs(text: str) -> Iterator[list[str]]:
    """Yield the words that follow each other and are capitalised, or join such words."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0]
        gap = text[end : match.start()]
        end = match.end()
        if run and (gap.strip() or gap.count("\n") > 1 or not (_is_capitalised(word) or word in _JOINING)):
            yield run
            run = []
        if run or _is_capitalised(word):
            run.append(word)
    yield run


def _name(words: list[str]) -> str | None:
    """Return the name a row of words is, or None."""
    while words and (words[0].casefold() in COMMON or words[0] in _JOINING):
        words = words[1:]
    words = words[:_LONGEST]
    while words and words[-1] in _JOINING:
        words = words[:-1]
    if sum(map(_is_capitalised, words)) < 2:  # noqa: PLR2004 -- one capitalised word is any sentence's first
        return None
    name = re.sub(r"['\u2019]s$", "", " ".join(words))
    return name if len(name) <= _LONGEST_NAME else None


def _is_capitalised(word: str) -> bool:
    return word[:1].isupper()
