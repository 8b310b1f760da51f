"""Rules and calls of Gemini CLI as ours.

Its rules are a list in which the highest priority decides. A pattern over the text of all arguments
becomes a condition on a command, where the tool is its shell, or on an argument. What a permission
cannot say is left out, and what a restriction cannot say is widened. Facts that it knows and a rule
file does not say (annotations of a server, whether a user is there, whether "always allow" is
switched off) choose the rules.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.peers.compared import Case, Ordered, Rule, two_phases

from permitry.core.call import ToolCall

SHELLS = ("run_shell_command", "shell")
EFFECTS = {"allow": "allow", "ask_user": "confirm", "deny": "block"}
MODES = {"plan": "planning"}
"""Its plan mode is made of rules of its own: it is a word of the host here."""

_AGENTS = ("codebase_investigator",)
_WORD_ENDS = r'(?:[\s"]|\\")'
_COMMAND = '"command":"'
_ARGUMENT = re.compile(r'(?:\\x00)?"(?P<name>\w+)":(?:\\s\*)?(?P<value>.+?)(?:\\x00)?')
_LITERALS = {"true": True, "false": False}


def call_of(case: Case) -> ToolCall:
    """Return the call; a name that contradicts the server is not a name of that server."""
    name, arguments = case["tool_call"]["name"], case["tool_call"]["args"] or {}
    server = case["mcp_server"] or _server_in(name)
    prefix = f"mcp_{server}_"
    contradicts = name.startswith("mcp_") and not name.startswith(prefix)
    if server is None or contradicts or name in SHELLS:
        return ToolCall(name, arguments)
    return ToolCall(name.removeprefix(prefix), arguments, server=server)


def _server_in(name: str) -> str | None:
    found = re.fullmatch("mcp_([^_]+)_.+", name)
    return found and found[1]


def rules_of(rules: list[Rule], case: Case) -> list[Rule]:
    """Return the rules for a case."""
    ordered = sorted(rules, key=lambda rule: -rule.get("priority", 0))
    found = [each for rule in ordered if _is_for(rule, case) for each in _translated(rule, case)]
    rest = "allow" if case["mode"] == "yolo" else case["default_decision"]
    if rest != "ask_user":
        found.append(Ordered(EFFECTS[rest], ("*",), {}))
    return [*two_phases(found), *_redirections(ordered, case), *_distrust(case), _MORE_RIGHTS]


def _is_for(rule: Rule, case: Case) -> bool:
    """Return whether what a rule file does not say is as the rule wants it."""
    annotations = case["tool_annotations"] or {}
    is_always = round(rule.get("priority", 0) % 1, 3) == 0.95
    return (
        rule.get("interactive") in (None, not case["non_interactive"])
        and rule.get("toolAnnotations", {}).items() <= annotations.items()
        and not (is_always and case["disable_always_allow"])
    )


def _translated(rule: Rule, case: Case) -> Iterator[Ordered]:
    effect, name = EFFECTS[rule["decision"]], rule["toolName"]
    when: Rule = {}
    if "modes" in rule:
        when = {"mode": [MODES.get(mode, mode) for mode in rule["modes"]]}
    applies = _selects(rule, call_of(case)) and case["mode"] in rule.get("modes", [case["mode"]])
    if name in _AGENTS:
        yield Ordered(
            effect,
            ("invoke_agent",),
            {**when, "args": {"agent_name": {"regex": name}}},
            applies=False,
        )
    pattern = rule.get("argsPattern")
    conditions = [{}] if pattern is None else _conditions(pattern["$regex"], effect, case)
    for condition in conditions:
        # Of a command that only reads, a question without a pattern is not asked.
        firm = pattern is not None or name not in ("run_shell_command", "*")
        yield Ordered(effect, (_selector(rule),), {**when, **condition}, applies, firm)


# Names --------------------------------------------------------------------------------------------


def _selector(rule: Rule) -> str:
    name, server = rule["toolName"], rule.get("mcpName")
    if name == "mcp_*" or (name == "*" and server == "*"):
        return "mcp:*/*"
    server = server or _server_in(name)
    return name if server is None else f"mcp:{server}/{name.removeprefix(f'mcp_{server}_')}"


def _selects(rule: Rule, call: ToolCall) -> bool:
    server, slash, name = _selector(rule).rpartition("/")
    if not slash:
        return name in ("*", call.name)
    is_server = call.server is not None and server in ("mcp:*", f"mcp:{call.server}")
    return is_server and name in ("*", call.name)


# Patterns -----------------------------------------------------------------------------------------


def _plain(regex: str) -> str:
    return re.sub(r"\\(.)", r"\1", regex)


def _conditions(regex: str, effect: str, case: Case) -> list[Rule]:
    arguments = case["tool_call"]["args"] or {}
    if case["tool_call"]["name"] in SHELLS and _plain(regex).startswith(_COMMAND):
        return _on_commands(regex, effect)
    if regex == ".*":
        return [{}] if arguments else []
    if (found := _ARGUMENT.fullmatch(regex)) is not None:
        return _on_argument(found["name"], found["value"], arguments)
    if effect == "allow":
        return []
    texts = [path for path, value in _texts(arguments) if isinstance(value, str)]
    return [{"args": {path: {"contains": _plain(regex)}}} for path in texts]


def _on_commands(regex: str, effect: str) -> list[Rule]:
    """Return a pattern of words for one of text: narrower in a permission, else wider."""
    is_word = regex.endswith((_WORD_ENDS, r"\b"))
    text = _plain(regex.removesuffix(_WORD_ENDS).removesuffix(r"\b"))
    text = text.removeprefix(_COMMAND).replace('\\"', '"')
    if re.search(r"\[\^|\.\*", text):
        return [] if effect == "allow" else [{"args": {"command": {"regex": f"(?s){text}.*"}}}]
    if not is_word and text.endswith('"'):
        if "&&" in text:
            return [{"args": {"command": {"regex": re.escape(text[:-1])}}}]
        return [{"command": [text[:-1]]}]
    return [{"command": [f"{text} *" if is_word or effect == "allow" else f"{text}* *"]}]


def _on_argument(name: str, value: str, arguments: Mapping[str, Any]) -> list[Rule]:
    """Return a condition on every argument of the name, however deep it is."""
    paths = [path for path, _ in _texts(arguments) if path.split(".")[-1] == name] or [name]
    if value in _LITERALS:
        return [{"args": {path: {"exists": True, "eq": _LITERALS[value]}}} for path in paths]
    regex = value[1:].removesuffix('"') if value.endswith('"') else f"{value[1:]}.*"
    return [{"args": {path: {"exists": True, "regex": regex}}} for path in paths]


def _texts(arguments: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in arguments.items():
        yield above + name, value
        if isinstance(value, dict):
            yield from _texts(value, f"{above}{name}.")


# What is built in ---------------------------------------------------------------------------------

_MORE_RIGHTS = {
    "effect": "confirm",
    "tools": ["run_shell_command"],
    "when": {"args": {"additional_permissions.fileSystem": {"exists": True}}},
}
"""The question about files that the sandbox keeps from the command."""


def _redirections(rules: list[Rule], case: Case) -> Iterator[Rule]:
    """Yield the permission to write any file by a redirection, where a rule gives it."""
    if any(rule.get("allowRedirection") and _selects(rule, call_of(case)) for rule in rules):
        yield {"effect": "allow", "tools": list(SHELLS), "when": {"path": ["/**"]}}


def _distrust(case: Case) -> Iterator[Rule]:
    """Yield the question about every use of git in a folder that is not trusted."""
    if not case["trusted_folder"]:
        yield {"effect": "confirm", "tools": list(SHELLS), "when": {"command": ["git *"]}}
