"""What the plugins of this folder share: the service they work on, their arguments and their definitions."""

from collections.abc import Callable
from typing import Any, TypeVar

from permitry.port import ToolContext, ToolError, ToolResult
from permitry_tools._spec import Arguments, fit
from permitry_tools.corpus.service import SERVICE, Corpus

__all__ = ["corpus_of", "definition", "handler", "has_documents"]

Model = TypeVar("Model", bound=Arguments)


def corpus_of(context: ToolContext) -> Corpus:
    """Return the corpus the host provides.

    Raises: `ToolError` when there is none.
    """
    corpus = context.services.get(SERVICE)
    if not isinstance(corpus, Corpus):
        raise ToolError("No documents are set up here.")
    return corpus


def has_documents(context: ToolContext) -> bool:
    """Return whether there is a corpus with at least one document."""
    corpus = context.services.get(SERVICE)
    return isinstance(corpus, Corpus) and corpus.store.has_documents()


def definition(name: str, description: str, model: type[Arguments]) -> dict[str, Any]:
    """Return a tool as the OpenAI API takes it; its parameters are the fields of `model`."""
    schema = model.model_json_schema()
    schema.pop("description", None)
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def handler(
    model: type[Model], run: Callable[[Model, Corpus], ToolResult]
) -> Callable[[dict[str, Any], ToolContext], ToolResult]:
    """Return a handler that checks its arguments against `model` and tells the model what is wrong with them."""
    return lambda arguments, context: run(fit(model, arguments), corpus_of(context))
