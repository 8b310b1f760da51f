"""The tool `query_documents_metadata`."""

import json

from pydantic import Field

from permitry.port import ToolError, ToolPlugin, ToolResult
from permitry_tools._spec import READS, Arguments
from permitry_tools.corpus.plugins._common import corpus_of, definition, handler, has_documents
from permitry_tools.corpus.query import QueryError, is_select, query
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import METADATA

__all__ = ["plugin"]

_TABLES = "; ".join(f"{name}({columns})" for name, columns in METADATA.items())


class QueryDocumentsMetadata(Arguments):
    """The arguments of `query_documents_metadata`."""

    question: str = Field(
        min_length=1, max_length=10_000, description="What you want to know; or the SELECT itself, in SQLite's SQL."
    )
    sql: str | None = Field(None, max_length=10_000, description=f"One SELECT that answers it. Tables: {_TABLES}.")


def _query(arguments: QueryDocumentsMetadata, corpus: Corpus) -> ToolResult:
    sql = arguments.sql or arguments.question
    if not is_select(sql):
        return _failure(f"no SELECT is given; write one in `sql`. Tables: {_TABLES}")
    try:
        rows, is_whole = query(corpus.store, sql)
    except (QueryError, ToolError) as error:
        return _failure(str(error))
    if not rows:
        return ToolResult(True, "No results found." if is_whole else "...[the rows are too large to show]...")
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    marker = "" if is_whole else "\n...[more rows left out; ask for fewer]..."
    return ToolResult(True, f"[{lines}]{marker}", structured={"rows": rows, "is_whole": is_whole})


def _failure(reason: str) -> ToolResult:
    return ToolResult(False, f"Error querying document metadata: {reason}")


plugin = ToolPlugin(
    definition(
        "query_documents_metadata",
        "Count, list and group documents by title, path, date, size, tags and what they name, with a SELECT.",
        QueryDocumentsMetadata,
    ),
    handler(QueryDocumentsMetadata, _query),
    lambda context: has_documents(context) and corpus_of(context).sql_tool_enabled,
    traits=READS,
    roles={},
)
