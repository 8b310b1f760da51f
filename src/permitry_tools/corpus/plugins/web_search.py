"""The tool `web_search`, over the search service that the host provides."""

import json
from typing import TYPE_CHECKING

from pydantic import Field

from permitry.port import ToolContext, ToolError, ToolPlugin, ToolResult, ToolTraits
from permitry_tools._spec import Arguments, fit
from permitry_tools.corpus.plugins._common import definition
from permitry_tools.corpus.service import SEARCH

if TYPE_CHECKING:
    from permitry_tools.web.searching import SearchProvider

__all__ = ["plugin"]

_MOST_RESULTS = 5


class WebSearch(Arguments):
    """The arguments of `web_search`."""

    query: str = Field(min_length=1, max_length=1_000, description="What to search for.")


def _search(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    query = fit(WebSearch, arguments).query
    provider: SearchProvider | None = context.services.get(SEARCH)
    if provider is None:
        raise ToolError("Web search failed: no search service is configured.")
    try:
        found = provider.search(query, count=_MOST_RESULTS, include_text=False)
    except ToolError as error:
        raise ToolError(f"Web search failed: {error}.") from error
    results = [{"url": each.url, "title": each.title, "snippet": each.snippet} for each in found]
    answer = {"query": query, "results": results, "total": len(results)}
    # Half a surrogate pair, which JSON can spell, is not text.
    text = json.dumps(answer, ensure_ascii=False).encode(errors="replace").decode()
    return ToolResult(True, text, structured=json.loads(text))


plugin = ToolPlugin(
    definition("web_search", "Search the web.", WebSearch),
    _search,
    lambda context: context.services.get(SEARCH) is not None,
    # Reading, but not only: a query can carry out what it holds.
    traits=ToolTraits(destructive=False, open_world=True, spawns_agent=False),
    roles={},
)
