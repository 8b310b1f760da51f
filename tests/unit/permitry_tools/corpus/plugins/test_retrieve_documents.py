"""`retrieve_documents`."""

from collections.abc import Callable

import pytest

from permitry.core.result import ToolResult
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

Use = Callable[..., ToolResult]


def test_passages_are_text_for_the_model_and_citations_for_the_host(use: Use, store: CorpusStore) -> None:
    """Both in the structured result."""
    result = use(Corpus(store), "retrieve_documents", query="the Bank of England")
    assert result.ok
    assert result.text.startswith("[1] A bank (chunk 2)\n")
    assert result.structured is not None
    assert result.structured["formatted_text"] == result.text
    assert list(result.structured["citation_sources"][0].items()) == [  # type: ignore[index,union-attr]  # JSON
        ("chunk_id", 2),
        ("document_id", 2),
        ("doc_title", "A bank"),
        ("chunk_index", 0),
        ("content_preview", "Bank of England\n\nCharles Babbage visited the Bank of England."),
        ("score", 1.0),
    ]


@pytest.mark.parametrize(
    ("rest", "first"),
    [
        ({}, "[1] journey"),
        ({"date_from": "2024-01-01"}, "[1] The Analytical Engine"),
        ({"date_to": "2023-12-31", "recency_weight": 1}, "[1] journey"),
        ({"date_from": ""}, "[1] journey"),
        ({"date_from": "2025-01-01"}, "No results found."),
    ],
)
def test_dates_and_recency_are_passed_on(use: Use, store: CorpusStore, rest: dict[str, object], first: str) -> None:
    """An empty date is none."""
    assert use(Corpus(store), "retrieve_documents", query="Luigi travelled", **rest).text.startswith(first)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"query": "x", "date_from": "yesterday"}, "`yesterday` is not a date; write it as in `2025-03-31`."),
        ({"query": "x", "date_to": "2025-02-30"}, "there is no day `2025-02-30`."),
        ({"query": ""}, "The arguments do not fit: `query` must have at least 1 character."),
        ({"query": "x", "recency_weight": 2}, "The arguments do not fit: `recency_weight` must "),
        ({"query": "x", "limit": 2}, "The arguments do not fit: `limit` is not an argument of this tool"),
    ],
)
def test_wrong_arguments_are_reported(
    use: Use, store: CorpusStore, arguments: dict[str, object], expected: str
) -> None:
    """With the way out."""
    result = use(Corpus(store), "retrieve_documents", **arguments)
    assert (result.ok, result.text[: len(expected)]) == (False, expected)
