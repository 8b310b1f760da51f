"""Plugins, found in a folder of files, of the bytes that the user trusted, and among entry points."""

import contextlib
import functools
import logging
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import attrs

from permitry.core.context import AuthContext
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.arguments import convert_result, is_async, without_nulls
from permitry.dispatch.plugin import ToolContext, ToolPlugin, ToolsetPlugin
from permitry.dispatch.plugin_folder import PluginFolder, PluginModules
from permitry.dispatch.registry import ToolRegistry
from permitry.dispatch.scope import ToolInvocation
from permitry.errors import PermitryError, RegistryError, UnknownToolError, safe_str

__all__ = [
    "ENTRY_POINTS",
    "FailedPlugin",
    "LoadedPlugin",
    "PluginReloader",
    "PluginReport",
    "ToolContext",
    "ToolPlugin",
    "ToolsetPlugin",
    "load_entry_points",
    "load_plugins",
]

ENTRY_POINTS = "permitry.tools"
"""The group of entry points: each is a `ToolPlugin`, a module that has one, or a `ToolsetPlugin`."""

_LOG = logging.getLogger("permitry.dispatch.plugins")


@attrs.frozen
class LoadedPlugin:
    """A tool that was loaded, and from where."""

    tool: str
    source: str
    digest: str


@attrs.frozen
class FailedPlugin:
    """What failed to load; `reason` is one line, `trace` the traceback if its code failed."""

    source: str
    reason: str
    trace: str | None = attrs.field(default=None, repr=False)


@attrs.frozen
class PluginReport:
    """Which plugins were loaded, and which failed."""

    loaded: tuple[LoadedPlugin, ...] = ()
    failed: tuple[FailedPlugin, ...] = ()


def load_plugins(
    registry: ToolRegistry, folder: PluginFolder, *, services: Mapping[str, Any] | None = None
) -> PluginReport:
    """Register the tool of each file; one that fails is logged, and the others are still loaded."""
    return PluginReloader(registry, lambda: folder, services or {}).poll() or PluginReport()


def load_entry_points(
    registry: ToolRegistry, *, services: Mapping[str, Any] | None = None, workspace: Path | None = None
) -> PluginReport:
    """Register the tools that installed packages offer as entry points of the group `permitry.tools`.

    Toolsets, the shipped one among them, are registered only with a `workspace`, as a whole or not at all.
    """
    import importlib.metadata  # noqa: PLC0415 -- slow to import

    points = sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    found = [(f"{point.value} ({point.name})", point.load) for point in points]
    return _register_all(registry, found, services or {}, set(), workspace)


@attrs.define
class PluginReloader:
    """The tools of a plugin folder that may change while they are in use. Thread-safe.

    `read` returns the folder as it is now, and raises an error if it is not trusted (`TrustStore().plugins(path)`).
    If a file fails, its last tool stays registered. If the folder cannot be read or is not trusted, all tools
    stay, and `problem` says why. Tools that were registered by other code are never replaced.
    """

    registry: ToolRegistry
    read: Callable[[], PluginFolder] = attrs.field(repr=False)
    services: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    problem: str | None = attrs.field(default=None, init=False)
    _digests: dict[str, str] | None = attrs.field(default=None, init=False, repr=False)
    _own: "dict[str, _Own]" = attrs.field(factory=dict, init=False, repr=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False, repr=False)

    def poll(self) -> PluginReport | None:
        """Load the folder if it is new or has changed, and report each file; None if nothing was loaded."""
        with self._lock:
            try:
                folder = self.read()
            except PermitryError as error:
                self.problem = str(error)
                return None
            self.problem = None
            if folder.digests == self._digests:
                return None
            return self._load(folder)

    def _load(self, folder: PluginFolder) -> PluginReport:
        # If other code has replaced one of our tools in the registry, that tool is not ours to replace.
        own = {name: each for name, each in self._own.items() if self.registry.get(name) is each.spec}
        modules, report = PluginModules(folder), PluginReport()
        found = [(f"{folder.path.name}/{file}", functools.partial(modules.module, file)) for file in folder.plugins]
        modules.install()
        try:
            report = _register_all(self.registry, found, self.services, set(own))
        finally:
            if not report.loaded:
                modules.remove()
        failed = {each.source for each in report.failed}
        now = {each.tool: _Own(self.registry.get(each.tool), each.source, modules) for each in report.loaded}
        now = {name: each for name, each in own.items() if each.source in failed} | now
        for tool in own.keys() - now.keys():
            with contextlib.suppress(UnknownToolError):
                self.registry.unregister(tool)
        used = {id(each.modules) for each in now.values()}
        for old in self._own.values():
            if id(old.modules) not in used:
                old.modules.remove()
        self._own, self._digests = now, folder.digests
        return report


@attrs.frozen(eq=False)
class _Own:
    """A tool that a reloader has registered."""

    spec: ToolSpec | None
    source: str
    modules: PluginModules


def _register_all(
    registry: ToolRegistry,
    found: Iterable[tuple[str, Callable[[], object]]],
    services: Mapping[str, Any],
    taken: set[str],
    workspace: Path | None = None,
) -> PluginReport:
    """Register what is found; `taken` are the names of tools that may be replaced, each once."""
    loaded: list[LoadedPlugin] = []
    failed: list[FailedPlugin] = []
    with _watch_interrupts() as is_interrupted:
        for place, load in found:
            source = " ".join(place.split())
            try:
                specs = _register(registry, load(), services, taken, workspace)
            except BaseException as error:
                if is_interrupted():
                    raise
                failed.append(_failure(source, error))
                _LOG.warning("Failed to load %s: %s", source, failed[-1].reason)
            else:
                loaded += [LoadedPlugin(spec.name, source, spec.digest) for spec in specs]
                for spec in specs:
                    taken.discard(spec.name)
                    _LOG.info("Loaded tool: %s", spec.name)
    return PluginReport(tuple(loaded), tuple(failed))


@contextlib.contextmanager
def _watch_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield what says whether the user has interrupted this process: loaded code may raise the same."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: False
        return
    handler = before
    seen = threading.Event()

    def watch(number: int, frame: FrameType | None) -> object:
        seen.set()
        return handler(number, frame)

    signal.signal(signal.SIGINT, watch)
    try:
        yield seen.is_set
    finally:
        if signal.getsignal(signal.SIGINT) is watch:
            signal.signal(signal.SIGINT, before)


def _failure(source: str, error: BaseException) -> FailedPlugin:
    reason = " ".join(safe_str(error).split())
    if isinstance(error, PermitryError):
        return FailedPlugin(source, reason)
    trace = "".join(traceback.format_exception(error))
    return FailedPlugin(source, f"{type(error).__name__}: {reason}".rstrip(), trace)


def _register(
    registry: ToolRegistry, found: object, services: Mapping[str, Any], taken: set[str], workspace: Path | None
) -> list[ToolSpec]:
    """Register what a file or an entry point gave, and return its declarations."""
    if not isinstance(found, ToolsetPlugin):
        plugin = _plugin_of(found)
        spec = plugin.spec
        _register_tool(registry, plugin, spec, services, replace=spec.name in taken)
        return [spec]
    if workspace is None:
        return []
    before = {spec.name for spec in registry}
    try:
        found.register(registry, workspace)
    except BaseException:
        for name in [spec.name for spec in registry if spec.name not in before]:
            registry.unregister(name)
        raise
    return [spec for spec in registry if spec.name not in before]


def _register_tool(
    registry: ToolRegistry, plugin: ToolPlugin, spec: ToolSpec, services: Mapping[str, Any], *, replace: bool
) -> None:
    def is_enabled(context: AuthContext) -> bool:
        try:
            return plugin.enabled(ToolContext(context, services))
        except Exception as error:
            why = f"{type(error).__name__}: {safe_str(error)}"
            _LOG.getChild("enabled").warning("`enabled` of the tool %s failed: %s", spec.name, why)
            raise

    def call(arguments: dict[str, Any], invocation: ToolInvocation) -> Any:  # noqa: ANN401 -- what it returns is checked later
        context = ToolContext(invocation.context, services, scope=invocation.scope, session=invocation.session)
        return plugin.handler(without_nulls(arguments, spec.parameters), context)

    handler = convert_result(call, _as_result, is_async=is_async(plugin.handler))
    registry.register_with_context(spec, handler, enabled=is_enabled, replace=replace)


def _as_result(outcome: object) -> object:
    return ToolResult.of_object(outcome) if isinstance(outcome, Mapping) else outcome


def _plugin_of(found: object) -> ToolPlugin:
    plugin = getattr(found, "plugin", None) if isinstance(found, ModuleType) else found
    if not isinstance(plugin, ToolPlugin):
        raise RegistryError("it has no module-level `plugin` that is a ToolPlugin")
    functions: tuple[object, ...] = (plugin.handler, plugin.enabled)
    if not all(map(callable, functions)):
        raise RegistryError("the `handler` and `enabled` of its plugin must be functions")
    return plugin
