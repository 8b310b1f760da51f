"""What the document tools share: the service they work on, and arguments that are checked before it is asked for."""

from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.result import ToolResult
from permitry.dispatch.discovery import ToolContext
from permitry.errors import ToolError
from permitry_tools._spec import Arguments
from permitry_tools.corpus.plugins._common import corpus_of, definition, handler, has_documents
from permitry_tools.corpus.service import SERVICE, Corpus
from permitry_tools.corpus.store import CorpusStore


class _Find(Arguments):
    """What is found."""

    query: str
    limit: int = 3


def _context(service: object) -> ToolContext:
    return ToolContext(services={SERVICE: service})


@for_each("service", [None, "a corpus", object()])
def test_without_a_corpus_there_are_no_documents(service: object) -> None:
    """Whatever else goes by the name of the service."""
    assert not has_documents(_context(service))
    with pytest.raises(ToolError, match="No documents"):
        corpus_of(_context(service))


def test_an_empty_corpus_has_no_documents(empty: CorpusStore) -> None:
    """It is there, but a tool that searches it need not be offered."""
    assert corpus_of(_context(Corpus(empty))) == Corpus(empty)
    assert not has_documents(_context(Corpus(empty)))


def test_a_corpus_with_a_document_has_some(store: CorpusStore) -> None:
    """Then the tools that search it are offered."""
    assert has_documents(_context(Corpus(store)))


def test_a_definition_has_the_description_of_the_tool_alone() -> None:
    """The docstring of the model is for those who read the code."""
    function = definition("find", "Finds.", _Find)["function"]
    assert (function["name"], function["description"]) == ("find", "Finds.")
    assert "description" not in function["parameters"]
    assert function["parameters"]["required"] == ["query"]


@for_each("given", [{}, {"query": 5}, {"query": "x", "limit": "many"}, {"query": "x", "more": 1}])
def test_arguments_that_do_not_fit_are_refused(empty: CorpusStore, given: dict[str, Any]) -> None:
    """One that is missing, of a wrong type, or unknown."""
    with pytest.raises(ToolError):
        handler(_Find, lambda *_: ToolResult(True, "found"))(given, _context(Corpus(empty)))


def test_a_handler_runs_with_checked_arguments(empty: CorpusStore) -> None:
    """What was left out has its default."""
    found: list[tuple[_Find, Corpus]] = []

    def run(arguments: _Find, corpus: Corpus) -> ToolResult:
        found.append((arguments, corpus))
        return ToolResult(True, "found")

    result = handler(_Find, run)({"query": "x"}, _context(Corpus(empty)))
    assert (result.text, found) == ("found", [(_Find(query="x", limit=3), Corpus(empty))])
