"""The lists of tools and servers in the settings of Gemini CLI, as rules of its policies.

Gemini CLI makes rules of them too, of fixed priorities on the scale of the user's policies.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.errors import PermitryError
from permitry_hosts.importers.drafts import Outcome, Row, Source, are_texts
from permitry_hosts.importers.json_text import Located, read_json

__all__ = ["Rule", "entries_of", "is_settings"]

_SHELL = "run_shell_command"
_MODES = {"modes": ["default", "autoEdit", "yolo"]}
_LISTS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("mcp", "excluded"): {"decision": "deny", "priority": 900},
    ("tools", "exclude"): {"decision": "deny", "priority": 400},
    ("tools", "confirmationRequired"): {"decision": "ask_user", "priority": 350},
    ("tools", "allowed"): {"decision": "allow", "priority": 300},
    ("tools", "core"): {"decision": "allow", "priority": 250, **_MODES},
    ("mcp", "allowed"): {"decision": "allow", "priority": 100, **_MODES},
}
_FORMER_NAMES = {
    ("mcp", "excluded"): "excludeMCPServers",
    ("tools", "exclude"): "excludeTools",
    ("tools", "allowed"): "allowedTools",
    ("tools", "core"): "coreTools",
    ("mcp", "allowed"): "allowMCPServers",
}
_TRUSTED = {"decision": "allow", "priority": 200, **_MODES}
_NOTHING_ELSE = {"toolName": "*", "decision": "deny", "priority": 240, **_MODES}
_WITH_ARGUMENTS = re.compile(r"(?P<tool>[\w-]+)\((?P<arguments>.*)\)", re.DOTALL)


@attrs.frozen
class Rule:
    """One rule of a policy: its keys as Gemini CLI names them, and its place."""

    table: Mapping[str, Any]
    place: str

    @property
    def names(self) -> list[str]:
        """The tools it is for."""
        named = self.table.get("toolName", "*")
        return [named] if isinstance(named, str) else list(named)


def is_settings(source: Source) -> bool:
    """Return whether a file is one of settings, and not of policies."""
    return source.name.endswith(".json")


def entries_of(sources: Sequence[Source]) -> list[Rule | Row]:
    """Return what settings say of tools and servers. Raises: `PermitryError` for what is none."""
    files = [(source, read_json(source.text, source.name)) for source in sources]
    projects = {name for source, file in files if not source.is_users for name, _, _ in _lists(source, file)}
    return [entry for source, file in files for entry in _entries(source, file, projects if source.is_users else set())]


def _entries(source: Source, file: Located, replaced: set[tuple[str, str]]) -> Iterator[Rule | Row]:
    for name, path, texts in _lists(source, file):
        kind = _LISTS[name]
        for number, text in enumerate(texts):
            table = {**(_of_server(text) if name[0] == "mcp" else _of_tool(text)), **kind}
            place = f"{source.name}:{file.lines[*path, number]}"
            # Lists of exclusions may be united or replaced: here all of them count.
            if name in replaced and kind["decision"] == "allow":
                yield Row(place, f"allow {text}", "allow", (), Outcome.IGNORED, "the list of the project counts")
            else:
                yield Rule(table, place)
        if name == ("tools", "core"):
            yield Rule(_NOTHING_ELSE, f"{source.name}:{file.lines[path]}")
    servers = file.value.get("mcpServers", {})
    for name, server in servers.items() if isinstance(servers, dict) else ():
        if isinstance(server, dict) and server.get("trust") is True:
            yield Rule({**_of_server(name), **_TRUSTED}, f"{source.name}:{file.lines['mcpServers', name, 'trust']}")


def _lists(source: Source, file: Located) -> Iterator[tuple[tuple[str, str], tuple[str, ...], list[str]]]:
    if not isinstance(file.value, dict):
        raise PermitryError(f"`{source.name}` is not a settings file of Gemini CLI: it is not an object")
    for name in _LISTS:
        for path in (name, (_FORMER_NAMES[name],)) if name in _FORMER_NAMES else (name,):
            found: Any = file.value
            for key in path:
                found = found.get(key) if isinstance(found, dict) else None
            if found is None:
                continue
            if not are_texts(found):
                raise PermitryError(f"`{source.name}`: `{'.'.join(path)}` is not a list of texts")
            yield name, path, found


def _of_server(name: str) -> dict[str, Any]:
    return {"toolName": "mcp_*" if name == "*" else f"mcp_{name}_*", "mcpName": name}


def _of_tool(text: str) -> dict[str, Any]:
    found = _WITH_ARGUMENTS.fullmatch(text)
    name = found["tool"] if found else text
    tool = {"toolName": _SHELL if name == "ShellTool" else name}
    if found is None:
        return tool
    if tool["toolName"] == _SHELL:
        return {**tool, "commandPrefix": found["arguments"]}
    # What it means for another tool is not known: a permission is left out, and a restriction widened.
    return {**tool, "argsPattern": re.escape(found["arguments"])}
