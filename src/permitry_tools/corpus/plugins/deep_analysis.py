"""The tool `deep_analysis`."""

from typing import Any

import attrs
from pydantic import Field

from permitry.port import ToolContext, ToolError, ToolPlugin, ToolResult, ToolTraits
from permitry_tools._spec import Arguments, fit
from permitry_tools.corpus.plugins._common import corpus_of, definition, has_documents
from permitry_tools.delegate import AgentTask

__all__ = ["plugin"]

_TOOLS = ("retrieve_documents", "query_documents_metadata")
_MOST_ROUNDS = 5


class DeepAnalysis(Arguments):
    """The arguments of `deep_analysis`."""

    query: str = Field(min_length=1, max_length=10_000, description="The question to answer from the documents.")
    focus_areas: list[str] = Field([], max_length=20, description="What to look at in particular.")


def _analyse(given: dict[str, Any], context: ToolContext) -> ToolResult:
    arguments, corpus, scope = fit(DeepAnalysis, given), corpus_of(context), context.scope
    if corpus.runner is None:
        raise ToolError("No agent can be started here; use `retrieve_documents` yourself.")
    focus = "".join(f"\n- {area}" for area in arguments.focus_areas)
    objective = arguments.query if not focus else f"{arguments.query}\n\nLook in particular at:{focus}"
    task = AgentTask(objective, kind="analysis", model=scope.model, tools=_TOOLS, max_rounds=_MOST_ROUNDS)
    # With the session of the caller: what started this must not get at a document by having another one read it.
    return ToolResult(True, corpus.runner.run(task, attrs.evolve(scope, depth=scope.depth + 1, step=0)))


plugin = ToolPlugin(
    definition("deep_analysis", "Have an agent read the documents and answer a broad question.", DeepAnalysis),
    _analyse,
    lambda context: has_documents(context) and corpus_of(context).runner is not None,
    # What its agent does is decided call by call; the runner may be anybody's, so more is not promised.
    traits=ToolTraits(destructive=False, spawns_agent=True),
    roles={},
    timeout=600.0,
)
