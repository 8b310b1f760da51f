"""Requests of opencode's published cases as calls of ours; its permissions are imported."""

from collections.abc import Iterable, Mapping

from tests.peers.compared import Case, Rule

from permitry.core.call import ToolCall
from permitry_hosts.importers import write_rules
from permitry_hosts.importers.opencode import Rule as SourceRule
from permitry_hosts.importers.opencode import order_rules

_ARGUMENTS = {"bash": "command", "edit": "filePath", "read": "filePath", "task": "subagent_type"}


def calls_of(case: Case) -> Iterable[ToolCall]:
    """Return the calls of a request: commands are one call."""
    request = case["tool_call"]
    name, texts = request["permission"], request.get("patterns") or [request["pattern"]]
    texts = [" && ".join(texts)] if name == "bash" else texts
    argument = _ARGUMENTS.get(name, "text")
    return [ToolCall(name, {argument: text.replace("${HOME}", "/home/ann")}) for text in texts]


def rule_file_of(case: Case) -> str:
    """Return the rule file that the permissions of a case become."""
    rules = [
        SourceRule(rule["permission"], rule["pattern"], rule["action"], "case") for rule in _listed(case["config"])
    ]
    return write_rules(order_rules(rules), ["case"]).text


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
