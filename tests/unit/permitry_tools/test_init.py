"""The shipped tools as one registry."""

from pathlib import Path
from typing import Any

import pytest
from tests.tables import for_each

from permitry.core.call import ToolCall
from permitry.dispatch.discovery import load_entry_points
from permitry.dispatch.registry import ToolRegistry
from permitry.guard.session import Session
from permitry.handler import ToolHandler
from permitry_tools import ToolServices, register, workspace_tools
from permitry_tools.artifacts import ArtifactStore
from permitry_tools.corpus.service import Corpus
from permitry_tools.corpus.store import CorpusStore

SEED_000 = {
    "think", "list_files", "search_files", "repo_map", "web_search", "fetch_url", "read_file", "write_file",
    "apply_patch", "edit_file", "hashline_edit", "run_shell", "run_shell_bg", "check_shell_bg", "kill_shell_bg",
    "list_artifacts", "read_artifact", "subtask", "execute",
}  # fmt: skip
SEED_001 = {"shell", "local_shell", "apply_patch", "exec_command", "write_stdin", "update_plan", "view_image"}


def test_the_tools_of_both_seeds_are_there(registry: ToolRegistry) -> None:
    """All of them, and next to them only other names for the same."""
    assert {spec.name for spec in registry} - SEED_000 - SEED_001 == {"read_image", "shell_command"}
    assert {spec.name for spec in registry} >= SEED_000 | SEED_001


def test_they_are_plugged_in_like_those_of_other_packages(registry: ToolRegistry, root: Path) -> None:
    """Through the entry point of plugins, for the one who names a workspace."""
    with ToolRegistry() as own:
        report = load_entry_points(own, workspace=root)
        assert report.failed == ()
        assert {each.source for each in report.loaded} == {"permitry_tools:toolset (shipped)"}
        assert [spec.digest for spec in own] == [spec.digest for spec in registry]
        assert isinstance(own.artifacts, ArtifactStore)


def test_a_registry_keeps_its_store_of_artifacts(tmp_path: Path) -> None:
    """What the host has chosen stays, and the tools that read artifacts use it."""
    store = ArtifactStore(tmp_path / "kept")
    with ToolRegistry(artifacts=store) as own:
        register(own, tmp_path)
        assert own.artifacts is store


def test_document_tools_come_with_a_corpus(tmp_path: Path) -> None:
    """Those of the third seed read a store, and are there when there is one."""
    corpus = Corpus(CorpusStore(tmp_path / "corpus.sqlite3"))
    with workspace_tools(tmp_path, ToolServices(corpus=corpus)) as registry:
        names = {spec.name for spec in registry}
    assert {"retrieve_documents", "query_documents_metadata", "deep_analysis", "graph_search"} <= names


def test_what_is_too_long_is_kept_below_the_workspace(registry: ToolRegistry) -> None:
    """Out of the way, where the tools read and do not write."""
    assert isinstance(registry.artifacts, ArtifactStore)
    assert registry.artifacts.folder.parts[-2:] == (".permitry", "artifacts")


@pytest.mark.parametrize("folder", [".permitry/artifacts", ".openplanter_artifacts", "kept/here"])
def test_no_tool_that_looks_around_finds_what_was_kept(root: Path, folder: str) -> None:
    """Neither by its name nor by a text in it, or as a part of the map; what the user has next to it is found."""
    store = ArtifactStore(root / folder)
    store.keep("run_shell", "hunter22", "other")
    (root / folder / "a.py").write_text("def hunter22(): pass\n")
    (root / "b.py").write_text("def hunter22(): pass\n")
    given = None if folder.startswith(".") else store
    with workspace_tools(root, ToolServices(artifacts=given)) as registry:
        handler = ToolHandler(Session(yolo_mode=True), registry=registry)
        for name, arguments in (
            ("list_files", {}), ("list_files", {"glob": "*.jsonl"}), ("list_files", {"glob": f"{folder}/*"}),
            ("search_files", {"query": "hunter22"}), ("search_files", {"query": "artifact_id"}), ("repo_map", {}),
        ):  # fmt: skip
            text = handler.handle(ToolCall(name, arguments)).text
            assert folder not in text, name
            assert arguments or "b.py" in text, name


def test_every_tool_is_described_for_the_model(registry: ToolRegistry) -> None:
    """Each has a description, and a strict schema that describes every argument."""
    for spec in registry:
        assert spec.description
        properties: Any = spec.parameters["properties"]
        assert all("description" in properties[name] for name in properties)
        assert spec.parameters["additionalProperties"] is False


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Tools without a workspace would work anywhere."""
    with pytest.raises(FileNotFoundError):
        workspace_tools(tmp_path / "missing")


@pytest.mark.parametrize(
    ("families", "tools"),
    [
        ([], set()),
        (["run_shell"], {"run_shell"}),
        (["run_shell_bg", "run_shell_bg"], {"run_shell_bg", "check_shell_bg", "kill_shell_bg"}),
        (["shell"], {"shell", "shell_command", "local_shell"}),
        (["exec_command"], {"exec_command", "write_stdin"}),
        (["unified_exec"], {"unified_exec"}),
        (["unified_exec", "exec_command"], {"unified_exec", "exec_command", "write_stdin"}),
    ],
)
def test_only_chosen_families_of_shell_tools_are_there(root: Path, families: list[str], tools: set[str]) -> None:
    """What is not chosen cannot be called either."""
    with workspace_tools(root, ToolServices(shell=tuple(families))) as registry, workspace_tools(root) as usual:
        shells = {"run_shell", "run_shell_bg", "check_shell_bg", "kill_shell_bg", "shell", "shell_command"}
        shells |= {"local_shell", "exec_command", "write_stdin", "unified_exec"}
        assert {spec.name for spec in registry} & shells == tools
        assert {spec.name for spec in usual} & shells == shells - {"unified_exec"}


@for_each(("families", "error"), [(("bash",), ValueError), ("run_shell", TypeError)])
def test_an_unknown_family_of_shell_tools_is_refused(families: Any, error: type[Exception]) -> None:  # noqa: ANN401 -- a mistake
    """A misspelt one would be a session without it."""
    with pytest.raises(error, match="famil"):
        ToolServices(shell=families)
