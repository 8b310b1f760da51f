"""`deep_analysis`: an agent that may read the documents, and do nothing else."""

from collections.abc import Callable, Sequence

import attrs
import pytest

from permitry.core.call import ToolCall
from permitry.core.result import ToolResult
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.agents import LoopRunner, Turn
from permitry_tools.corpus import register
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore
from permitry_tools.delegate import AgentTask

Use = Callable[..., ToolResult]


@attrs.define
class _Runner:
    task: AgentTask | None = None
    scope: CallScope | None = None

    def run(self, task: AgentTask, scope: CallScope) -> str:
        self.task, self.scope = task, scope
        return "an answer"


def test_the_task_says_what_the_agent_may_use(use: Use, store: CorpusStore) -> None:
    """The two tools that read documents, for five rounds at most, one level deeper."""
    runner = _Runner()
    result = use(Corpus(store, runner=runner), "deep_analysis", query="What?", focus_areas=["dates", "places"])
    assert result == ToolResult(True, "an answer")
    assert runner.task == AgentTask(
        "What?\n\nLook in particular at:\n- dates\n- places",
        "analysis",
        tools=("retrieve_documents", "query_documents_metadata"),
        max_rounds=5,
    )
    assert runner.scope is not None
    assert (runner.scope.depth, runner.scope.model) == (1, None)


def test_the_agent_works_for_its_caller(store: CorpusStore) -> None:
    """Under the caller's session, one level deeper, within its time and with its model."""
    runner, registry = _Runner(), ToolRegistry()
    register(registry, Corpus(store, runner=runner))
    session = Session(yolo_mode=True).child("helper")
    scope = CallScope(2, deadline=1e12, model="small", step=3)
    with registry:
        ToolHandler(session, registry=registry).handle(ToolCall("deep_analysis", {"query": "What?"}), scope)
    assert runner.task is not None
    assert runner.scope is not None
    assert runner.task.model == "small"
    assert runner.scope == attrs.evolve(scope, depth=3, step=0, session=session)
    assert runner.scope.session is session


def test_without_focus_the_query_is_the_objective(use: Use, store: CorpusStore) -> None:
    """Nothing is added."""
    runner = _Runner()
    use(Corpus(store, runner=runner), "deep_analysis", query="What?")
    assert runner.task is not None
    assert runner.task.objective == "What?"


@pytest.fixture
def analyse(store: CorpusStore) -> Callable[..., tuple[ToolResult, list[Turn]]]:
    """Return a function that runs an analysis with these rounds of a model; it gives the result, and the turns."""

    def run(*rounds: str | list[ToolCall]) -> tuple[ToolResult, list[Turn]]:
        seen: list[Turn] = []
        left = list(rounds)

        def think(task: AgentTask, turns: Sequence[Turn]) -> str | list[ToolCall]:
            assert task.kind == "analysis"
            seen[:] = turns
            return left.pop(0)

        session, registry = Session(yolo_mode=True), ToolRegistry()

        def start(_: AgentTask, scope: CallScope) -> Callable[[ToolCall], ToolResult]:
            return ToolHandler(scope.session.child("analyst"), registry=registry).handle

        register(registry, Corpus(store, runner=LoopRunner(think, start)))
        with registry:
            result = ToolHandler(session, registry=registry).handle(ToolCall("deep_analysis", {"query": "What?"}))
        return result, seen

    return run


def test_an_agent_reads_the_documents(analyse: Callable[..., tuple[ToolResult, list[Turn]]]) -> None:
    """Through the door, like everybody."""
    result, (turn,) = analyse([ToolCall("retrieve_documents", {"query": "bank"})], "It is a bank.")
    assert result == ToolResult(True, "It is a bank.")
    assert turn.results[0].text.startswith("[1] A bank")


def test_an_agent_gets_no_other_tool(analyse: Callable[..., tuple[ToolResult, list[Turn]]]) -> None:
    """Neither one that is there, nor itself."""
    calls = [ToolCall("graph_search", {"mode": "global"}), ToolCall("deep_analysis", {"query": "again"})]
    _, (turn,) = analyse(calls, "no")
    assert [result.text for result in turn.results] == [
        "Tool 'graph_search' is not enabled.",
        "Tool 'deep_analysis' is not enabled.",
    ]


def test_an_agent_has_five_rounds(analyse: Callable[..., tuple[ToolResult, list[Turn]]]) -> None:
    """The sixth would come too late."""
    call = [ToolCall("retrieve_documents", {"query": "bank"})]
    assert analyse(*[call] * 4, "in time")[0] == ToolResult(True, "in time")
    assert analyse(*[call] * 5, "late")[0] == ToolResult(False, "The agent gave no answer in 5 rounds.")
