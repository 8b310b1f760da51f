"""The permissions of Claude Code: `permissions` of `settings.json`.

Its classes are ours: what is denied is a restriction that blocks, what asks one that asks, and what
is allowed a permission. What it has built in is written out as rules.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from permitry.config.rule_text import Draft
from permitry.errors import PermitryError
from permitry_hosts.importers.claude_code_built_in import WRITERS, built_in, folders_of
from permitry_hosts.importers.claude_code_matcher import NAMES, PARAMETER, PARAMETERS_OF_BASH, probes
from permitry_hosts.importers.commands import examples_of, narrow_pattern, restrict
from permitry_hosts.importers.drafts import Imported, Outcome, Row, Source
from permitry_hosts.importers.json_text import Located, read_json

__all__ = ["EFFECTS", "PLACES", "imported"]

PLACES = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    "~/.claude/settings.json",
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
EFFECTS = {"deny": "block", "ask": "confirm", "allow": "allow"}

_RULE = re.compile(r"(?P<tool>[^()\s]+)(?:\((?P<content>.*)\))?", re.DOTALL)
_MANAGED = re.compile(r"(?:.*/)?managed-settings(?:\.d/[^/]+)?\.json", re.DOTALL)
_ANYWHERE = "/**"
_SUBJECTS = {"command", "file_path", "path", "notebook_path", "url"}
"""Arguments that no parameter of a rule may name: the rule has words of its own for them."""
_READERS = {"Grep", "Glob", "LS"}
_WRITERS = {"NotebookEdit", "NotebookRead", "MultiEdit", "Write"}
"""Tools whose rules about paths have no effect: those for Read and Edit count."""
_RUNNERS = ("watch", "setsid", "ionice", "flock")
_FINDS = ["find ** {-delete,-exec,-execdir,-ok,-okdir} **"]


def imported(sources: Sequence[Source]) -> Imported:
    """Return the rules of settings files.

    Raises: `PermitryError` for a file that is not such settings.
    """
    found = [(source, *_permissions(source)) for source in sources]
    modes = {table.get("defaultMode") for _, table, _ in found}
    is_closed = "dontAsk" in modes
    is_managed = any(_is_managed(each) and _are_all_rules_managed(file) for each, _, file in found)
    rows = [
        _left_out(row) if is_managed and not _is_managed(source) else row
        for source, table, file in found
        for row in _rows(source, table, file, is_closed=is_closed)
    ]
    folders = [folder for _, table, _ in found for folder in folders_of(table)]
    return Imported("claude-code", rows, built_in(folders), is_closed)


def _is_managed(source: Source) -> bool:
    return _MANAGED.fullmatch(source.name) is not None


def _are_all_rules_managed(file: Located) -> bool:
    return file.value.get("allowManagedPermissionRulesOnly") is True


def _left_out(row: Row) -> Row:
    """Return a rule that the host leaves out, as only managed ones count: a restriction holds here all the same."""
    if not row.drafts:
        return row
    if row.effect == "allow":
        return attrs.evolve(row, drafts=(), outcome=Outcome.IGNORED, note="only managed rules count")
    return attrs.evolve(row, outcome=Outcome.STRICTER, note="only managed rules count there")


def _root(source: Source) -> str:
    """Return the folder that a leading `/` of a path is: that of the settings, which is not known of managed ones."""
    return _ANYWHERE if _is_managed(source) else "~/.claude" if source.is_users else ""


def _permissions(source: Source) -> tuple[Mapping[str, Any], Located]:
    file = read_json(source.text, source.name)
    table = file.value.get("permissions", {}) if isinstance(file.value, dict) else None
    if not isinstance(table, dict):
        raise PermitryError(f"`{source.name}` is not a settings file of Claude Code: `permissions` is not an object")
    for kind in EFFECTS:
        listed = table.get(kind, [])
        if not (isinstance(listed, list) and all(isinstance(text, str) for text in listed)):
            raise PermitryError(f"`{source.name}`: `permissions.{kind}` is not a list of texts")
    return table, file


def _rows(source: Source, table: Mapping[str, Any], file: Located, *, is_closed: bool) -> Iterator[Row]:
    for kind, value in table.items():
        place = f"{source.name}:{file.lines[('permissions', kind)]}"
        if kind in EFFECTS:
            for number, text in enumerate(value):
                line = file.lines[("permissions", kind, number)]
                yield _row(f"{source.name}:{line}", kind, text, root=_root(source), is_closed=is_closed)
        elif kind == "defaultMode":
            yield Row(place, f"defaultMode {value}", "allow", (), *_mode(value))
        elif kind == "additionalDirectories":
            note = "part of the workspace in the mode acceptEdits, in the block of what is built in"
            yield Row(place, kind, "allow", (), Outcome.STRICTER, note)
        else:
            yield Row(place, kind, "allow", (), Outcome.DROPPED, "it is not a rule about calls")


def _mode(mode: object) -> tuple[Outcome, str]:
    match mode:
        case "dontAsk":
            return Outcome.SAME, "what no rule permits is blocked, and what asks is blocked"
        case "default":
            return Outcome.SAME, "what no rule permits is asked about"
        case "bypassPermissions" | "auto":
            return Outcome.DROPPED, "a mode that permits is left to the session"
        case "acceptEdits":
            return Outcome.STRICTER, "the host says the mode of each call; without one it is default"
    return Outcome.DROPPED, "the host says the mode of each call"


def _row(place: str, kind: str, text: str, *, root: str, is_closed: bool) -> Row:
    effect = "block" if is_closed and kind == "ask" else EFFECTS[kind]
    shown = f"{kind} {text}"
    found = _RULE.fullmatch(text)
    if found is None:
        if kind == "allow":
            return Row(place, shown, effect, (), Outcome.IGNORED, "it is not a rule")
        name = re.match(r"[A-Za-z_]+", text)
        drafts = (Draft(effect, (name[0] if name else "*",)),)
        return Row(place, shown, effect, drafts, Outcome.WIDENED, "it is not a rule that can be read: the whole tool")
    tool, content = found["tool"], found["content"]
    if tool in _WRITERS and content not in (None, "*"):
        return Row(place, shown, effect, (), Outcome.IGNORED, "Read and Edit say what files a tool may touch")
    made = tuple(_drafts(kind, effect, tool, content, root=root))
    if not made:
        return _unsaid(place, shown, kind, effect=effect, tool=tool, content=content)
    tried = probes(kind, tool, content or "*", root=root)
    row = Row(place, shown, effect, made, *_compared(kind, tool, content), probes=tried)
    is_below = root and re.match("/(?!/)", content or "") and tool in ("Read", "Edit")
    return _below(row, root) if is_below else row


def _below(row: Row, root: str) -> Row:
    """Return the row of a path below the folder of the settings, with what is known of that."""
    if root != _ANYWHERE:
        notes = filter(None, (row.note, f"in the settings of a user `/` is `{root}/`"))
        return attrs.evolve(row, note="; ".join(notes))
    note = "in managed settings it is not known where `/` is"
    if row.effect == "allow":
        return attrs.evolve(row, drafts=(), outcome=Outcome.DROPPED, note=note)
    return attrs.evolve(row, outcome=Outcome.WIDENED, note=note)


def _unsaid(place: str, shown: str, kind: str, *, effect: str, tool: str, content: str | None) -> Row:
    if kind == "allow":
        is_glob = content in (None, "*")
        note = "a permission for several tools must name a server" if is_glob else "it cannot be said"
        return Row(place, shown, effect, (), Outcome.IGNORED if is_glob else Outcome.DROPPED, note)
    parameter = PARAMETER.fullmatch(content or "")
    if parameter is not None and parameter["name"] in _SUBJECTS:
        return Row(place, shown, effect, (), Outcome.IGNORED, f"`{parameter['name']}` cannot be a parameter of a rule")
    return Row(place, shown, effect, (Draft(effect, (tool,)),), Outcome.WIDENED, f"it is about all of `{tool}`")


def _compared(kind: str, tool: str, content: str | None) -> tuple[Outcome, str]:
    if content in (None, "*"):
        return Outcome.SAME, ""
    if kind != "allow" and tool in ("Read", "Edit"):
        return Outcome.STRICTER, "it holds for every tool and command"
    if kind != "allow" and tool in _READERS:
        return Outcome.STRICTER, "there only rules for Read are sure to hold"
    if kind == "allow" and tool == "WebFetch":
        return Outcome.STRICTER, "it is for https alone"
    return Outcome.SAME, ""


def _drafts(kind: str, effect: str, tool: str, content: str | None, *, root: str) -> Iterator[Draft]:
    parameter = PARAMETER.fullmatch(content or "")
    if content in (None, "*"):
        yield from _on_tool(kind, effect, tool)
    elif tool == "Bash" and (parameter is None or parameter["name"] not in PARAMETERS_OF_BASH):
        yield from _on_command(kind, effect, content or "")
    elif tool in ("Read", "Edit") and (kind != "allow" or (content or "").strip("/. ")):
        tools = ("*",) if kind != "allow" else ("Read",) if tool == "Read" else WRITERS
        when = {"path": _paths(kind, content or "", root=root)}
        access = {} if tool == "Read" else {"access": ["write", "delete"]}
        yield Draft(effect, tools, {**when, **access}, match=_plain(when["path"][:1]))
    elif tool in _READERS and kind != "allow" and parameter is None:
        yield Draft(effect, (tool,), {"path": _paths(kind, content or "", root=root)})
    elif tool == "WebFetch":
        host = (content or "").removeprefix("domain:")
        if kind != "allow" or re.fullmatch(r"(\*\.)?[^*]+|\*", host):
            match = () if host == "*" else (f"https://{host.replace('*.', 'a.')}/",)
            yield Draft(
                effect, (tool,), {"host": [host]}, match=match, no_match=("https://other.invalid/",) * bool(match)
            )
    elif tool in NAMES:
        # With a colon it may be the name of what a plugin brings, or a parameter with its value.
        yield from _on_name(effect, ("Skill",) if tool == "Skill" else ("Agent", "Task"), NAMES[tool], content or "")
        yield from _on_parameter(kind, effect, tool, parameter)
    else:
        yield from _on_parameter(kind, effect, tool, parameter)


def _on_tool(kind: str, effect: str, name: str) -> Iterator[Draft]:
    """Yield the rule for a tool; a pattern for tools permits only those of one server.

    A restriction on `mcp:server/tool` holds for `mcp__server__tool`; a permission names the tool in both ways.
    """
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__"):
        selector = f"mcp:{server}/{tool or '*'}"
        if kind != "allow":
            yield Draft(
                effect, (selector, *_over_the_server(server, tool)), match=() if "*" in selector else (selector,)
            )
        elif "*" not in server:
            hosts = f"mcp__{server}__{tool or '*'}"
            yield Draft(effect, (selector, hosts), match=() if "*" in selector else (selector,))
    elif kind != "allow" or "*" not in name:
        yield Draft(effect, WRITERS if name == "Edit" else (name,), match=() if "*" in name else (name,))


def _over_the_server(server: str, tool: str) -> Iterator[str]:
    """Yield the selectors for a pattern in which a star of the server goes on into the name of the tool."""
    rest = f"__{tool}" if tool else ""
    for star in re.finditer(r"\*", server):
        if star.end() < len(server) or tool:
            yield f"mcp:{server[: star.end()]}/*{server[star.end() :]}{rest}"


def _on_name(effect: str, tools: tuple[str, ...], argument: str, name: str) -> Iterator[Draft]:
    """Yield the rule for a name in an argument; a star in a permission is not certain to be one."""
    test: dict[str, Any] = {"eq": name} if "*" not in name else {"glob": re.sub(r"[ :]\*$", "*", name)}
    if effect != "allow" or "eq" in test:
        yield Draft(effect, tools, {"args": {argument: {"exists": True, **test}}})


def _on_parameter(kind: str, effect: str, tool: str, parameter: re.Match[str] | None) -> Iterator[Draft]:
    """Yield the rule for a parameter: a restriction, which an absent one never matches."""
    if parameter is None or parameter["name"] in _SUBJECTS or kind == "allow":
        return
    value = parameter["value"].strip()
    test: dict[str, Any] = {"eq": value == "true"} if value in ("true", "false") else {"glob": value}
    tools = tuple(draft.tools[0] for draft in _on_tool("deny", effect, tool))
    yield Draft(effect, tools, {"args": {parameter["name"]: {"exists": True, **test}}})


def _on_command(kind: str, effect: str, content: str) -> Iterator[Draft]:
    """Yield the rule for a command: a permission for a prefix covers none that runs another."""
    parameter = PARAMETER.fullmatch(content)
    if parameter is not None and parameter["name"] in _SUBJECTS:
        return
    if kind != "allow":
        for when in restrict(content):
            match, no_match = examples_of(when["command"][0]) if "command" in when else ((), ())
            yield Draft(effect, ("Bash",), when, match=match, no_match=no_match)
        return
    pattern = narrow_pattern(content)
    is_prefix = pattern is not None and pattern.endswith("*")
    if pattern is None or (is_prefix and pattern.split()[0] in _RUNNERS):
        return
    match, no_match = examples_of(pattern)
    runs_find = is_prefix and fnmatchcase("find", pattern.split()[0])
    unless = ({"command": _FINDS},) if runs_find else ()
    yield Draft(effect, ("Bash",), {"command": [pattern]}, unless, match=match, no_match=no_match)


def _paths(kind: str, content: str, *, root: str) -> list[str]:
    """Return patterns of gitignore's kind, relative to the settings or to the workspace: one is about all below it."""
    pattern = _pattern(kind, content.rstrip("/"), root=root)
    return [pattern] if pattern.endswith("**") else [pattern, f"{pattern}/**"]


def _pattern(kind: str, content: str, *, root: str) -> str:
    if content.startswith("//"):
        return content[1:]
    if content.startswith("~"):
        return content
    if content.startswith("/"):
        return f"{root}{content}" if root else content[1:]
    is_name = "/" not in content
    is_folder = kind != "allow" and re.fullmatch(r"[^/*]+/\*\*", content)
    return f"**/{content}" if is_name or is_folder else content.removeprefix("./")


def _plain(patterns: Sequence[str]) -> tuple[str, ...]:
    """Return paths that fit the patterns, as far as they are plain."""
    stems = [re.sub(r"/\*\*$", "/x", re.sub(r"^\*\*/", "", pattern)) for pattern in patterns]
    return tuple(stem for stem in stems if stem and not re.search(r"[*?\[\]]", stem))
