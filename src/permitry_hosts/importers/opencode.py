"""The permissions of opencode: `permission` of `opencode.json`.

Its rules are a list in which the last match decides, so they are translated from the end. A pattern
is about the one text a tool asks for: a command, a path, an agent, anything.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.config.rule_text import Conditions, Draft
from permitry.errors import PermitryError
from permitry_hosts.importers.commands import add_examples, narrow_pattern, restrict
from permitry_hosts.importers.drafts import Imported, Ordered, Outcome, Probe, Row, Source, phases_of
from permitry_hosts.importers.json_text import Located, read_json
from permitry_hosts.importers.probes import Matcher, fill_stars, matcher_of, probe_commands, probe_texts, probe_tools

__all__ = ["EFFECTS", "PLACES", "Rule", "matcher", "order_rules", "read_rules"]

PLACES = ("~/.config/opencode/opencode.json", "opencode.json", "opencode.jsonc")
EFFECTS = {"allow": "allow", "ask": "confirm", "deny": "block"}

_TOOLS = {
    "edit": ("edit", "multiedit", "write", "apply_patch", "patch"),
    "bash": ("bash",),
    "todowrite": ("todowrite", "todoread"),
}
"""The tools that ask for a permission of another name than theirs, or of theirs among others."""
_ARGUMENTS = {
    "skill": "name", "task": "subagent_type", "websearch": "query", "codesearch": "query", "glob": "pattern",
    "grep": "pattern",
}  # fmt: skip
_PROBED = {"edit": "filePath", "read": "filePath", "list": "path", "webfetch": "url"}
_PATHS = ("edit", "read", "list", "external_directory")
_MOST_STARS = 4
_WITHOUT_TEXT = ("todowrite", "lsp", "question")
_KEYS = (*_PATHS, *_ARGUMENTS, "bash", "webfetch", "doom_loop", *_WITHOUT_TEXT)
_OF_FILES = ("bash", "read", "glob", "grep", "list", "lsp", *_TOOLS["edit"])
_WORKSPACE: Conditions = {"path": [".", "**"]}


@attrs.frozen
class Rule:
    """One rule: for what permission, for what text, what happens, its place, and the agent it is for, if only one."""

    permission: str
    pattern: str
    action: str
    place: str
    agent: str = ""


def read_rules(sources: Sequence[Source]) -> Imported:
    """Return the permissions of files, the later ones first. Raises: `PermitryError`."""
    rules = [rule for source in sources for rule in _rules(source)]
    # What is for one agent goes before what is for all, in whatever file.
    return order_rules(sorted(rules, key=lambda rule: rule.agent != ""))


def order_rules(rules: Sequence[Rule]) -> Imported:
    """Return rules, of which the last match decides."""
    last_first = list(reversed(rules))
    made = [[_of_agent(rule, each) for each in _translate(rule)] for rule in last_first]
    rows = [
        attrs.evolve(_row(rule, drafts), probes=_probes(rule), alone=tuple(each.alone for each in several))
        for rule, several, drafts in zip(last_first, made, phases_of(made), strict=True)
    ]
    return Imported("opencode", rows[::-1], _BUILT_IN)


def _rules(source: Source) -> Iterator[Rule]:
    file = read_json(source.text, source.name)
    if not isinstance(file.value, dict):
        raise PermitryError(f"`{source.name}` is not a configuration of opencode: it is not an object")
    yield from _permissions(source.name, file, ("permission",))
    for name in ("agent", "mode"):
        agents = file.value.get(name)
        for agent, settings in agents.items() if isinstance(agents, dict) else ():
            if isinstance(settings, dict):
                yield from _permissions(source.name, file, (name, agent, "permission"), settings, agent)


def _permissions(
    name: str, file: Located, above: tuple[str, ...], table: Mapping[str, Any] | None = None, agent: str = ""
) -> Iterator[Rule]:
    for permission, value in _table((file.value if table is None else table).get("permission", {})):
        for pattern, action in _table(value):
            path = (*above, permission, pattern) if isinstance(value, dict) else (*above, permission)
            place = f"{name}:{file.lines.get(path) or file.lines[above]}"
            if not (isinstance(action, str) and action in EFFECTS):
                raise PermitryError(f"{place}: `{action}` is not allow, ask or deny")
            yield Rule(permission, pattern, action, place, agent)


def _table(value: object) -> Iterable[tuple[str, object]]:
    """Return the entries of a table; whatever else it is, is said of everything."""
    return value.items() if isinstance(value, dict) else [("*", value)]


def _translate(rule: Rule) -> Iterator[Ordered]:
    effect = EFFECTS[rule.action]
    if rule.permission == "doom_loop":
        if effect != "allow":
            yield Ordered(effect, ("*",), {"repeat": 3})
    elif rule.permission == "external_directory":
        # A permission to leave the workspace does not permit what is done there.
        if effect != "allow":
            paths = ["/**"] if rule.pattern == "*" else _paths(rule.pattern, effect)
            yield Ordered(effect, _OF_FILES, {"path": paths}, unless=(_WORKSPACE,))
    elif rule.pattern == "*":
        yield Ordered(effect, _tools(rule.permission, effect))
    elif rule.permission in _KEYS:
        for when in _conditions(rule.permission, rule.pattern, effect):
            # What is about the text of a whole call cannot be an exception of another rule.
            is_exact = rule.permission != "bash" or "command" in when
            yield Ordered(effect, _tools(rule.permission, effect), when, exact=is_exact)
    elif effect != "allow":
        # Whatever the tool asks for: each of the kinds that are known, and any text of other tools.
        for when in (*_on_commands(rule.pattern, effect), {"text": {"regex": _regex(rule.pattern)}}):
            yield Ordered(effect, _tools(rule.permission, effect), when, exact=False)


def _of_agent(rule: Rule, made: Ordered) -> Ordered:
    return attrs.evolve(made, when={**made.when, "agent": [rule.agent]}) if rule.agent else made


def _tools(permission: str, effect: str) -> tuple[str, ...]:
    if permission in _TOOLS:
        return _TOOLS[permission]
    is_open = "*" in permission
    if permission == "*" or (effect == "allow" and not is_open):
        return (permission,)
    # The tools of servers have names of their server and theirs, joined by one line; both may have more of them.
    places = [found.start() for found in re.finditer("_", permission)]
    if is_open and "*" in permission[: places[0] if places else None]:
        return (permission, "mcp:*/*")
    splits = [(permission[:at], permission[at + 1 :]) for at in (places[:1] if effect == "allow" else places)]
    return (permission, *(f"mcp:{server}/{tool}" for server, tool in splits if server and tool))


def _conditions(permission: str, text: str, effect: str) -> list[Conditions]:
    if permission == "bash":
        return _on_commands(text, effect)
    if permission in _WITHOUT_TEXT:
        return [] if effect == "allow" else [{}]
    return [_condition(permission, text, effect)]


def _on_commands(text: str, effect: str) -> list[Conditions]:
    if effect != "allow":
        return restrict(text.replace("?", "*"))
    pattern = narrow_pattern(text)
    return [] if pattern is None else [{"command": [pattern]}]


def _condition(permission: str, text: str, effect: str) -> Conditions:
    if permission in _PATHS:
        return {"path": _paths(text, effect)}
    if permission == "webfetch":
        found = re.fullmatch(r"https?://([^/*]+|\*\.[^/*]+)(/\*?)?", text)
        return {"host": [found[1]]} if found else {"args": {"url": {"exists": True, "regex": _regex(text)}}}
    return {"args": {_ARGUMENTS[permission]: {"exists": True, "regex": _regex(text)}}}


def _paths(text: str, effect: str) -> list[str]:
    """Return patterns for a text in which a star is any text, slashes included: all of them, or one in a permission."""
    text = re.sub(r"/\*$", "/**", re.sub(r"^\$HOME(?=/|$)", "~", text))
    first, *others = re.split(r"(?<!\*)\*(?!\*)", text)
    if effect == "allow":
        return [text if first or not others else f"**/{text}"]
    if len(others) > _MOST_STARS:
        return ["/**"]
    # What begins with a star is about paths outside of the workspace as well.
    found = [f"/{first}" if first.startswith("**") else first]
    for part in others:
        found = [f"{start}{star}{part}" for start in found for star in (("*", "*/**/*") if start else ("/**/*",))]
    return found


def _probes(rule: Rule) -> tuple[Probe, ...]:
    if rule.agent or rule.permission in ("external_directory", "doom_loop"):
        return ()
    if rule.pattern == "*":
        tools = _TOOLS.get(rule.permission, (rule.permission,))
        regexes = list(map(_regex, tools))
        names = itertools.chain.from_iterable(map(fill_stars, tools))
        return probe_tools(names, lambda name: any(re.fullmatch(regex, name) for regex in regexes))
    own = fill_stars(_expand(rule.pattern).replace("?", "a"))
    if rule.permission == "bash":
        return probe_commands(own, "bash", matcher(rule))
    if rule.permission == "webfetch":
        own = [text for text in own if " " not in text]
    argument = {**_ARGUMENTS, **_PROBED}.get(rule.permission)
    return () if argument is None else probe_texts(own, rule.permission, argument, matcher(rule))


def matcher(rule: Rule) -> Matcher:
    """Return what opencode says of texts: whether a rule is about them; of a command it looks at each part."""
    pattern = _expand(rule.pattern)
    stem = pattern.removesuffix(" *")
    regex = _regex(stem) + ("( .*)?" if stem != pattern else "")

    def fits(text: str) -> bool:
        return re.fullmatch(regex, text) is not None

    if rule.permission != "bash":
        return fits
    return matcher_of(fits, is_permission=rule.action == "allow")


def _expand(pattern: str) -> str:
    return re.sub(r"^(~|\$HOME)(?=/|$)", "/home/user", pattern.replace("\\", "/"))


def _regex(text: str) -> str:
    return "(?s)" + "".join({"*": ".*", "?": "."}.get(each, re.escape(each)) for each in text)


def _row(rule: Rule, drafts: Sequence[Draft | None]) -> Row:
    effect = EFFECTS[rule.action]
    shown = " ".join(filter(None, (rule.action, rule.permission, rule.pattern, rule.agent and f"of {rule.agent}")))
    kept = tuple(add_examples(draft) for draft in drafts if draft is not None)
    if not drafts:
        return Row(rule.place, shown, effect, (), *_why_nothing(rule, effect))
    if not kept:
        return Row(rule.place, shown, effect, (), Outcome.IGNORED, "a later rule decides about all of it")
    if rule.agent:
        note = "the hook of opencode does not say the agent"
        return Row(rule.place, shown, effect, kept, Outcome.UNREACHED, note)
    is_without = rule.permission not in _KEYS or rule.permission in _WITHOUT_TEXT
    if (is_without and rule.pattern != "*") or rule.permission == "external_directory":
        return Row(rule.place, shown, effect, kept, Outcome.WIDENED, "it is about more calls than there")
    return Row(rule.place, shown, effect, kept)


def _why_nothing(rule: Rule, effect: str) -> tuple[Outcome, str]:
    if effect != "allow" or not re.sub(r" \*$", "", rule.pattern).strip():
        return Outcome.IGNORED, "no command is an empty text"
    is_of_session = rule.permission in ("doom_loop", "external_directory")
    return Outcome.DROPPED, "it permits nothing by itself" if is_of_session else "it cannot be said"


_BUILT_IN = (
    Draft("confirm", ("read",), {"path": ["/**/*.env", "/**/*.env.*"]}, ({"path": ["/**/*.env.example"]},)),
    Draft("confirm", _OF_FILES, {"path": ["/**"]}, (_WORKSPACE,)),
    Draft("confirm", ("*",), {"repeat": 3}),
)
