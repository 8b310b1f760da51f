"""The policies of Gemini CLI: `[[rule]]` of its TOML files, and the lists in its settings.

Its rules are a list in which the highest priority decides. What a permission cannot say is left out, and what a
restriction cannot say is widened.
"""

import functools
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import attrs

from permitry.config.catalogue import find_shipped
from permitry.config.diagnostics import SourceText
from permitry.config.rule_text import Conditions, Draft
from permitry.config.toml import load_toml
from permitry.errors import ConfigError, Problem
from permitry_hosts.importers.claude_code_matcher import ASSIGNS
from permitry_hosts.importers.commands import add_examples
from permitry_hosts.importers.drafts import Imported, Ordered, Outcome, Probe, Row, Source, are_texts, phases_of
from permitry_hosts.importers.gemini_patterns import on_arguments, on_commands, own_texts, prefix_of
from permitry_hosts.importers.gemini_settings import Rule, entries_of, is_settings
from permitry_hosts.importers.probes import Matcher, fill_stars, is_about_any, parts_of, probe_commands, probe_tools

__all__ = ["EFFECTS", "PLACES", "Rule", "matcher", "order_rules", "read_rules"]

PLACES = ("~/.gemini/policies/*.toml", ".gemini/settings.json", "~/.gemini/settings.json")
EFFECTS = {"allow": "allow", "ask_user": "confirm", "deny": "block"}
SHELLS = ("run_shell_command", "shell")
_SHELL = SHELLS[:1]

_MODES = {"plan": ["plan", "planning"], "yolo": ["yolo"], "default": ["default"], "autoEdit": ["autoEdit"]}
_SAME_TOOL = {"search_file_content": "grep_search", "grep_search": "search_file_content"}
_KEYS = {
    "allowRedirection", "argsPattern", "commandPrefix", "commandRegex", "decision", "denyMessage", "interactive",
    "mcpName", "modes", "name", "priority", "subagent", "toolAnnotations", "toolName",
}  # fmt: skip
_TEXTS = ("toolName", "commandPrefix")
_TEXT = ("argsPattern", "commandRegex", "mcpName", "subagent", "denyMessage")


def read_rules(sources: Sequence[Source]) -> Imported:
    """Return the rules of policy and settings files. Raises: `PermitryError` for what is none."""
    entries = entries_of([source for source in sources if is_settings(source)])
    rules = [rule for source in sources if not is_settings(source) for rule in _rules(source)]
    rules += [each for each in entries if isinstance(each, Rule)]
    made = order_rules(rules)
    return attrs.evolve(made, rows=[*made.rows, *(each for each in entries if isinstance(each, Row))])


def order_rules(rules: Sequence[Rule]) -> Imported:
    """Return rules, of which the highest priority is asked first."""
    ordered = sorted(rules, key=lambda rule: -rule.table.get("priority", 0))
    made = [list(_translate(rule)) for rule in ordered]
    rows = list(map(_row, ordered, made, phases_of(made)))
    return Imported("gemini", rows, _BUILT_IN)


def _rules(source: Source) -> Iterator[Rule]:
    text = SourceText(source.name, source.text)
    try:
        tables = load_toml(source.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError([Problem(source.name, 0, 0, 0, f"it is not TOML: {error}")]) from None
    listed = tables.get("rule", [])
    problems = [
        text.problem((key,), f"Gemini CLI does not know `{key}`", "a rule begins with `[[rule]]`", key=True)
        for key in tables.keys() - {"rule", "safety_checker"}
    ]
    for number, table in enumerate(listed if isinstance(listed, list) else []):
        problems += [text.problem(("rule", number, *path), message) for path, message in _mistakes(table)]
    if problems:
        raise ConfigError(problems)
    for number, table in enumerate(listed):
        camel = {_camel(key): value for key, value in table.items()}
        yield Rule(camel, text.source(("rule", number)))


def _camel(key: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), key)


def _mistakes(table: object) -> Iterator[tuple[tuple[str, ...], str]]:
    if not isinstance(table, dict):
        yield (), "a rule is a table"
        return
    known = {_camel(key): key for key in table}
    yield from (((key,), f"Gemini CLI does not know `{key}`") for name, key in known.items() if name not in _KEYS)
    for name in _wrong_keys({name: table[key] for name, key in known.items()}):
        yield (known[name],) if name in known else (), f"`{name}` is missing or wrong"


def _wrong_keys(table: Mapping[str, Any]) -> Iterator[str]:
    for name in (*_TEXTS, *_TEXT):
        value = table.get(name, "")
        if not (isinstance(value, str) or (name in _TEXTS and are_texts(value))):
            yield name
    # In a mapping a list cannot be looked up.
    if table.get("decision") not in tuple(EFFECTS):
        yield "decision"
    if not isinstance(table.get("priority"), int | float) or not isinstance(table.get("toolAnnotations", {}), dict):
        yield "priority"
    modes = table.get("modes", [])
    if not are_texts(modes) or set(modes) - set(_MODES):
        yield "modes"


def _translate(rule: Rule) -> Iterator[Ordered]:
    table, effect = rule.table, EFFECTS[rule.table["decision"]]
    message = table.get("denyMessage", "")
    session = _session(table)
    if effect == "allow" and table.get("toolAnnotations"):
        return  # What a server says of its tools permits nothing.
    is_exact = not {"argsPattern", "commandRegex"} & table.keys() and not table.get("toolAnnotations")
    for name in rule.names:
        tools = _selectors(name, table.get("mcpName"), effect)
        for condition in _conditions(table, effect, name):
            firm = bool(condition) or name not in ("run_shell_command", "*")
            unless = _ASSIGNED if effect == "allow" and _is_of_text(table, condition) else ()
            made = Ordered(effect, tools, {**session, **condition}, firm, message, unless)
            yield from _order(table, attrs.evolve(made, exact=effect == "allow" or is_exact))
        if _may_be_an_agent(table, name):
            agent = {"args": {"agent_name": {"exists": True, "eq": name}}}
            yield Ordered(effect, ("invoke_agent",), {**session, **agent}, message=message)


def _is_of_text(table: Mapping[str, Any], condition: Conditions) -> bool:
    """Return whether a pattern is over the text of a command from its beginning, and no variable is set there."""
    has_pattern = bool({"commandPrefix", "commandRegex", "argsPattern"} & table.keys())
    return has_pattern and "command" in condition and not any("=" in text.split()[0] for text in condition["command"])


def _session(table: Mapping[str, Any]) -> Conditions:
    found: dict[str, Any] = {}
    modes = [word for mode in table.get("modes", []) for word in _MODES[mode]]
    if modes and set(table["modes"]) != set(_MODES):
        found["mode"] = modes
    if isinstance(table.get("interactive"), bool):
        found["attended"] = table["interactive"]
    if "subagent" in table:
        found["agent"] = [table["subagent"]]
    return found


def _selectors(name: str, server: str | None, effect: str) -> tuple[str, ...]:
    """Return the selectors of a tool; a permission also has the name by which its calls may name one of a server."""
    selector = _selector(name, server)
    if selector.startswith("mcp:"):
        hosts = "mcp_*" if selector == "mcp:*/*" else selector.replace(":", "_", 1).replace("/", "_", 1)
        return (selector, hosts) if effect == "allow" else (selector,)
    return (selector, *filter(None, (_SAME_TOOL.get(name),)))


def _selector(name: str, server: str | None) -> str:
    if name == "mcp_*" or (name == "*" and server == "*"):
        return "mcp:*/*"
    found = re.fullmatch("mcp_([^_]+)_.+", name)
    server = server or (found[1] if found else None)
    return name if server is None else f"mcp:{server}/{name.removeprefix(f'mcp_{server}_')}"


def _may_be_an_agent(table: Mapping[str, Any], name: str) -> bool:
    has_pattern = {"argsPattern", "commandPrefix", "commandRegex", "mcpName"} & table.keys()
    is_plain = re.fullmatch(r"[\w-]+", name) and not name.startswith("mcp_")
    return bool(is_plain) and not has_pattern and (name not in _tool_names() or name == "codebase_investigator")


def _tool_names() -> frozenset[str]:
    return frozenset(tomllib.loads(find_shipped("permitry:tools-gemini").read_text(encoding="utf-8"))["tool"])


def _conditions(table: Mapping[str, Any], effect: str, name: str) -> list[Conditions]:
    """Return the conditions of a rule, of which one is enough; none where a permission cannot be said."""
    if "commandPrefix" in table:
        prefixes = table["commandPrefix"]
        texts = [prefixes] if isinstance(prefixes, str) else prefixes
        return [prefix_of(text) for text in texts]
    if "commandRegex" in table:
        return on_commands(table["commandRegex"], effect)
    if (regex := table.get("argsPattern")) is None:
        return [{}]
    return on_arguments(regex, effect, is_shell=name in SHELLS, is_flat=name in _tool_names())


def _order(table: Mapping[str, Any], rule: Ordered) -> Iterator[Ordered]:
    """Yield a rule; a permission for a shell covers redirections only where it says so."""
    may_redirect = table.get("allowRedirection") or set(table.get("modes", ["default"])) <= {"autoEdit", "yolo"}
    is_about_all = not {"command", "args"} & rule.when.keys()
    is_shell = bool({"*", *SHELLS} & set(rule.tools))
    if rule.effect != "allow" or not is_shell or (may_redirect and is_about_all):
        yield rule
        return
    if "*" in rule.tools:
        yield attrs.evolve(rule, unless=(*rule.unless, {"tools": list(SHELLS)}))
    tools = SHELLS if "*" in rule.tools else rule.tools
    when = rule.when if "command" in rule.when else {**rule.when, "command": ["*"]}
    yield attrs.evolve(rule, tools=tools, when=when)
    if may_redirect:
        yield attrs.evolve(rule, tools=tools, when={**when, "path": ["/**"]})


def _row(rule: Rule, made: Sequence[Ordered], drafts: Sequence[Draft | None]) -> Row:
    table, effect = rule.table, EFFECTS[rule.table["decision"]]
    texts = _pattern_texts(table)
    shown = " ".join(filter(None, (table["decision"], "|".join(rule.names), " | ".join(texts))))
    kept = tuple(add_examples(draft) for draft in drafts if draft is not None)
    if not made:
        return Row(rule.place, shown, effect, (), Outcome.DROPPED, "a permission for such arguments cannot be said")
    if not kept:
        return Row(rule.place, shown, effect, (), Outcome.IGNORED, "an earlier rule decides about all of it")
    # What is tried is asked in one session, of one mode.
    alone = tuple(attrs.evolve(each, when=_without_session(each.when)).alone for each in made)
    row = Row(rule.place, shown, effect, kept, probes=_probes(rule), alone=alone)
    if unknown := _unknown(made[0].when):
        return attrs.evolve(
            row, outcome=Outcome.UNREACHED, note=f"the hook of Gemini CLI does not say {unknown}", probes=()
        )
    keys = {"args", "command", "text"}
    lacks_pattern = "argsPattern" in table and all(keys.isdisjoint(each.when) for each in made)
    is_wider = table.get("toolAnnotations") or "text" in made[0].when or lacks_pattern
    if is_wider and effect != "allow":
        return attrs.evolve(row, outcome=Outcome.WIDENED, note="it is about more calls than there")
    has_anchor = re.search(r"^\^|(?<!\\)\$", table.get("commandRegex", ""))
    return attrs.evolve(row, note="`^` and `$` are here the ends of the command") if has_anchor else row


def _pattern_texts(table: Mapping[str, Any]) -> list[str]:
    pattern = table.get("commandPrefix") or table.get("commandRegex") or table.get("argsPattern") or ""
    return [pattern] if isinstance(pattern, str) else list(pattern)


def _unknown(when: Conditions) -> str:
    """Return what a rule needs to know of a session that the hook never names: it then applies to no call."""
    if "default" not in when.get("mode", ["default"]):
        return "the mode"
    if "agent" in when:
        return "the agent"
    return "that a user is there" if when.get("attended") else ""


def _without_session(when: Conditions) -> Conditions:
    return {key: value for key, value in when.items() if key not in ("mode", "attended")}


def _probes(rule: Rule) -> tuple[Probe, ...]:
    texts = [text for text in _pattern_texts(rule.table) if text.strip()]
    if not texts and not rule.table.get("toolAnnotations"):
        if set(rule.names) <= set(SHELLS) and "mcpName" not in rule.table:
            return probe_commands(["make it"], rule.names[0], bool)
        names = _full_names(rule)
        filled = itertools.chain.from_iterable(map(fill_stars, names))
        return probe_tools(filled, lambda name: any(fnmatchcase(name, each) for each in names))
    matches = matcher(rule)
    if matches is None:
        return ()
    own = texts if "commandPrefix" in rule.table else own_texts(texts[0])
    return probe_commands(own, SHELLS[0], matches)


def _full_names(rule: Rule) -> list[str]:
    """Return the names of tools with that of their server, and the other name of a tool that has two."""
    server = rule.table.get("mcpName")
    names = [name if server is None or name.startswith("mcp_") else f"mcp_{server}_{name}" for name in rule.names]
    names = ["mcp_*_*" if name == "mcp_*" else name for name in names]
    return [*names, *(_SAME_TOOL[name] for name in names if name in _SAME_TOOL)]


def matcher(rule: Rule) -> Matcher | None:
    """Return whether a rule is about a command, by the JSON of its arguments; None for other rules."""
    table = rule.table
    texts = [text for text in _pattern_texts(table) if text.strip()]
    is_of_shell = bool(set(SHELLS) & set(rule.names)) and not {"toolAnnotations", "mcpName"} & table.keys()
    if not texts or not is_of_shell:
        return None
    regexes = [f'"command":{re.escape(json.dumps(text)[:-1])}(?:[\\s"]|\\\\")' for text in texts]
    if "commandPrefix" not in table:
        regexes = [f'"command":"{texts[0]}' if "commandRegex" in table else texts[0]]
    try:
        regex = re.compile("|".join(f"(?:{each})" for each in regexes))
    except re.error:
        return None

    def fits(command: str) -> bool:
        return regex.search('{\0"command":' + json.dumps(command, ensure_ascii=False) + "\0}") is not None

    def permits(text: str) -> bool:
        return fits(text) and all(map(fits, parts_of(text)))

    return permits if table["decision"] == "allow" else functools.partial(is_about_any, matches=fits)


_DANGEROUS = [
    "rm {-f,-rf,-fr,-r} *",
    "find ** {-delete,-exec,-execdir,-ok,-okdir,-fprint,-fprint0,-fprintf,-fls} **",
    "rg ** {--pre,--pre=*,--hostname-bin,--hostname-bin=*,--search-zip,-z} **",
    "git {-c,--config-env} **",
    "git {-c*,--config-env=*} **",
    "git {status,log,diff,show,branch} ** {--output,--output=*,--ext-diff,--textconv,--exec,--exec=*,--paginate} **",
    "base64 ** {-o,-o*,--output,--output=*} **",
]
_LISTS = "{-l,--list,-a,--all,-r,--remotes,-v,-vv,--verbose,--show-current,--format=*}"
_LISTS_BRANCHES = ["git branch", f"git branch {_LISTS}", f"git branch {_LISTS} {_LISTS}"]
_ASSIGNED: tuple[Conditions, ...] = ({"args": {"command": {"regex": ASSIGNS}}},)
"""A pattern is over the text of a command from its beginning, so variables before it are not permitted with it."""

_BUILT_IN = (
    Draft("confirm", _SHELL, {"args": {"additional_permissions": {"exists": True}}}),
    Draft("confirm", _SHELL, {"command": _DANGEROUS}, ({"mode": ["yolo"]},)),
    Draft("confirm", _SHELL, {"command": ["git branch *"]}, ({"mode": ["yolo"]}, {"command": _LISTS_BRANCHES})),
)
