"""The tools that `--tools` names, for commands that run none, and what they know besides a record."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from permitry.cli.inputs import TOOLS_FILE, rules_from
from permitry.core.context import AuthContext
from permitry.core.json_values import mutable, parse_json
from permitry.core.spec import ToolSpec
from permitry.errors import CallError, PermitryError
from permitry_ops.cli.toolset import Toolset
from permitry_ops.replay.record import Circumstances

__all__ = ["circumstances_from", "read_tool_list"]


def read_tool_list(path: Path) -> list[Any]:
    """Return the tools in a JSON list, also of an object, or those of a session with a tools file.

    What that starts is ended again. Raises: `PermitryError` for a file that is neither.
    """
    if path.suffix == ".toml":
        return [_describe(spec) for spec in _specs(path, Path())]
    try:
        data: Any = parse_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PermitryError(f"cannot read `{path}`: {error.strerror}") from error
    except (UnicodeDecodeError, CallError) as error:
        raise PermitryError(f"`{path}` is not JSON: {error}; {TOOLS_FILE}") from error
    found = data.get("tools") if isinstance(data, Mapping) else data
    if not isinstance(found, list | tuple):
        raise PermitryError(f'`{path}` has no list of tools; write names, as in `["read_file"]`')
    return list(found)


def circumstances_from(options: argparse.Namespace, workspace: str) -> Circumstances:
    """Return what is known of recorded sessions. Raises: as `Toolset.open`, `rules_from`."""
    tools = {spec.name: spec for spec in _specs(options.tools, Path(workspace))}
    return Circumstances(workspace, rules_from(options, workspace).templates, tools)


def _specs(tools: Path | None, workspace: Path) -> tuple[ToolSpec, ...]:
    with Toolset.open(argparse.Namespace(tools=tools, plugins=[]), workspace) as toolset:
        return toolset.registry.specs(AuthContext())


def _describe(spec: ToolSpec) -> dict[str, Any]:
    roles = {name: role.value for name, role in (spec.roles or {}).items()}
    return {"name": spec.name, "parameters": mutable(spec.parameters), "roles": roles}
