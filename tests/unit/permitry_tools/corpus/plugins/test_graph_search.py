"""`graph_search`."""

from collections.abc import Callable

import pytest

from permitry.core.result import ToolResult
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

Use = Callable[..., ToolResult]


def test_global_gives_the_overview(use: Use, store: CorpusStore) -> None:
    """Names next to it are not needed, and do not matter."""
    result = use(Corpus(store), "graph_search", mode="global", entity_a="Ada")
    assert (result.ok, result.text.splitlines()[0]) == (True, "3 documents, 8 entities.")


def test_relationship_tells_how_two_are_related(use: Use, store: CorpusStore) -> None:
    """Blanks around a name do not count."""
    result = use(Corpus(store), "graph_search", mode="relationship", entity_a=" Ada Lovelace ", entity_b="Babbage")
    assert result.text.startswith("Ada Lovelace and Charles Babbage are named together:")


@pytest.mark.parametrize("rest", [{}, {"entity_a": "Ada"}, {"entity_a": "Ada", "entity_b": " "}])
def test_relationship_needs_two_names(use: Use, store: CorpusStore, rest: dict[str, object]) -> None:
    """In the words of the seed."""
    result = use(Corpus(store), "graph_search", mode="relationship", **rest)
    assert result == ToolResult(False, "relationship mode requires both entity_a and entity_b.")


def test_there_is_no_other_mode(use: Use, store: CorpusStore) -> None:
    """A misspelt one is reported."""
    assert 'must be one of "global", "relationship"' in use(Corpus(store), "graph_search", mode="local").text
