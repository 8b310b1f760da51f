"""Finding passages: BM25 over the pieces of all documents, with dates as a filter and as a weight."""

import datetime as dt
import re
import textwrap
from typing import Any

import attrs

from permitry_tools.corpus.entities import COMMON
from permitry_tools.corpus.store import CorpusStore

__all__ = ["Passage", "citations", "format_passages", "search"]

_MOST = 8
_CANDIDATES = 100
_MOST_TERMS = 32
_HALF_LIFE = 365.0
_PREVIEW = 200
_INDENT = "    "
_TERM = re.compile(r"\w+")
_FIND = """
    SELECT words.rowid, documents.document_id, documents.title, documents.date, chunks.chunk_index, words.content,
           -bm25(words, 2.0, 1.0) AS score
    FROM words JOIN chunks ON chunks.chunk_id = words.rowid JOIN documents USING (document_id)
    WHERE words MATCH :match AND (:first IS NULL OR documents.date >= :first)
        AND (:last IS NULL OR documents.date <= :last)
    ORDER BY score DESC, words.rowid LIMIT :most
"""


@attrs.frozen
class Passage:
    """One piece of a document that fits a query; `score` is between 0 and 1, 1 for the best."""

    chunk_id: int
    document_id: int
    title: str
    date: str | None
    chunk_index: int
    content: str
    score: float


def search(
    store: CorpusStore,
    query: str,
    *,
    date_from: str | None = None,
    date_to: str | None = None,
    recency_weight: float = 0.0,
) -> list[Passage]:
    """Return the eight passages that fit `query` best, the best first.

    A passage fits with any word of the query. Words that are in every text do not count, unless there are no others.

    Dates (YYYY-MM-DD, both ends included) leave out documents without a date. A score is the BM25 rank as a share of
    the best one; with a weight `w` it is `(1 - w) * rank + w * recency`, where `recency` is 1 for the newest document
    found, 0.5 for one a year older, and 0 for one without a date.

    Raises: `ToolError` when the corpus cannot be read.
    """
    words = dict.fromkeys(word.casefold() for word in _TERM.findall(query))
    terms = ([word for word in words if word not in COMMON] or list(words))[:_MOST_TERMS]
    if not terms:
        return []
    # Quoted, so that no word of the query is an operator of FTS5.
    match = " OR ".join(f'"{term}"' for term in terms)
    with store.read() as connection:
        values = {"match": match, "first": date_from, "last": date_to, "most": _CANDIDATES}
        rows = connection.execute(_FIND, values).fetchall()
    passages = [Passage(*row) for row in rows]
    best = max((each.score for each in passages), default=0.0)
    newest = max((each.date for each in passages if each.date is not None), default=None)

    def weigh(each: Passage) -> Passage:
        rank = each.score / best if best > 0 else 1.0
        score = (1 - recency_weight) * rank + recency_weight * _recency(each.date, newest)
        return attrs.evolve(each, score=round(score, 4))

    return sorted(map(weigh, passages), key=lambda each: (-each.score, each.chunk_id))[:_MOST]


def format_passages(passages: list[Passage]) -> str:
    """Return passages as text for a model: a numbered heading that says where each is from, and its content.

    The lines of the content are indented, the headings are not: a document cannot pass for another one.
    """
    blocks = []
    for number, each in enumerate(passages, 1):
        date = "" if each.date is None else f", {each.date}"
        blocks.append(f"[{number}] {each.title}{date} (chunk {each.chunk_id})\n{indent(each.content)}")
    return "\n\n".join(blocks) or "No results found."


def indent(content: str) -> str:
    """Return the content of a passage with every line indented, so that none can pass for a heading."""
    return textwrap.indent(content, _INDENT, lambda _: True)


def citations(passages: list[Passage]) -> list[dict[str, Any]]:
    """Return where passages are from, as JSON objects in the same order."""
    return [
        {
            "chunk_id": each.chunk_id,
            "document_id": each.document_id,
            "doc_title": each.title,
            "chunk_index": each.chunk_index,
            "content_preview": each.content if len(each.content) <= _PREVIEW else f"{each.content[:_PREVIEW]}…",
            "score": each.score,
        }
        for each in passages
    ]


def _recency(date: str | None, newest: str | None) -> float:
    if date is None or newest is None:
        return 0.0
    days = (dt.date.fromisoformat(newest) - dt.date.fromisoformat(date)).days
    return float(0.5 ** (days / _HALF_LIFE))
