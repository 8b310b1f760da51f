"""The tool `retrieve_documents`."""

from pydantic import Field

from permitry.port import ToolError, ToolPlugin, ToolResult
from permitry_tools._spec import READS, Arguments
from permitry_tools.corpus.plugins._common import definition, handler, has_documents
from permitry_tools.corpus.search import citations, format_passages, search
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import iso_date

__all__ = ["plugin"]


class RetrieveDocuments(Arguments):
    """The arguments of `retrieve_documents`."""

    query: str = Field(min_length=1, max_length=2_000, description="What to look for, in words.")
    date_from: str | None = Field(None, description="Leave out documents before this day, YYYY-MM-DD.")
    date_to: str | None = Field(None, description="Leave out documents after this day, YYYY-MM-DD.")
    recency_weight: float = Field(0.0, ge=0, le=1, description="How much being new counts, from 0 to 1.")


def _retrieve(arguments: RetrieveDocuments, corpus: Corpus) -> ToolResult:
    passages = search(
        corpus.store,
        arguments.query,
        date_from=_day(arguments.date_from),
        date_to=_day(arguments.date_to),
        recency_weight=arguments.recency_weight,
    )
    text = format_passages(passages)
    return ToolResult(True, text, structured={"formatted_text": text, "citation_sources": citations(passages)})


def _day(text: str | None) -> str | None:
    try:
        return iso_date(text) if text else None
    except ValueError as error:
        raise ToolError(f"{error}.") from error


plugin = ToolPlugin(
    definition("retrieve_documents", "Find passages in the documents, the best first.", RetrieveDocuments),
    handler(RetrieveDocuments, _retrieve),
    has_documents,
    traits=READS,
    roles={},
)
