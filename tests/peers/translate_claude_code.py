"""Calls of Claude Code's published cases as ours; its settings are imported."""

import json
from collections.abc import Mapping

from tests.peers.compared import Case

from permitry.core.call import ToolCall
from permitry_hosts.importers import Source, write_rules
from permitry_hosts.importers.claude_code import read_rules

MODES = {"plan": "plan", "bypassPermissions": "yolo", "dontAsk": "default"}


def call_of(case: Case, root: str) -> ToolCall:
    """Return the call of a case; its files lie below the root."""
    name, arguments = case["tool_call"]["tool"], case["tool_call"]["input"]
    if "file_path" in arguments:
        arguments = {**arguments, "file_path": root + arguments["file_path"]}
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    is_of_server = name.startswith("mcp__") and separator
    return ToolCall(tool, arguments, server=server) if is_of_server else ToolCall(name, arguments)


def rule_file_of(lists: Mapping[str, list[str]], scope: str) -> str:
    """Return the rule file that a settings file becomes; ids are those of its scope."""
    source = Source(f"{scope}.json", json.dumps({"permissions": lists}, indent=1), is_users=scope == "user")
    return write_rules(read_rules([source]), [source.name]).text.replace('id = "', f'id = "{scope}-')
