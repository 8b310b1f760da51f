"""The tool `graph_search`."""

from typing import Literal

from pydantic import Field

from permitry.port import ToolPlugin, ToolResult
from permitry_tools._spec import READS, Arguments
from permitry_tools.corpus.graph import overview, relationship
from permitry_tools.corpus.plugins._common import definition, handler, has_documents
from permitry_tools.corpus.service import Corpus

__all__ = ["plugin"]


class GraphSearch(Arguments):
    """The arguments of `graph_search`."""

    mode: Literal["global", "relationship"] = Field(
        description="`global`: what is named most, and together; `relationship`: how two entities are related."
    )
    entity_a: str | None = Field(None, max_length=200, description="The one entity, for `relationship`.")
    entity_b: str | None = Field(None, max_length=200, description="The other entity, for `relationship`.")


def _search(arguments: GraphSearch, corpus: Corpus) -> ToolResult:
    if arguments.mode == "global":
        return ToolResult(True, overview(corpus.store))
    one, other = (arguments.entity_a or "").strip(), (arguments.entity_b or "").strip()
    if not (one and other):
        return ToolResult(False, "relationship mode requires both entity_a and entity_b.")
    return ToolResult(True, relationship(corpus.store, one, other))


plugin = ToolPlugin(
    definition("graph_search", "Show what the documents name, and how two named things are related.", GraphSearch),
    handler(GraphSearch, _search),
    has_documents,
    traits=READS,
    roles={},
)
