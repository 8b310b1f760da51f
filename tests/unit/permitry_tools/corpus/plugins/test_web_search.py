"""`web_search` of the document tools."""

from collections.abc import Callable
from typing import Any

import attrs

from permitry.core.result import ToolResult
from permitry.errors import ToolError
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

Use = Callable[..., ToolResult]


@attrs.frozen
class _Found:
    url: str = "https://example.org/"
    title: str = "A \ud800"
    snippet: str = "words"
    text: str | None = None


@attrs.frozen
class _Provider:
    fails: bool = False

    def search(self, query: str, *, count: int, include_text: bool) -> list[Any]:
        assert (query, count, include_text) == ("engines", 5, False)
        if self.fails:
            raise ToolError("the search service answers 500")
        return [_Found()]


def test_results_are_those_of_the_service(use: Use, empty: CorpusStore) -> None:
    """No document is needed; half a character does no harm."""
    result = use((Corpus(empty), _Provider()), "web_search", query="engines")
    found = '{"url": "https://example.org/", "title": "A ?", "snippet": "words"}'
    assert result.text == f'{{"query": "engines", "results": [{found}], "total": 1}}'


def test_a_failure_is_reported(use: Use, empty: CorpusStore) -> None:
    """In the words of the tool."""
    result = use((Corpus(empty), _Provider(fails=True)), "web_search", query="engines")
    assert result == ToolResult(False, "Web search failed: the search service answers 500.")


def test_without_a_service_there_is_no_such_tool(use: Use, empty: CorpusStore) -> None:
    """A service that is None is none."""
    assert use((Corpus(empty), None), "web_search", query="engines").text.count("There is no tool `web_search`")
