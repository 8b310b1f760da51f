"""The shipped tools: real ones, one file a family, the files among them confined to a workspace."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from permitry.port import AuthContext, ToolFamily, ToolRegistry, ToolsetPlugin
from permitry_tools import (
    artifacts,
    background,
    delegate,
    edit,
    files,
    hashline,
    images,
    notes,
    patch,
    plan,
    repo_map,
    search,
    sessions,
    shell,
)
from permitry_tools._reading import ReadMemory
from permitry_tools.artifacts import ArtifactStore
from permitry_tools.delegate import AgentRunner, Delegation
from permitry_tools.plan import Plan
from permitry_tools.shell import codex
from permitry_tools.shell.families import DEFAULT, check_families
from permitry_tools.web.settings import WebSettings
from permitry_tools.workspace import Workspace

if TYPE_CHECKING:
    from permitry_tools.corpus.service import Corpus
    from permitry_tools.mcp import McpConnection
    from permitry_tools.web.fetching import MayConnect

__all__ = ["ToolFamily", "ToolServices", "register", "tool_families", "toolset", "workspace_tools"]


def _tuple_of_connections(connections: "Iterable[McpConnection]") -> "tuple[McpConnection, ...]":
    return tuple(connections)


@attrs.frozen
class ToolServices:
    """What the shipped tools may use besides the workspace.

    `artifacts` keeps what was too long for the model; without one it is kept in `.permitry/artifacts` of the workspace.
    `web` says where to search, and how far pages may be fetched; `may_connect` decides on redirects of a fetch. With a
    `corpus` there are the document tools. `runner` runs the agents that `subtask`, `execute` and `deep_analysis` start,
    within `delegation`. `mcp` are open connections to MCP servers, whose tools are registered as well. `shell` names
    the families of shell tools that are offered, see `permitry_tools.shell.families`.

    Raises: `ValueError` for a family that is unknown.
    """

    artifacts: ArtifactStore | None = attrs.field(default=None, kw_only=True)
    plan: Plan | None = attrs.field(default=None, kw_only=True)
    web: WebSettings | None = attrs.field(default=None, kw_only=True)
    may_connect: "MayConnect | None" = attrs.field(default=None, kw_only=True)
    corpus: "Corpus | None" = attrs.field(default=None, kw_only=True)
    runner: AgentRunner | None = attrs.field(default=None, kw_only=True)
    delegation: Delegation | None = attrs.field(default=None, kw_only=True)
    mcp: "tuple[McpConnection, ...]" = attrs.field(default=(), converter=_tuple_of_connections, kw_only=True)
    shell: tuple[str, ...] = attrs.field(default=DEFAULT, converter=check_families, kw_only=True)


def workspace_tools(root: str | Path, services: ToolServices | None = None) -> ToolRegistry:
    """Return a registry of all shipped tools, the file tools and shells working in `root`.

    Close it when the session is over: background jobs and terminal sessions end then.

    Raises: `FileNotFoundError` when `root` does not exist.
    """
    registry = ToolRegistry()
    register(registry, root, services)
    return registry


def register(registry: ToolRegistry, root: str | Path, services: ToolServices | None = None) -> None:
    """Add all shipped tools to `registry`; long output is kept in its store of artifacts, or in one below `root`.

    Raises: `FileNotFoundError` when `root` does not exist; `RegistryError` for a name that is taken.
    """
    chosen = services or ToolServices()
    workspace = Workspace(root)
    own = registry.artifacts if isinstance(registry.artifacts, ArtifactStore) else None
    store = chosen.artifacts or own or ArtifactStore(workspace.root / ".permitry" / "artifacts")
    for family in tool_families(workspace, attrs.evolve(chosen, artifacts=store)):
        family(registry, AuthContext())
    if registry.artifacts is None:
        registry.artifacts = store


toolset = ToolsetPlugin(register)
"""The entry point `shipped` of the group `permitry.tools`: `load_entry_points(registry, workspace=…)` registers it."""


def tool_families(workspace: Workspace, services: ToolServices) -> tuple[ToolFamily, ...]:
    """Return the families of the shipped tools, for `Router.from_context`."""
    memory = ReadMemory()
    if services.artifacts is not None:
        # An agent that looks for a text does not find what was kept for another one, or its own answers again.
        kept = os.path.relpath(services.artifacts.folder.resolve(), workspace.root)
        workspace = attrs.evolve(workspace, left_out=workspace.left_out | {Path(kept)})

    def read_and_edit(registry: ToolRegistry, _: AuthContext) -> None:
        notes.register(registry, workspace)
        files.register(registry, workspace, memory)
        search.register(registry, workspace)
        repo_map.register(registry, workspace)
        images.register(registry, workspace)
        edit.register(registry, workspace, memory)
        hashline.register(registry, workspace, memory)
        patch.register(registry, workspace, memory)
        artifacts.register(registry, workspace, services.artifacts)

    def run_commands(registry: ToolRegistry, _: AuthContext) -> None:
        _register_shells(registry, workspace, memory, services.shell)

    def plan_and_delegate(registry: ToolRegistry, _: AuthContext) -> None:
        plan.register(registry, services.plan)
        delegate.register(registry, services.runner, services.delegation)

    def reach_out(registry: ToolRegistry, _: AuthContext) -> None:
        from permitry_tools import web  # noqa: PLC0415 -- loaded for those who use it

        web.register(registry, services.web, services.may_connect)
        for connection in services.mcp:
            from permitry_tools import mcp  # noqa: PLC0415 -- as above

            mcp.register(registry, connection)

    def read_documents(registry: ToolRegistry, _: AuthContext) -> None:
        if services.corpus is not None:
            from permitry_tools import corpus  # noqa: PLC0415 -- as above

            runner = services.corpus.runner or services.runner
            corpus.register(registry, attrs.evolve(services.corpus, runner=runner))

    return (read_and_edit, run_commands, plan_and_delegate, reach_out, read_documents)


def _register_shells(
    registry: ToolRegistry, workspace: Workspace, memory: ReadMemory, families: tuple[str, ...]
) -> None:
    if "run_shell" in families:
        shell.register(registry, workspace, memory)
    if "run_shell_bg" in families:
        background.register(registry, workspace)
    if "shell" in families:
        codex.register(registry, workspace, memory)
    if forms := [form for form in sessions.FORMS if form in families]:
        sessions.register(registry, workspace, memory, forms=forms)
