"""What a host provides to the document tools."""

import attrs

from permitry_tools.corpus.store import CorpusStore
from permitry_tools.delegate import AgentRunner

__all__ = ["SEARCH", "SERVICE", "Corpus"]

SERVICE = "corpus"
"""The name under which plugins find a `Corpus` among the services of their `ToolContext`."""
SEARCH = "web_search"
"""The name of the service that searches the web, a `permitry_tools.web.searching.SearchProvider`."""


@attrs.frozen
class Corpus:
    """The documents, whether a model may write SQL about them, and who runs an agent that reads them, if anybody."""

    store: CorpusStore
    sql_tool_enabled: bool = attrs.field(default=True, kw_only=True)
    runner: AgentRunner | None = attrs.field(default=None, kw_only=True)
