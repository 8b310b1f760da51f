"""What Claude Code says of calls: whether a rule of its settings is about them, and what it has built in.

Source: its documentation. A path is one of gitignore's kind; a name of a tool and of a host may have stars.
"""

import functools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from permitry.config.rule_text import Draft
from permitry_hosts.importers.drafts import Probe
from permitry_hosts.importers.probes import (
    HOME,
    WORKSPACE,
    Matcher,
    fill_stars,
    is_about_all,
    is_about_any,
    probe_commands,
    probe_texts,
    probe_tools,
)

__all__ = [
    "ASSIGNS", "NAMES", "PARAMETER", "PARAMETERS_OF_BASH", "WRITERS", "built_in", "folders_of", "matcher",
    "path_matcher", "probes",
]  # fmt: skip

WRITERS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
_PROTECTED = [".git", ".git/**", ".claude", ".claude/**", ".mcp.json", ".npmrc", "~/.bashrc", "~/.zshrc", "~/.profile"]
ASSIGNS = r"(?s)(?:.*[;&|(\n]\s*)?[A-Za-z_][A-Za-z0-9_]*=.*"
_ASSIGNS_SAFELY = r"(?s)(?:NODE_ENV=[A-Za-z0-9_]*\s+)[^=]*"
_CHANGE_FILES = ["mkdir *", "touch *", "rm *", "rmdir *", "mv *", "cp *", "sed *"]
_UNASKED = (
    "Agent", "AskUserQuestion", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "SendMessage", "Task",
    "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch",
)  # fmt: skip
"""Tools that need no permission and change the session alone; the calls of an agent are decided one by one.

Source: the tools reference of Claude Code.
"""

_BYPASS = {"mode": ["yolo", "bypassPermissions"]}
PARAMETER = re.compile(r"(?P<name>\w+)\s*:\s*(?P<value>.+)", re.DOTALL)
PARAMETERS_OF_BASH = {"command", "description", "run_in_background", "timeout"}

_SERVER = re.compile(r"mcp__((?!__)[^*])+")
"""A server alone, which is all of its tools."""
NAMES = {"Agent": "subagent_type", "Task": "subagent_type", "Skill": "skill"}
_WILD = {"/**/": "/(?:.*/)?", "/**": "/.+", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def probes(kind: str, tool: str, content: str, *, root: str) -> tuple[Probe, ...]:
    """Return calls of a tool, and whether the host says that a rule is about them; none where that is not known."""
    if content == "*":
        glob = f"{tool}__*" if _SERVER.fullmatch(tool) else tool
        names = WRITERS if tool == "Edit" else fill_stars(glob)
        return probe_tools(names, lambda name: name in names or fnmatchcase(name, glob))
    parameter = PARAMETER.fullmatch(content)
    if tool == "Bash" and (parameter is None or parameter["name"] not in PARAMETERS_OF_BASH):
        return probe_commands(fill_stars(_pattern(content)), tool, matcher(kind, content))
    if tool in {"Read", "Edit"}:
        own = re.sub(r"\[(.)[^\]]*\]", r"\1", _of_call(content, root).replace("?", "a"))
        return probe_texts(fill_stars(own), tool, "file_path", path_matcher(content, root=root))
    if tool == "WebFetch":
        host = content.removeprefix("domain:")
        name_of = functools.partial(re.sub, "https://|[:/].*", "")
        return probe_texts(_urls(fill_stars(host)), tool, "url", lambda url: fnmatchcase(name_of(url), host))
    return tuple(_probe_arguments(kind, tool, content))


def _probe_arguments(kind: str, tool: str, content: str) -> Iterator[Probe]:
    if tool in NAMES:
        glob = re.sub(r"[ :]\*$", "*", content)
        yield from probe_texts(fill_stars(glob), tool, NAMES[tool], functools.partial(fnmatchcase, pat=glob))
    parameter = PARAMETER.fullmatch(content)
    if parameter is None or kind == "allow":
        return
    name, glob = parameter["name"], parameter["value"].strip()
    if glob not in {"true", "false"}:
        yield from probe_texts(fill_stars(glob), tool, name, functools.partial(fnmatchcase, pat=glob))
        return
    for value in (True, False):
        yield Probe(tool, {name: value}, f"{name}={value}", value is (glob == "true"))


def _urls(hosts: Iterable[str]) -> Iterator[str]:
    for host in (host for host in hosts if " " not in host):
        yield from (f"https://{host}/", f"https://{host}:444/", f"https://x.{host}/", f"https://{host}.invalid/")


def matcher(kind: str, content: str) -> Matcher:
    """Return whether a rule of a kind, with this in brackets, is about a command. Source: the manual."""
    pattern = _pattern(content)
    stem = pattern.removesuffix(" *")
    regex = "".join(
        ".*" if part == "*" else re.escape(part.replace("\\*", "*")) for part in re.split(r"(?<!\\)(\*)\**", stem)
    )
    regex += "( .*)?" if stem != pattern else ""

    def fits(command: str) -> bool:
        plain = re.sub(r"^(\w+=\S* +)+", "", command)
        return any(re.fullmatch(regex, text, re.DOTALL) for text in (command, plain))

    def permits(text: str) -> bool:
        has_git = text.startswith("cd ") and re.search(r"\bgit\b", text)
        return not has_git and is_about_all(text, fits)

    return permits if kind == "allow" else functools.partial(is_about_any, matches=fits)


def _pattern(content: str) -> str:
    return re.sub(r":\*$", " *", content)


def path_matcher(content: str, *, root: str) -> Matcher:
    """Return whether a rule is about a path; `root` is a leading `/`, empty for the workspace."""
    pattern = _absolute(content, root).rstrip("/")
    pieces = re.split(r"(/\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]+\])", pattern)
    regex = "".join(_WILD.get(piece) or _literal(piece) for piece in pieces) + "(/.*)?"

    def fits(text: str) -> bool:
        path = posixpath.normpath(posixpath.join(WORKSPACE, re.sub("^~(?=/|$)", HOME, text)))
        return re.fullmatch(regex, path, re.DOTALL) is not None

    return fits


def _literal(piece: str) -> str:
    return piece.replace("[!", "[^") if piece.startswith("[") else re.escape(piece)


def _absolute(content: str, root: str) -> str:
    """Return the pattern of a rule from the root of the file system on: a name alone is at any depth."""
    stem = _of_call(content.rstrip("/"), root)
    if stem.startswith("/"):
        return stem
    return f"/**/{stem}" if "/" not in stem else f"{WORKSPACE}/{stem.removeprefix('./')}"


def _of_call(content: str, root: str) -> str:
    if content.startswith("//"):
        return content[1:]
    if content.startswith("/"):
        content = f"{root or WORKSPACE}{content}"
    return re.sub("^~(?=/|$)", HOME, content)


def folders_of(table: Mapping[str, Any]) -> list[str]:
    """Return the folders next to the workspace that permissions name; not those that may be patterns."""
    listed = table.get("additionalDirectories", [])
    folders = [folder for folder in listed if isinstance(folder, str)] if isinstance(listed, list) else []
    return [folder.rstrip("/") for folder in folders if re.fullmatch(r"(~?/)?[\w. -]+(/[\w. -]+)*/?", folder)]


def built_in(folders: Sequence[str]) -> list[Draft]:
    """Return the rules; `folders` belong to the workspace."""
    workspace = ["**", *(f"{folder}/**" for folder in folders if ".." not in folder)]
    here = {"path": workspace, "mode": "acceptEdits"}
    protected = ({"path": _PROTECTED, "access": "write"},)
    assigns = {"args": {"command": {"exists": True, "regex": ASSIGNS}}}
    return [
        Draft("confirm", ("Bash",), {"command": ["rm *", "rmdir *"], "path": ["/", "~", "/*"]}),
        Draft("confirm", ("*",), {"path": _PROTECTED, "access": "write"}, (_BYPASS,)),
        # A permission for a command is none for it with variables that may change what it does.
        Draft("confirm", ("Bash",), assigns, (_BYPASS, {"args": {"command": {"regex": _ASSIGNS_SAFELY}}})),
        Draft("allow", _UNASKED),
        Draft("allow", WRITERS, here, protected),
        Draft("allow", ("Bash",), {"command": _CHANGE_FILES, **here}, protected),
    ]
