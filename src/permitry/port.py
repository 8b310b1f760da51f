"""The names that a toolset imports of permitry, and the only ones that the shipped one, `permitry_tools`, may import.

A toolset carries out calls that were authorized, and decides on none: who reviews what decides need not read it. The
functions here say what a command or a call means to a policy, for tools that act on just that.
"""

from collections.abc import Sequence

from permitry.actions.braces import expand
from permitry.actions.derive.applied import SHELLS, AppliedPatch, calls_patching, find_patch, script_in
from permitry.actions.derive.runners import program_of
from permitry.actions.derive.script import read_argv, read_command
from permitry.actions.extract import ReadActions
from permitry.actions.folders import Folder
from permitry.actions.hosts import read_url
from permitry.actions.patches import LONGEST_PATCH
from permitry.actions.reading.lenient import read_leniently
from permitry.channels.response import ToolConfirmationResponse
from permitry.conditions.host import is_private
from permitry.core.action import Access, Actions, Connect, Place
from permitry.core.call import PayloadKind, ToolCall
from permitry.core.context import AuthContext
from permitry.core.json_values import canonical_json, freeze_object
from permitry.core.pattern import Pattern
from permitry.core.result import MediaPart, ToolResult
from permitry.core.spec import ArgumentRole, ToolSpec, ToolTraits
from permitry.dispatch.argument_schema import ArgumentSchema
from permitry.dispatch.arguments import Check, with_check
from permitry.dispatch.cancel import current_cancellation
from permitry.dispatch.clip import join_ends
from permitry.dispatch.discovery import PluginReport, ToolContext, ToolPlugin, ToolsetPlugin, load_plugins
from permitry.dispatch.events import Artifact, Reporter, ToolEventKind, kept, not_kept, report, reporter_here
from permitry.dispatch.limits import ToolLimits
from permitry.dispatch.plugin_folder import PluginFolder
from permitry.dispatch.registry import Handler, Preview, ToolRegistry
from permitry.dispatch.router import ToolFamily
from permitry.dispatch.schema import unfit
from permitry.dispatch.scope import CallScope, ToolInvocation
from permitry.errors import (
    CallError,
    ConfigError,
    PermitryError,
    Problem,
    RegistryError,
    ToolError,
    UnavailableError,
    count,
    safe_str,
)
from permitry.files import (
    CREATE,
    DIRECTORY,
    READ,
    TEMPORARY,
    mode_at,
    open_regular,
    opened,
    replace_file,
    write_new,
)
from permitry.messages.mcp_client import ignore_schemas, new_client
from permitry.messages.mcp_restarts import Restarts

__all__ = [
    "CREATE",
    "DIRECTORY",
    "LONGEST_PATCH",
    "READ",
    "SHELLS",
    "TEMPORARY",
    "Access",
    "AppliedPatch",
    "ArgumentRole",
    "ArgumentSchema",
    "Artifact",
    "AuthContext",
    "CallError",
    "CallScope",
    "Check",
    "ConfigError",
    "Connect",
    "Handler",
    "MediaPart",
    "Pattern",
    "PayloadKind",
    "PermitryError",
    "PluginFolder",
    "PluginReport",
    "Preview",
    "Problem",
    "RegistryError",
    "Reporter",
    "Restarts",
    "ToolCall",
    "ToolConfirmationResponse",
    "ToolContext",
    "ToolError",
    "ToolEventKind",
    "ToolFamily",
    "ToolInvocation",
    "ToolLimits",
    "ToolPlugin",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "ToolTraits",
    "ToolsetPlugin",
    "UnavailableError",
    "calls_patching",
    "canonical_json",
    "count",
    "current_cancellation",
    "expand",
    "find_patch",
    "freeze_object",
    "ignore_schemas",
    "is_private",
    "join_ends",
    "kept",
    "load_plugins",
    "mode_at",
    "new_client",
    "not_kept",
    "open_regular",
    "opened",
    "paths_touched",
    "paths_written",
    "programs_in",
    "read_url",
    "replace_file",
    "report",
    "reporter_here",
    "safe_str",
    "script_in",
    "unfit",
    "with_check",
    "write_new",
]


def programs_in(command: str) -> frozenset[str]:
    """Return the names of the programs that a shell command may run, over-approximated."""
    return frozenset(program_of(each.words) for each in read_leniently(command).commands if each.words)


def paths_touched(command: str | Sequence[str], folder: str) -> frozenset[tuple[Access, str]]:
    """Return the paths that a command may touch, as a policy sees them, and what it does to each.

    `command` is shell text or a list of arguments; `folder` is where it starts: a real, absolute path.
    """
    here = Folder((folder,), None)
    reading = read_command(command, here) if isinstance(command, str) else read_argv(command, here)
    touches = Actions(reading.certain, (*reading.possible, *reading.guessed)).touches()
    return frozenset((touch.access, name) for touch in touches for name in touch.place.names)


def paths_written(call: ToolCall, workspace: str, spec: ToolSpec | None) -> tuple[Place, ...]:
    """Return the places that a call writes or deletes, as a policy sees them; `spec` declares its tool."""
    touches = ReadActions()(call, AuthContext(workspace=workspace), spec).touches()
    return tuple(touch.place for touch in touches if touch.access.is_change)
