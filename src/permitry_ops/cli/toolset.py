"""The tools of a session: those of its workspace, and what a tools file and plugin folders add."""

import argparse
import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Self

import attrs

from permitry.channels.request import ToolConfirmationRequest
from permitry.channels.response import ToolConfirmationResponse
from permitry.cli.inputs import add_tools_option, refuse_list, tell
from permitry.config.diagnostics import nearest
from permitry.config.load import RuleSet
from permitry.config.trust import TrustStore
from permitry.core.call import ToolCall
from permitry.core.decision import Verdict
from permitry.dispatch.discovery import PluginReloader, PluginReport, load_entry_points
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.registry import ToolRegistry
from permitry.errors import PermitryError, safe_str
from permitry.handler import ToolHandler
from permitry_tools import ToolServices, workspace_tools
from permitry_tools.artifacts import ArtifactStore
from permitry_tools.plan import register_present_plan
from permitry_tools.settings import ToolsFile, read_tools_file

if TYPE_CHECKING:
    from permitry_tools.corpus.service import Corpus
    from permitry_tools.mcp import McpConnection

__all__ = ["Toolset", "add_toolset_options", "check_mode"]


def add_toolset_options(parser: argparse.ArgumentParser) -> None:
    """Add `--tools` and `--plugins`."""
    add_tools_option(parser)
    plugins = "a folder of plugins, which must be trusted (see `permitry trust`); may be given again"
    parser.add_argument("--plugins", action="append", default=[], type=Path, metavar="DIR", help=plugins)


def check_mode(rules: RuleSet, mode: str) -> str:
    """Return `mode`. Raises: `PermitryError` for a word that is not known."""
    known = {"default", "plan", "yolo"} | rules.modes
    if mode not in known:
        # A misspelt `plan` would be a session without plan mode.
        raise PermitryError(f"unknown mode `{mode}`; {nearest(mode.lower(), known)}")
    return mode


@attrs.define
class Toolset:
    """A registry in use, the files it was made from, and the `judge` of redirects, once there."""

    registry: ToolRegistry = attrs.field(factory=ToolRegistry)
    reloaders: tuple[PluginReloader, ...] = ()
    sources: tuple[Path, ...] = ()
    judge: ToolHandler | None = None
    is_over: bool = attrs.field(default=False, init=False)
    """Whether the user has ended the session at a plan."""
    _problems: dict[int, str | None] = attrs.field(factory=dict, init=False)

    @classmethod
    @contextlib.contextmanager
    def open(cls, options: argparse.Namespace, workspace: Path) -> Iterator[Self]:
        """Yield the tools that the options ask for; at the end what they keep alive ends.

        Raises: `ConfigError` for a wrong tools file or an untrusted plugin folder; `PermitryError`
        for a workspace that is not a directory, and what cannot be read or reached.
        """
        if not workspace.is_dir():
            hint = "make it, or name another with --workspace"
            raise PermitryError(f"the workspace `{workspace}` is not a directory; {hint}")
        refuse_list(options.tools)
        file = ToolsFile(schema=1) if options.tools is None else read_tools_file(options.tools)
        folders = [*map(Path, file.plugins), *options.plugins]
        for folder in folders:
            TrustStore().plugins(
                folder
            )  # A folder that is not trusted now is a mistake, and nothing is started for it.
        with contextlib.ExitStack() as stack:
            sources = (options.tools, None if file.corpus is None else Path(file.corpus))
            toolset = cls(sources=tuple(each for each in sources if each is not None))
            services = ToolServices(
                web=None if file.web is None else file.web.settings(),
                may_connect=toolset.may_connect,
                corpus=None if file.corpus is None else _corpus(file.corpus),
                artifacts=None if file.artifacts is None else ArtifactStore(Path(file.artifacts)),
                mcp=_connections(file, stack),
                shell=tuple(file.shell),
            )
            toolset.registry = stack.enter_context(workspace_tools(workspace, services))
            for name in _useless(services):
                toolset.registry.unregister(name)
            _say_it_once()
            stack.enter_context(_tell_what_is_not_enabled())
            toolset.reloaders = tuple(_reloader(toolset.registry, folder) for folder in folders)
            if file.entry_points:
                _tell_of(load_entry_points(toolset.registry))
            toolset.poll()
            if "present_plan" not in toolset.registry:
                register_present_plan(toolset.registry, toolset.review)
            yield toolset

    def poll(self) -> None:
        """Load plugin folders that are new or have changed, and tell what became of them."""
        for number, reloader in enumerate(self.reloaders):
            report = reloader.poll()
            if report is not None:
                _tell_of(report)
            if reloader.problem != self._problems.get(number):
                self._problems[number] = reloader.problem
                tell((reloader.problem or "").splitlines())

    def may_connect(self, url: str) -> bool | str:
        """Return whether a redirect may lead to `url`: only where the model could have fetched it unasked."""
        if self.judge is None:
            return "redirects cannot be decided on yet"
        decision = self.judge.decide(ToolCall("fetch_url", {"urls": [url]}))
        return True if decision.verdict is Verdict.ALLOW else decision.reason or "no rule allows it"

    def review(self, call: ToolCall) -> ToolConfirmationResponse | None:
        """Ask the human about the plan in `call`, and return the answer. Raises: `AuditError`."""
        if self.judge is None:
            return None
        request = ToolConfirmationRequest(call, reason="the agent has finished its plan", is_plan=True)
        response, error = None, None
        self.judge.recorder.record("asked", call, pending_id=None)
        try:
            response = self.judge.channel.ask(request)
        except Exception as failed:  # noqa: BLE001 -- a channel that fails is not an answer
            error = safe_str(failed)
        if response is not None and not isinstance(response, ToolConfirmationResponse):
            response, error = None, f"the channel answered {safe_str(response, repr)}"
        answer = {"pending_id": None, "approved": response is not None and response.is_approval, "error": error}
        instructions = None if response is None else response.instructions
        edited = response is not None and response.arguments is not None
        self.judge.recorder.record("answered", call, **answer, instructions=instructions, edited=edited)
        self.is_over = response is not None and response.abort
        return response


def _say_it_once() -> None:
    # What becomes of plugins is shown from the report; Python would print the log as well if it has no handler.
    log = logging.getLogger("permitry.dispatch.plugins")
    if not log.hasHandlers():
        log.addHandler(logging.NullHandler())


class _Teller(logging.Handler):
    """Tells the user what is logged, each line once: it is found again at each call."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._reported: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if line not in self._reported:
            self._reported.add(line)
            tell([line])


@contextlib.contextmanager
def _tell_what_is_not_enabled() -> Iterator[None]:
    log, teller = logging.getLogger("permitry.dispatch.plugins.enabled"), _Teller()
    log.addHandler(teller)
    try:
        yield
    finally:
        log.removeHandler(teller)


def _reloader(registry: ToolRegistry, folder: Path) -> PluginReloader:
    def read() -> PluginFolder:
        return TrustStore().plugins(folder)

    return PluginReloader(registry, read)


def _useless(services: ToolServices) -> Iterator[str]:
    """Yield the tools that can never work here: there is no model for agents, and maybe no service to search with."""
    yield from ("subtask", "execute")
    if services.web is None or services.web.search_endpoint is None:
        yield "web_search"


def _connections(file: ToolsFile, stack: contextlib.ExitStack) -> "list[McpConnection]":
    if not file.mcp:
        return []
    from permitry_tools.mcp import McpConnection

    return [stack.enter_context(McpConnection(server)) for server in file.servers()]


def _corpus(file: str) -> "Corpus":
    from permitry_tools.corpus.service import Corpus
    from permitry_tools.corpus.store import CorpusStore

    store = CorpusStore(Path(file))
    if store.file.exists():
        with store.read():
            pass  # One that cannot be read would be a session without documents, and the user would not know why.
    else:
        tell([f"there is no corpus `{file}` yet; `permitry corpus add FILE --db {file}` makes it"])
    return Corpus(store)


def _tell_of(report: PluginReport) -> None:
    tell([f"loaded the tool {each.tool} from {each.source}" for each in report.loaded])
    tell([f"failed to load {each.source}: {each.reason}" for each in report.failed])
