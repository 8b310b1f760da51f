"""Permission rules and calls of Claude Code as ours.

Its classes are ours: what is denied is a restriction that blocks, what asks one that asks, and what
is allowed a permission. Its modes become words of the host, and what it has built in is written out
as rules: the removal of critical paths, protected paths, commands that run others, and what
`acceptEdits` permits.
"""

import re
from collections.abc import Iterator, Mapping

from tests.peers.commands import EFFECTS, pattern_of
from tests.peers.compared import Case, Rule, Tools

from permitry.core.call import ToolCall

TOOLS: Tools = {
    "Agent": {"traits": ["spawns_agent"], "roles": {"subagent_type?": "agent"}},
    "Bash": {"roles": {"command": "command"}},
    "Edit": {"traits": ["idempotent"], "roles": {"file_path": "write_path"}},
    "Read": {"traits": ["read_only"], "roles": {"file_path": "read_path"}},
    "WebFetch": {"traits": ["read_only", "open_world"], "roles": {"url": "url"}},
    "Write": {"traits": ["idempotent"], "roles": {"file_path": "write_path"}},
}
MODES = {"plan": "planning", "bypassPermissions": "yolo", "dontAsk": "default"}
"""Its plan mode asks before it writes, where ours blocks: it is a word of the host here."""

_RULE = re.compile(r"(?P<tool>[^(]+)(?:\((?P<content>.*)\))?")
_PARAMETER = re.compile(r"(?P<name>\w+)\s*:\s*(?P<value>.+)")
_PARAMETERS = {
    "Agent": {"isolation", "model"},
    "Bash": {"command", "description", "run_in_background", "timeout"},
}
_WRITERS = ["Edit", "Write"]


def call_of(case: Case, root: str) -> ToolCall:
    """Return the call of a case; its files lie below the root."""
    name, arguments = case["tool_call"]["tool"], case["tool_call"]["input"]
    if "file_path" in arguments:
        arguments = {**arguments, "file_path": root + arguments["file_path"]}
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    is_of_server = name.startswith("mcp__") and separator
    return ToolCall(tool, arguments, server=server) if is_of_server else ToolCall(name, arguments)


def rules_of(lists: Mapping[str, list[str]], scope: str, mode: str) -> list[Rule]:
    """Return the rules for the lists of a settings file, and what is built in."""
    rules = [
        {"effect": EFFECTS[kind], **rule}
        for kind, texts in lists.items()
        for text in texts
        for rule in _rules(kind, text, scope)
    ]
    return [*rules, *_BUILT_IN, *_MODE.get(mode, ())]


def _rules(kind: str, text: str, scope: str) -> Iterator[Rule]:
    found = _RULE.fullmatch(text)
    assert found is not None
    tool, content = found["tool"], found["content"]
    parameter = _PARAMETER.fullmatch(content or "")
    if content in (None, "*"):
        yield from _on_tool(kind, tool)
    elif parameter is not None and parameter["name"] in _PARAMETERS.get(tool, ()):
        yield from _on_parameter(kind, tool, parameter)
    else:
        yield from _on_content(kind, tool, content, scope)


def _on_tool(kind: str, name: str) -> Iterator[Rule]:
    """Yield the rule for a tool; a pattern for tools permits only those of one server."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__"):
        if kind != "allow" or "*" not in server:
            yield {"tools": [f"mcp:{server}/{tool or '*'}"]}
    elif (kind != "allow" or "*" not in name) and " " not in name:
        yield {"tools": [*(_WRITERS if name == "Edit" else [name])]}


def _on_parameter(kind: str, tool: str, found: re.Match[str]) -> Iterator[Rule]:
    """Yield the rule for a parameter: a restriction, which an absent one never matches.

    What the tool is about is no parameter in this sense.
    """
    if kind != "allow" and found["name"] != "command":
        value = found["value"].strip()
        test: Rule = {"eq": value == "true"} if value in ("true", "false") else {"glob": value}
        yield {"tools": [tool], "when": {"args": {found["name"]: {"exists": True, **test}}}}


def _on_content(kind: str, tool: str, content: str, scope: str) -> Iterator[Rule]:
    match tool:
        case "Bash":
            yield from _on_command(kind, content)
        case "Read":
            tools, paths = (["Read"] if kind == "allow" else ["*"]), _paths(kind, content, scope)
            yield {"tools": tools, "when": {"path": paths}}
        case "Edit":
            tools, paths = (_WRITERS if kind == "allow" else ["*"]), _paths(kind, content, scope)
            yield {"tools": tools, "when": {"path": paths, "access": ["write", "delete"]}}
        case "WebFetch":
            host = content.removeprefix("domain:")
            if kind != "allow" or re.fullmatch(r"(\*\.)?[^*]+|\*", host):
                yield {"tools": [tool], "when": {"host": [host]}}
        case "Agent":
            when = {"args": {"subagent_type": {"exists": True, "eq": content}}}
            yield {"tools": [tool], "when": when}


def _on_command(kind: str, content: str) -> Iterator[Rule]:
    """Yield the rule for a command: a permission for a prefix covers none that runs another."""
    pattern = pattern_of(content)
    is_prefix = kind == "allow" and pattern.endswith("*")
    if not (is_prefix and pattern.split()[0] in _RUNNERS):
        unless = {"command": _FINDS} if is_prefix else {}
        yield {"tools": ["Bash"], "when": {"command": [pattern]}, "unless": unless}


def _paths(kind: str, content: str, scope: str) -> list[str]:
    """Return a pattern of gitignore's kind: relative to the settings, or to the workspace."""
    if content.startswith("//"):
        return [content[1:]]
    if content.startswith("~"):
        return [content]
    if content.startswith("/"):
        return [content[1:] if scope == "project" else f"~/.claude{content}"]
    is_name = "/" not in content
    is_folder = kind != "allow" and re.fullmatch(r"[^/*]+/\*\*", content)
    return [f"**/{content}" if is_name or is_folder else content.removeprefix("./")]


# What is built in ---------------------------------------------------------------------------------

_RUNNERS = ("watch", "setsid", "ionice", "flock")
_FINDS = ["find ** {-delete,-exec,-execdir,-ok,-okdir} **"]
_FOLDERS = [".git", ".git/**", ".claude", ".claude/**"]
_PROTECTED = {"path": [*_FOLDERS, ".mcp.json", ".npmrc", "~/.bashrc"], "access": "write"}
_CRITICAL = {"command": ["rm *", "rmdir *"], "path": ["/", "~", "/*"]}
_CHANGE_FILES = "{mkdir,touch,rm,rmdir,mv,cp,sed} *"
_BUILT_IN: list[Rule] = [
    {"effect": "confirm", "tools": ["Bash"], "when": _CRITICAL},
    {"effect": "confirm", "tools": ["*"], "when": _PROTECTED, "unless": {"mode": "yolo"}},
]
_IN_WORKSPACE = {"path": ["**"]}
_MODE: dict[str, list[Rule]] = {
    "acceptEdits": [
        {"effect": "allow", "tools": _WRITERS, "when": _IN_WORKSPACE},
        {
            "effect": "allow",
            "tools": ["Bash"],
            "when": {"command": [_CHANGE_FILES], **_IN_WORKSPACE},
        },
    ],
    "plan": [{"effect": "confirm", "tools": ["@writes"]}],
}
