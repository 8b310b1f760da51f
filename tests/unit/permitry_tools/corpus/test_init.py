"""The document tools as a plugin folder."""

from pathlib import Path

from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.core.context import AuthContext
from permitry.dispatch.discovery import load_plugins
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import CallScope
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools.corpus import PLUGINS, register
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore
from permitry_tools.delegate import AgentTask


class _Runner:
    def run(self, task: AgentTask, scope: CallScope) -> str:
        raise NotImplementedError


def _enabled(corpus: Corpus, **services: object) -> set[str]:
    registry = ToolRegistry()
    assert register(registry, corpus, **services).failed == ()
    return {spec.name for spec in registry.specs(AuthContext())}


def test_each_file_of_the_folder_is_one_tool() -> None:
    """Named like the file, loaded like any plugin."""
    registry = ToolRegistry()
    report = load_plugins(registry, PluginFolder.read(PLUGINS))
    names = [Path(name).stem for name in PluginFolder.read(PLUGINS).plugins]
    assert [plugin.tool for plugin in report.loaded] == names == sorted(spec.name for spec in registry)
    assert names == ["deep_analysis", "graph_search", "query_documents_metadata", "retrieve_documents", "web_search"]
    assert report.failed == ()


def test_without_documents_no_document_tool_is_enabled(empty: CorpusStore) -> None:
    """There is nothing they could find."""
    assert _enabled(Corpus(empty, runner=_Runner())) == set()


def test_documents_enable_the_tools_that_read_them(store: CorpusStore) -> None:
    """From the next call on."""
    tools = {"graph_search", "query_documents_metadata", "retrieve_documents"}
    assert _enabled(Corpus(store)) == tools
    assert _enabled(Corpus(store, sql_tool_enabled=False)) == tools - {"query_documents_metadata"}
    assert _enabled(Corpus(store, runner=_Runner())) == tools | {"deep_analysis"}
    assert _enabled(Corpus(store), web_search=object()) == tools | {"web_search"}


def test_a_document_added_later_counts(empty: CorpusStore, folder: Path) -> None:
    """No one has to register again."""
    registry = ToolRegistry()
    register(registry, Corpus(empty))
    before = registry.is_enabled("graph_search", AuthContext())
    empty.add(folder / "bank.html")
    assert (before, registry.is_enabled("graph_search", AuthContext())) == (False, True)


def test_a_tool_that_is_not_enabled_does_not_run(empty: CorpusStore) -> None:
    """Not even when a model calls it unasked.

    Source: seed 004; its text-call path ran what no one had enabled.
    """
    registry = ToolRegistry()
    register(registry, Corpus(empty))
    handler = ToolHandler(Session(yolo_mode=True), registry=registry)
    assert "There is no tool `graph_search`" in handler.handle(ToolCall("graph_search", {"mode": "global"})).text


def test_web_search_leaves_its_name_to_others(store: CorpusStore) -> None:
    """Without a search service of this folder, another family can bring the tool."""
    registry = ToolRegistry()
    register(registry, Corpus(store))
    assert "web_search" not in registry


def test_without_the_service_nothing_is_enabled() -> None:
    """A folder that was loaded without a corpus fails closed."""
    registry = ToolRegistry()
    load_plugins(registry, PluginFolder.read(PLUGINS), services={"corpus": "no corpus"})
    assert registry.specs(AuthContext()) == ()


@for_each(
    ("name", "only_reads", "spawns", "is_open"),
    [
        ("retrieve_documents", True, False, False),
        ("query_documents_metadata", True, False, False),
        ("graph_search", True, False, False),
        ("deep_analysis", False, True, None),
        ("web_search", False, False, True),
    ],
)
def test_a_tool_says_what_it_is(name: str, only_reads: bool, spawns: bool, is_open: bool | None) -> None:  # noqa: FBT001 -- a table
    """Traits and roles are what rules go by."""
    registry = ToolRegistry()
    load_plugins(registry, PluginFolder.read(PLUGINS))
    spec = registry.get(name)
    assert spec is not None
    assert (spec.only_reads, spec.traits.spawns_agent, spec.traits.open_world) == (only_reads, spawns, is_open)
    assert (spec.roles, spec.parameters["additionalProperties"]) == ({}, False)
    assert spec.description
