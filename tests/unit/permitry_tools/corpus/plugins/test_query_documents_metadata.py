"""`query_documents_metadata`."""

from collections.abc import Callable

import pytest

from permitry.core.result import ToolResult
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

Use = Callable[..., ToolResult]
TOOL = "query_documents_metadata"


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": "SELECT title, date FROM documents WHERE chunks = 1 LIMIT 2"},
        {"question": "which?", "sql": "SELECT title, date FROM documents WHERE chunks = 1 LIMIT 2"},
    ],
)
def test_rows_are_json(use: Use, store: CorpusStore, arguments: dict[str, object]) -> None:
    """The SELECT is in `sql`, or is the question itself."""
    result = use(Corpus(store), TOOL, **arguments)
    assert result.text == (
        '[{"title": "The Analytical Engine", "date": "2024-05-01"},\n{"title": "A bank", "date": null}]'
    )
    assert result.structured is not None
    assert result.structured["is_whole"] is True


def test_no_rows_are_no_results(use: Use, store: CorpusStore) -> None:
    """Nothing fits, which is an answer."""
    assert use(Corpus(store), TOOL, question="SELECT 1 WHERE 0") == ToolResult(True, "No results found.")


def test_rows_left_out_are_reported(use: Use, store: CorpusStore) -> None:
    """So that no one takes a part for the whole."""
    many = "SELECT a.chunk_id FROM mentions a, mentions b, mentions c"
    assert use(Corpus(store), TOOL, question=many).text.endswith("}]\n...[more rows left out; ask for fewer]...")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT content FROM words", "only SELECT is allowed, from documents, tags, chunks, entities, mentions"),
        ("DROP TABLE documents", "no SELECT is given; write one in `sql`. Tables: documents(document_id, path,"),
        ("how many are there?", "no SELECT is given; write one in `sql`. Tables: documents(document_id, path,"),
        ("SELECT author FROM documents", "no such column: author"),
    ],
)
def test_errors_are_reported(use: Use, store: CorpusStore, sql: str, expected: str) -> None:
    """In the words of the seed."""
    result = use(Corpus(store), TOOL, question="which?", sql=sql)
    assert not result.ok
    assert result.text.startswith(f"Error querying document metadata: {expected}")
    assert len(store.documents()) == 3
