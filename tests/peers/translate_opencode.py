"""Permissions and requests of opencode as rules and calls of ours.

Its rules are a list in which the last match decides, so they are translated from the end. A pattern
is about the one text a tool asks for: a command, a path, an agent, anything.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from tests.peers.commands import EFFECTS, pattern_of
from tests.peers.compared import Case, Ordered, Rule, two_phases

from permitry.core.call import ToolCall

TOOLS = {
    "edit": {"traits": ["idempotent"], "roles": {"path": "write_path"}},
    "read": {"traits": ["read_only"], "roles": {"path": "read_path"}},
    "task": {"traits": ["spawns_agent"], "roles": {"agent": "agent"}},
}
"""What its tools are; the argument is the text it asks for."""

_ARGUMENTS = {"bash": "command", "edit": "path", "read": "path", "task": "agent"}


def calls_of(case: Case) -> Iterable[ToolCall]:
    """Return the calls of a request: commands are one call."""
    request = case["tool_call"]
    name, texts = request["permission"], request.get("patterns") or [request["pattern"]]
    texts = [" && ".join(texts)] if name == "bash" else texts
    argument = _ARGUMENTS.get(name, "text")
    return [ToolCall(name, {argument: text.replace("${HOME}", "/home/ann")}) for text in texts]


def rules_of(case: Case) -> list[Rule]:
    """Return the rules for a case; what no rule is about is asked about, as in opencode."""
    tool = case["tool_call"]["permission"]
    found = [_translated(rule, tool) for rule in reversed(_listed(case["config"]))]
    return two_phases([*found, Ordered("confirm", (tool,), {})])


def _listed(config: Mapping[str, object]) -> list[Rule]:
    """Return the rules in their order. What the session above a sub-agent is denied comes last."""
    match config:
        case {"permission": dict(permission)}:
            return _of_map(permission)
        case {"rulesets": list(rulesets)}:
            return [rule for rules in rulesets for rule in rules]
        case {"agent_permission": dict(own), "parent_session_permission": dict(above)}:
            return [*_of_map(own), *(rule for rule in _of_map(above) if rule["action"] == "deny")]
        case {"rules": list(rules)}:
            return rules
    raise AssertionError(config)


def _of_map(permission: Mapping[str, str | dict[str, str]]) -> list[Rule]:
    return [
        {"permission": name, "pattern": pattern, "action": action}
        for name, value in permission.items()
        for pattern, action in ({"*": value} if isinstance(value, str) else value).items()
    ]


def _translated(rule: Rule, tool: str) -> Ordered:
    """Return a rule as ours; what its pattern means depends on the tool."""
    applies = fnmatchcase(tool, rule["permission"])
    when = _condition(tool if applies else rule["permission"], rule["pattern"])
    return Ordered(EFFECTS[rule["action"]], (rule["permission"],), when, applies)


def _condition(tool: str, text: str) -> Rule:
    if text == "*":
        return {}
    argument = _ARGUMENTS.get(tool, "text")
    if argument == "command":
        return {"command": [pattern_of(text)]}
    if argument == "path":
        return {"path": [re.sub(r"/\*$", "/**", text)]}
    text = re.sub(r"^(~|\$HOME)(?=/|$)", "/home/ann", text)
    regex = "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in text)
    return {"args": {argument: {"exists": True, "regex": f"(?s){regex}"}}}
