"""What a call of a host is for rules: which tool it may be, of which server, with which arguments, in which folder."""

import functools
import tomllib
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from permitry.config.catalogue import find_shipped
from permitry.config.layers import find_layers
from permitry.config.origin import Origin
from permitry.config.ruleset import RuleSet
from permitry.core.call import ToolCall
from permitry.core.spec import ArgumentRole, ToolSpec
from permitry.core.well_known import WELL_KNOWN
from permitry_hosts.hooks.host import Event, Host
from permitry_hosts.hooks.policies import Policies

__all__ = ["Reading", "find_rules", "own_tools", "read_call"]

_FOLDER = "folder of the agent"
"""An argument that no tool has."""
_FOLDERS = frozenset({ArgumentRole.FOLDER, ArgumentRole.READ_TREE, ArgumentRole.LIST_TREE})
_MOST = 16


@attrs.frozen
class Reading:
    """The rules that a call is decided by, the name that they have for it, and all that it may mean.

    `names` has each server and tool; `spec` is the declaration by which the `arguments` are read, if it is another one
    than that of the rules.
    """

    rules: RuleSet
    name: str
    names: Sequence[tuple[str | None, str]]
    spec: ToolSpec | None
    arguments: Mapping[str, Any]

    @property
    def digests(self) -> frozenset[str]:
        """The digests that the call may have.

        Raises: `CallError`.
        """
        return frozenset(ToolCall(tool, self.arguments, server=server).digest for server, tool in self.names)


def read_call(
    host: Host,
    event: Event,
    rules: Sequence[str] | None,
    policies: Policies,
    folders: Host,
    *,
    observed: Sequence[str] = (),
) -> Reading:
    """Return how a call is read; `folders` is the host whose names its own tools have.

    Raises: `PermitryError` for rules that cannot be read.
    """
    name = event.tool if event.server is None else f"mcp:{event.server}/{event.tool}"
    origins = find_rules(host, event, rules, observed)
    loaded = policies.rules.load(origins, name)
    # A tool that the rules of a user declare may still be one of a server.
    is_own = event.server is None and event.tool in own_tools(host, event)
    servers = [] if is_own or event.server else list(host.servers(event.tool))
    if servers:
        loaded = policies.rules.load(origins)
    spec, arguments = _in_folder(loaded, name, event, folders.folders if is_own else None)
    return Reading(loaded, name, [(event.server, event.tool), *servers], spec, arguments)


def find_rules(host: Host, event: Event, rules: Sequence[str] | None, observed: Sequence[str] = ()) -> list[Origin]:
    """Return where the rules are: those of the layers where none are named, and those that are observed."""
    seen = [Origin(name, is_observed=True) for name in observed]
    if rules is not None:
        return [*map(Origin, rules), *seen]
    return [*find_layers(Path(event.workspace), shipped=host.shipped(event)), *seen]


def own_tools(host: Host, event: Event) -> Container[str]:
    """Return the names of the tools that the host itself has."""
    # Only the names: to load the set as rules would take as long as all the rest.
    return _tools_in(find_shipped(host.shipped(event)[1]).read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=_MOST)
def _tools_in(text: str) -> frozenset[str]:
    return frozenset(tomllib.loads(text)["tool"])


def _in_folder(
    rules: RuleSet, tool: str, event: Event, folders: frozenset[str] | None
) -> tuple[ToolSpec | None, Mapping[str, Any]]:
    """Return declaration and arguments by which a call is made in the folder of the agent, not in that of its project.

    `folders` are the arguments of the host's own tools that name a folder; None for the tool of a server.
    """
    spec = rules.tools.get(tool, WELL_KNOWN.get(tool))
    if spec is None or not spec.roles:
        return None, event.arguments
    roles = spec.roles if folders is None else _own_roles(spec.roles, folders)
    spec = attrs.evolve(spec, roles=roles)
    if event.folder == event.workspace:
        return spec, event.arguments
    # INVARIANT: law 3. `cd sub` must not change what `../.env` means.
    own = {name.rstrip("?") for key, role in roles.items() if role is ArgumentRole.FOLDER for name in key.split("|")}
    # One below `~` may mean the home folder, or a folder of this name: then it and that of the agent both count.
    moved = {
        name: str(Path(event.folder, value))
        for name, value in event.arguments.items()
        if name in own and isinstance(value, str) and value and value[0] != "~"
    }
    if moved:
        return spec, {**event.arguments, **moved}
    placed = attrs.evolve(spec, roles={**roles, _FOLDER: ArgumentRole.FOLDER})
    return placed, {**event.arguments, _FOLDER: event.folder}


def _own_roles(roles: Mapping[str, ArgumentRole], folders: frozenset[str]) -> dict[str, ArgumentRole]:
    """Return the roles of a tool of the host: of several names for a folder those that it has, as it ignores others."""
    own: dict[str, ArgumentRole] = {}
    for key, role in roles.items():
        names = key.split("|")
        if role not in _FOLDERS or len(names) == 1:
            own[key] = role
            continue
        known = [name for name in names if name.rstrip("?") in folders]
        if known:
            own["|".join(known)] = role
        if role is not ArgumentRole.FOLDER:
            own |= {name: ArgumentRole.READ_PATH for name in names if name not in known}
    return own
