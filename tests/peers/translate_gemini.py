"""Rules and calls of Gemini CLI's published cases: the rules are imported, and facts of the session are added."""

import functools
import json
import re

from tests.peers.compared import Case, Rule

from permitry.core.call import ToolCall
from permitry_hosts.importers import write_rules
from permitry_hosts.importers.gemini import SHELLS, order_rules
from permitry_hosts.importers.gemini import Rule as SourceRule

MODES = {"plan": "planning"}
"""Its plan mode is made of rules of its own: it is a word of the host here."""


def call_of(case: Case) -> ToolCall:
    """Return the call; a name that contradicts the server is not a name of that server."""
    name, arguments = case["tool_call"]["name"], case["tool_call"]["args"] or {}
    found = re.fullmatch("mcp_([^_]+)_.+", name)
    server = case["mcp_server"] or (found and found[1])
    prefix = f"mcp_{server}_"
    contradicts = name.startswith("mcp_") and not name.startswith(prefix)
    if server is None or contradicts or name in SHELLS:
        return ToolCall(name, arguments)
    return ToolCall(name.removeprefix(prefix), arguments, server=server)


def rule_file_of(rules: list[Rule], case: Case) -> str:
    """Return the rule file that the rules of a case become, with what the session of the case knows."""
    tables = [_table(rule) for rule in rules if not (case["disable_always_allow"] and _is_always(rule))]
    rest = "allow" if case["mode"] == "yolo" else case["default_decision"]
    if rest != "ask_user":
        tables.append({"toolName": "*", "decision": rest, "priority": -1})
    text = _imported(json.dumps(tables))
    return text if case["trusted_folder"] else text + _DISTRUST


@functools.cache
def _imported(tables: str) -> str:
    """Return the rule file of tables, which most cases have in common."""
    rules = [SourceRule(table, "case") for table in json.loads(tables)]
    return write_rules(order_rules(rules), ["case"]).text


def _table(rule: Rule) -> Rule:
    pattern = {"argsPattern": rule["argsPattern"]["$regex"]} if "argsPattern" in rule else {}
    return {**rule, **pattern}


def _is_always(rule: Rule) -> bool:
    return bool(round(rule.get("priority", 0) % 1, 3) == 0.95)


_DISTRUST = """
[[rule]]
id = "no-trust-in-the-folder"
effect = "confirm"
tools = ["run_shell_command", "shell"]
when.command = ["git *"]
"""
"""The question about every use of git in a folder that is not trusted, which no rule file says."""
