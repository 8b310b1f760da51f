"""Tools found in a folder of files, or among the entry points of installed packages: one file, one tool.

A plugin folder is code. The caller passes the bytes of its files as they were when the user trusted them
(`PluginFolder`), and exactly these bytes are run.
"""

import contextlib
import functools
import inspect
import logging
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs

from permitry.core.context import AuthContext
from permitry.core.result import ToolResult
from permitry.core.spec import ToolSpec
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.arguments import is_async, with_check, without_nulls
from permitry.dispatch.interrupts import watch_interrupts
from permitry.dispatch.plugin import ToolContext, ToolPlugin, ToolsetPlugin
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.plugin_modules import PluginModules
from permitry.dispatch.registry import ContextHandler, ToolRegistry
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
"""The group of entry points that name plugins: each is a `ToolPlugin`, a module that has one, or a `ToolsetPlugin`."""

_LOG = logging.getLogger("permitry.dispatch.plugins")


@attrs.frozen
class LoadedPlugin:
    """A tool that was loaded, and from where."""

    tool: str
    source: str
    digest: str


@attrs.frozen
class FailedPlugin:
    """A file or entry point that failed to load; `reason` is one line, `trace` the traceback if its code failed."""

    source: str
    reason: str
    trace: str | None = attrs.field(default=None, repr=False)


@attrs.frozen
class PluginReport:
    """Which plugins were loaded, and which failed."""

    loaded: tuple[LoadedPlugin, ...] = ()
    failed: tuple[FailedPlugin, ...] = ()


def load_plugins(
    registry: ToolRegistry, folder: PluginFolder, *, services: Mapping[str, Any] | None = None, replace: bool = False
) -> PluginReport:
    """Register the tool of each file; a file that fails is logged with its reason, and the others are still loaded.

    With `replace`, tools that are registered already are replaced by new ones of the same name. A second file with a
    tool of the same name fails all the same.
    """
    taken = {spec.name for spec in registry} if replace else set()
    return _load(registry, folder, services or {}, taken)[0]


@attrs.define
class PluginReloader:
    """The tools of a plugin folder that may change while they are in use. Thread-safe.

    `read` returns the folder as it is now, and raises an error if it is not trusted (`TrustStore().plugins(path)`). If
    a file fails, its last tool stays registered. If the folder cannot be read or is no longer trusted, all tools stay,
    and `problem` says why. Tools that were registered by other code are never replaced.
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
            report = self._load(folder)
            self._digests = folder.digests
            return report

    def _load(self, folder: PluginFolder) -> PluginReport:
        # If other code has replaced one of our tools in the registry, that tool is not ours to replace.
        own = {name: each for name, each in self._own.items() if self.registry.get(name) is each.spec}
        report, package = _load(self.registry, folder, self.services, set(own))
        failed = {each.source for each in report.failed}
        now = {each.tool: _Own(self.registry.get(each.tool), each.source, package) for each in report.loaded}
        kept = {name: each for name, each in own.items() if each.source in failed and name not in now}
        for tool in own.keys() - now.keys() - kept.keys():
            with contextlib.suppress(UnknownToolError):
                self.registry.unregister(tool)
        used = {id(each.package) for each in (*now.values(), *kept.values())}
        for old in self._own.values():
            if id(old.package) not in used:
                old.package.remove()
        self._own = now | kept
        return report


@attrs.frozen(eq=False)
class _Own:
    """A tool that a reloader has registered."""

    spec: ToolSpec | None
    source: str
    package: PluginModules


def load_entry_points(
    registry: ToolRegistry,
    *,
    services: Mapping[str, Any] | None = None,
    replace: bool = False,
    workspace: Path | None = None,
) -> PluginReport:
    """Register the tools that installed packages offer as entry points of the group `permitry.tools`.

    An installed package is code that the user has installed: it needs no trust beyond that. Toolsets, the shipped one
    among them, are registered only with a `workspace`; they replace no tool, and one that fails leaves none behind.
    """
    # Slow to import, and for those who use it.
    import importlib.metadata  # noqa: PLC0415 -- slow to import

    points = sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    found = [(f"{point.value} ({point.name})", point.load) for point in points]
    taken = {spec.name for spec in registry} if replace else set()
    return _register_all(registry, found, services or {}, taken, workspace)


def _load(
    registry: ToolRegistry, folder: PluginFolder, services: Mapping[str, Any], taken: set[str]
) -> tuple[PluginReport, PluginModules]:
    package = PluginModules(folder)
    package.install()
    found = [(f"{folder.path.name}/{file}", functools.partial(package.module, file)) for file in folder.plugins]
    try:
        report = _register_all(registry, found, services, taken)
    except BaseException:
        package.remove()
        raise
    if not report.loaded:
        package.remove()
    return report, package


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
    with watch_interrupts() as is_interrupted:
        for place, load in found:
            source = " ".join(place.split())
            try:
                plugin = load()
                if isinstance(plugin, ToolsetPlugin):
                    digests = {} if workspace is None else _register_toolset(registry, plugin, workspace)
                else:
                    digests = _register_one(registry, _plugin_of(plugin), services, taken)
            except BaseException as error:
                if is_interrupted():
                    raise
                failed.append(_failure(source, error))
                _LOG.warning("Failed to load %s: %s", source, failed[-1].reason)
            else:
                for name, digest in digests.items():
                    taken.discard(name)
                    loaded.append(LoadedPlugin(name, source, digest))
                    _LOG.info("Loaded tool: %s", name)
    return PluginReport(tuple(loaded), tuple(failed))


def _failure(source: str, error: BaseException) -> FailedPlugin:
    is_known = isinstance(error, PermitryError)
    reason = safe_str(error) if is_known else f"{type(error).__name__}: {safe_str(error)}"
    trace = None if is_known else "".join(traceback.format_exception(error))
    return FailedPlugin(source, " ".join(reason.split()), trace)


def _register_toolset(registry: ToolRegistry, toolset: ToolsetPlugin, workspace: Path) -> dict[str, str]:
    before = {spec.name for spec in registry}
    try:
        toolset.register(registry, workspace)
    except BaseException:
        for name in [spec.name for spec in registry if spec.name not in before]:
            registry.unregister(name)
        raise
    return {spec.name: spec.digest for spec in registry if spec.name not in before}


def _register_one(
    registry: ToolRegistry, plugin: ToolPlugin, services: Mapping[str, Any], taken: set[str]
) -> dict[str, str]:
    spec = plugin.spec
    digest = spec.digest
    _register(registry, plugin, spec, services, replace=spec.name in taken)
    return {spec.name: digest}


def _register(
    registry: ToolRegistry, plugin: ToolPlugin, spec: ToolSpec, services: Mapping[str, Any], *, replace: bool
) -> None:
    schema = ArgumentSchema(spec.parameters) if spec.parameters else None

    def given(arguments: dict[str, Any]) -> dict[str, Any]:
        # They were checked before the call was decided, and are the same since.
        return without_nulls(arguments, spec.parameters)

    def enabled(context: AuthContext) -> bool:
        try:
            return plugin.enabled(ToolContext(context, services))
        except Exception as error:
            _LOG.getChild("enabled").warning(
                "`enabled` of the tool %s failed: %s: %s", spec.name, type(error).__name__, safe_str(error)
            )
            raise

    def context_of(invocation: ToolInvocation) -> ToolContext:
        return ToolContext(invocation.context, services, scope=invocation.scope, session=invocation.session)

    def handle(arguments: dict[str, Any], invocation: ToolInvocation) -> Any:  # noqa: ANN401 -- what it returns is checked later
        outcome = plugin.handler(given(arguments), context_of(invocation))
        return _await_result(outcome) if inspect.isawaitable(outcome) else _as_result(outcome)

    async def ahandle(arguments: dict[str, Any], invocation: ToolInvocation) -> Any:  # noqa: ANN401 -- as above
        return _as_result(await plugin.handler(given(arguments), context_of(invocation)))

    called: ContextHandler = ahandle if is_async(plugin.handler) else handle
    called = called if schema is None else with_check(called, schema.fit)
    registry.register_with_context(spec, called, enabled=enabled, replace=replace)


async def _await_result(outcome: Awaitable[object]) -> object:
    return _as_result(await outcome)


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
