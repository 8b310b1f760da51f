"""The permissions of Claude Code: `permissions` of `settings.json`, whose classes are ours.

What it has built in is written out as rules.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from permitry.config.rule_text import Draft
from permitry.errors import PermitryError
from permitry_hosts.importers.claude_code_matcher import (
    NAMES,
    PARAMETER,
    PARAMETERS_OF_BASH,
    WRITERS,
    built_in,
    folders_of,
    probes,
)
from permitry_hosts.importers.commands import add_examples, examples_of, narrow_pattern, restrict
from permitry_hosts.importers.drafts import Imported, Outcome, Row, Source, are_texts
from permitry_hosts.importers.json_text import Located, read_json

__all__ = ["EFFECTS", "PLACES", "read_rules"]

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
_ONLY_MANAGED = "allowManagedPermissionRulesOnly"
_ANYWHERE = "/**"
_LEFT_TO_SESSION = (Outcome.DROPPED, "a mode that permits is left to the session")
_OTHER_MODE = (Outcome.DROPPED, "the host says the mode of each call")
_MODES = {
    "dontAsk": (Outcome.SAME, "what no rule permits is blocked, and what asks is blocked"),
    "default": (Outcome.SAME, "what no rule permits is asked about"),
    "bypassPermissions": _LEFT_TO_SESSION,
    "auto": _LEFT_TO_SESSION,
    "acceptEdits": (Outcome.STRICTER, "the host says the mode of each call; without one it is default"),
}
_SUBJECTS = {"command", "file_path", "path", "notebook_path", "url"}
"""Arguments that no parameter of a rule may name: the rule has words of its own for them."""
_READERS = {"Grep", "Glob", "LS"}
_WRITERS = {"NotebookEdit", "NotebookRead", "MultiEdit", "Write"}
"""Tools whose rules about paths have no effect: those for Read and Edit count."""
_RUNNERS = ("watch", "setsid", "ionice", "flock")
_FINDS = ["find ** {-delete,-exec,-execdir,-ok,-okdir} **"]


def read_rules(sources: Sequence[Source]) -> Imported:
    """Return the rules of settings files. Raises: `PermitryError` for what is none."""
    found = [(source, *_permissions(source)) for source in sources]
    modes = {table.get("defaultMode") for _, table, _ in found}
    is_closed = "dontAsk" in modes
    is_managed = any(_is_managed(each) and file.value.get(_ONLY_MANAGED) is True for each, _, file in found)
    rows = [
        _leave_out(row) if is_managed and not _is_managed(source) else row
        for source, table, file in found
        for row in _rows(source, table, file, is_closed=is_closed)
    ]
    folders = [folder for _, table, _ in found for folder in folders_of(table)]
    return Imported("claude-code", rows, built_in(folders), is_closed)


def _is_managed(source: Source) -> bool:
    return _MANAGED.fullmatch(source.name) is not None


def _leave_out(row: Row) -> Row:
    """Return a rule that is not managed, where only such count: a restriction still holds here."""
    if not row.drafts:
        return row
    if row.effect == "allow":
        return attrs.evolve(row, drafts=(), outcome=Outcome.IGNORED, note="only managed rules count")
    return attrs.evolve(row, outcome=Outcome.STRICTER, note="only managed rules count there")


def _root(source: Source) -> str:
    """Return the folder that a leading `/` of a path is, which is not known of managed settings."""
    return _ANYWHERE if _is_managed(source) else "~/.claude" if source.is_users else ""


def _permissions(source: Source) -> tuple[Mapping[str, Any], Located]:
    file = read_json(source.text, source.name)
    table = file.value.get("permissions", {}) if isinstance(file.value, dict) else None
    if not isinstance(table, dict):
        raise PermitryError(f"`{source.name}` is not a settings file of Claude Code: `permissions` is not an object")
    for kind in EFFECTS:
        listed = table.get(kind, [])
        if not are_texts(listed):
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
            yield Row(place, f"defaultMode {value}", "allow", (), *_MODES.get(value, _OTHER_MODE))
        elif kind == "additionalDirectories":
            note = "part of the workspace in the mode acceptEdits, in the block of what is built in"
            yield Row(place, kind, "allow", (), Outcome.STRICTER, note)
        else:
            yield Row(place, kind, "allow", (), Outcome.DROPPED, "it is not a rule about calls")


@attrs.frozen
class _Rule:
    """A rule: its class, our effect, its tool, what is in the brackets, and what a leading `/` is."""

    kind: str
    effect: str
    tool: str
    content: str
    root: str

    @property
    def is_permission(self) -> bool:
        return self.kind == "allow"

    @property
    def is_whole(self) -> bool:
        """Whether it is about all of its tool."""
        return self.content == "*"

    @property
    def parameter(self) -> tuple[str, str] | None:
        """The parameter that it names, and the value."""
        found = PARAMETER.fullmatch(self.content)
        return found and (found["name"], found["value"].strip())

    @property
    def names_subject(self) -> bool:
        """Whether its parameter is an argument that a rule has words of its own for."""
        return self.parameter is not None and self.parameter[0] in _SUBJECTS


def _row(place: str, kind: str, text: str, *, root: str, is_closed: bool) -> Row:
    effect = "block" if is_closed and kind == "ask" else EFFECTS[kind]
    shown = f"{kind} {text}"
    found = _RULE.fullmatch(text)
    if found is None:
        return _row_unread(place, shown, effect, text)
    content = "*" if found["content"] is None else found["content"]
    rule = _Rule(kind, effect, found["tool"], content, root)
    if rule.tool in _WRITERS and not rule.is_whole:
        return Row(place, shown, effect, (), Outcome.IGNORED, "Read and Edit say what files a tool may touch")
    drafts = tuple(_drafts(rule))
    if not drafts:
        return _unsaid(place, shown, rule)
    tried = probes(kind, rule.tool, content or "*", root=root)
    row = Row(place, shown, effect, drafts, *_compare(rule), probes=tried)
    is_below = root and re.match("/(?!/)", content) and rule.tool in ("Read", "Edit")
    return _below(row, root) if is_below else row


def _row_unread(place: str, shown: str, effect: str, text: str) -> Row:
    if effect == "allow":
        return Row(place, shown, effect, (), Outcome.IGNORED, "it is not a rule")
    name = re.match(r"[A-Za-z_]+", text)
    drafts = (Draft(effect, (name[0] if name else "*",)),)
    return Row(place, shown, effect, drafts, Outcome.WIDENED, "it is not a rule that can be read: the whole tool")


def _below(row: Row, root: str) -> Row:
    if root != _ANYWHERE:
        notes = filter(None, (row.note, f"in the settings of a user `/` is `{root}/`"))
        return attrs.evolve(row, note="; ".join(notes))
    note = "in managed settings it is not known where `/` is"
    if row.effect == "allow":
        return attrs.evolve(row, drafts=(), outcome=Outcome.DROPPED, note=note)
    return attrs.evolve(row, outcome=Outcome.WIDENED, note=note)


def _unsaid(place: str, shown: str, rule: _Rule) -> Row:
    effect = rule.effect
    if rule.is_permission and rule.is_whole:
        note = "a permission for several tools must name a server"
        return Row(place, shown, effect, (), Outcome.IGNORED, note)
    if rule.is_permission:
        return Row(place, shown, effect, (), Outcome.DROPPED, "it cannot be said")
    if rule.parameter and rule.names_subject:
        note = f"`{rule.parameter[0]}` cannot be a parameter of a rule"
        return Row(place, shown, effect, (), Outcome.IGNORED, note)
    note = f"it is about all of `{rule.tool}`"
    return Row(place, shown, effect, (Draft(effect, (rule.tool,)),), Outcome.WIDENED, note)


def _compare(rule: _Rule) -> tuple[Outcome, str]:
    if rule.is_whole:
        return Outcome.SAME, ""
    if rule.is_permission:
        return (Outcome.STRICTER, "it is for https alone") if rule.tool == "WebFetch" else (Outcome.SAME, "")
    if rule.tool in ("Read", "Edit"):
        return Outcome.STRICTER, "it holds for every tool and command"
    if rule.tool in _READERS:
        return Outcome.STRICTER, "there only rules for Read are sure to hold"
    return Outcome.SAME, ""


def _drafts(rule: _Rule) -> Iterable[Draft]:
    if rule.is_whole:
        return _on_tool(rule.effect, rule.tool)
    match rule.tool:
        case "Bash":
            is_parameter = rule.parameter is not None and rule.parameter[0] in PARAMETERS_OF_BASH
            return _on_parameter(rule) if is_parameter else _on_command(rule)
        case "Read" | "Edit":
            return _on_path(rule)
        case "WebFetch":
            return _on_host(rule)
        case tool if tool in _READERS and not rule.is_permission and rule.parameter is None:
            return [Draft(rule.effect, (tool,), {"path": _paths(rule)})]
        case _:
            # With a colon it may be the name of what a plugin brings, or a parameter with its value.
            return [*_on_name(rule), *_on_parameter(rule)]


def _on_path(rule: _Rule) -> Iterator[Draft]:
    """Yield the rule for a path: a restriction is about every tool, a permission for some path."""
    tools: tuple[str, ...] = ("*",)
    if rule.is_permission:
        tools = ("Read",) if rule.tool == "Read" else WRITERS
        if not rule.content.strip("/. "):
            return
    when = {"path": _paths(rule)}
    access = "read" if rule.tool == "Read" else ["write", "delete"]
    match = _plain(when["path"][:1])
    yield Draft(rule.effect, tools, {**when, "access": access}, match=match)
    if rule.tool == "Read" and not rule.is_permission:
        # They show what they change.
        yield Draft(rule.effect, WRITERS, when, match=match)


def _on_host(rule: _Rule) -> Iterator[Draft]:
    host = rule.content.removeprefix("domain:")
    if rule.is_permission and not re.fullmatch(r"(\*\.)?[^*]+|\*", host):
        return
    when = {"host": [host]}
    if host == "*":
        yield Draft(rule.effect, ("WebFetch",), when)
    else:
        match = (f"https://{host.replace('*.', 'a.')}/",)
        yield Draft(rule.effect, ("WebFetch",), when, match=match, no_match=("https://other.invalid/",))


def _on_tool(effect: str, name: str) -> Iterator[Draft]:
    """Yield the rule for a tool; a pattern permits only tools of one server, named in both ways."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    match = () if "*" in name else (name,)
    selectors: tuple[str, ...] = WRITERS if name == "Edit" else (name,)
    if name.startswith("mcp__"):
        selector = f"mcp:{server}/{tool or '*'}"
        match = () if "*" in selector else (selector,)
        other = [f"mcp__{server}__{tool or '*'}"] if effect == "allow" else _over_the_server(server, tool)
        selectors = (selector, *other)
    is_of_several = "*" in (server if name.startswith("mcp__") else name)
    if effect != "allow" or not is_of_several:
        yield Draft(effect, selectors, match=match)


def _over_the_server(server: str, tool: str) -> Iterator[str]:
    """Yield the selectors for a pattern in which a star of the server goes on into the name of the tool."""
    rest = f"__{tool}" if tool else ""
    for star in re.finditer(r"\*", server):
        if star.end() < len(server) or tool:
            yield f"mcp:{server[: star.end()]}/*{server[star.end() :]}{rest}"


def _on_name(rule: _Rule) -> Iterator[Draft]:
    """Yield the rule for a name in an argument; a star in a permission is not certain to be one."""
    if rule.tool not in NAMES:
        return
    name = rule.content
    tools = ("Skill",) if rule.tool == "Skill" else ("Agent", "Task")
    test: dict[str, Any] = {"glob": re.sub(r"[ :]\*$", "*", name)} if "*" in name else {"eq": name}
    if not rule.is_permission or "eq" in test:
        yield Draft(rule.effect, tools, {"args": {NAMES[rule.tool]: {"exists": True, **test}}})


def _on_parameter(rule: _Rule) -> Iterator[Draft]:
    if rule.parameter is None or rule.names_subject or rule.is_permission:
        return
    name, value = rule.parameter
    test: dict[str, Any] = {"eq": value == "true"} if value in ("true", "false") else {"glob": value}
    tools = tuple(draft.tools[0] for draft in _on_tool(rule.effect, rule.tool))
    yield Draft(rule.effect, tools, {"args": {name: {"exists": True, **test}}})


def _on_command(rule: _Rule) -> Iterator[Draft]:
    """Yield the rule for a command: a permission for a prefix covers none that runs another."""
    if rule.names_subject:
        return
    if not rule.is_permission:
        yield from (add_examples(Draft(rule.effect, ("Bash",), when)) for when in restrict(rule.content))
        return
    pattern = narrow_pattern(rule.content)
    if pattern is None:
        return
    program, is_prefix = pattern.split()[0], pattern.endswith("*")
    if is_prefix and program in _RUNNERS:
        return
    match, no_match = examples_of(pattern)
    unless = ({"command": _FINDS},) if is_prefix and fnmatchcase("find", program) else ()
    yield Draft(rule.effect, ("Bash",), {"command": [pattern]}, unless, match=match, no_match=no_match)


def _paths(rule: _Rule) -> list[str]:
    """Return patterns of gitignore's kind: one is about all below it."""
    pattern = _pattern(rule, rule.content.rstrip("/"))
    return [pattern] if pattern.endswith("**") else [pattern, f"{pattern}/**"]


def _pattern(rule: _Rule, content: str) -> str:
    if content.startswith("//"):
        return content[1:]
    if content.startswith("~"):
        return content
    if content.startswith("/"):
        return f"{rule.root}{content}" if rule.root else content[1:]
    is_name = "/" not in content
    is_folder = not rule.is_permission and re.fullmatch(r"[^/*]+/\*\*", content)
    return f"**/{content}" if is_name or is_folder else content.removeprefix("./")


def _plain(patterns: Sequence[str]) -> tuple[str, ...]:
    stems = [re.sub(r"/\*\*$", "/x", re.sub(r"^\*\*/", "", pattern)) for pattern in patterns]
    return tuple(stem for stem in stems if stem and not re.search(r"[*?\[\]]", stem))
