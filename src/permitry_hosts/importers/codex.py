"""The rule files of Codex: `prefix_rule(...)`, `host_executable(...)` and `network_rule(...)`.

They are Starlark, and nothing is run. What Codex refuses is refused here as well, such as examples that do not hold.
A rule for the bare name of a program is for every path of it, unless Codex lists the paths, or has a rule for one.
"""

import functools
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.config.rule_text import Draft
from permitry.errors import ConfigError
from permitry_hosts.importers.commands import examples_of
from permitry_hosts.importers.drafts import Imported, Outcome, Row, Source, are_texts
from permitry_hosts.importers.probes import Matcher, matcher_of, probe_commands
from permitry_hosts.importers.starlark import problem_at, read_calls

__all__ = ["EFFECTS", "PLACES", "matcher", "read_rules"]

PLACES = (".codex/rules/*.rules", "~/.codex/rules/*.rules")
EFFECTS = {"allow": "allow", "prompt": "confirm", "forbidden": "block"}

_SHELLS = ("@shell",)
_PROTOCOLS = ("http", "https", "https_connect", "http-connect", "socks5_tcp", "socks5_udp")
_KEYS = {
    "prefix_rule": {"pattern", "decision", "justification", "match", "not_match"},
    "host_executable": {"name", "paths"},
    "network_rule": {"host", "protocol", "decision", "justification"},
}


@attrs.frozen
class _Declared:
    what: str
    values: Mapping[str, Any]
    place: str
    refuse: Callable[[str], ConfigError] = attrs.field(eq=False, repr=False)


def read_rules(sources: Sequence[Source]) -> Imported:
    """Return the rules of rule files. Raises: `ConfigError` for what is not one, with its place."""
    declared = [each for source in sources for each in _declarations(source)]
    _check_examples(declared)
    paths = {each.values["name"]: each.values["paths"] for each in declared if each.what == "host_executable"}
    firsts = [word for each in declared if each.what == "prefix_rule" for word in _words(each.values["pattern"][0])]
    exact = [word for word in firsts if "/" in word]
    return Imported("codex", [_row(each, paths, exact) for each in declared])


def _declarations(source: Source) -> Iterator[_Declared]:
    for call in read_calls(source, _KEYS):
        if not call.values.keys() <= _KEYS[call.what]:
            raise problem_at(source, call.node, f"`{call.what}` takes {', '.join(sorted(_KEYS[call.what]))} by name")
        if mistake := next(_MISTAKES[call.what](call.values), ""):
            raise problem_at(source, call.node, f"Codex refuses it: {mistake}")
        refuse = functools.partial(problem_at, source, call.node)
        yield _Declared(call.what, call.values, f"{source.name}:{call.node.lineno}", refuse)


def _mistakes_in_prefix(values: Mapping[str, Any]) -> Iterator[str]:
    pattern = values.get("pattern")
    if not (isinstance(pattern, list) and pattern and all(map(_words, pattern))):
        yield "`pattern` is a list of words, or of lists of words"
    yield from _mistakes_in_decision(values, EFFECTS)
    for name in ("match", "not_match"):
        listed = values.get(name, [])
        if not isinstance(listed, list) or not all(map(_argv, listed)):
            yield f"`{name}` is a list of commands"


def _mistakes_in_host(values: Mapping[str, Any]) -> Iterator[str]:
    name, paths = values.get("name"), values.get("paths")
    if not (isinstance(name, str) and name and "/" not in name):
        yield "`name` is the name of a program without a folder"
    elif not are_texts(paths):
        yield "`paths` is a list of paths"
    elif wrong := [path for path in paths or () if not (path.startswith("/") and path.rpartition("/")[2] == name)]:
        yield f"`{wrong[0]}` is not an absolute path of `{name}`"


def _mistakes_in_network(values: Mapping[str, Any]) -> Iterator[str]:
    host = values.get("host")
    if not (isinstance(host, str) and re.fullmatch(r"[^\s*/]+", host)):
        yield "`host` is the name of a host, without wildcards"
    if values.get("protocol") not in _PROTOCOLS:
        yield f"`protocol` is one of {', '.join(_PROTOCOLS)}"
    yield from _mistakes_in_decision(values, (*EFFECTS, "deny"))


def _mistakes_in_decision(values: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    if values.get("decision", "allow") not in known:
        yield f"`decision` is one of {', '.join(known)}"
    justification = values.get("justification", "-")
    if not (justification is None or (isinstance(justification, str) and justification.strip())):
        yield "`justification` is a text that says something"


_MISTAKES: Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "prefix_rule": _mistakes_in_prefix,
    "host_executable": _mistakes_in_host,
    "network_rule": _mistakes_in_network,
}


def _check_examples(declared: Sequence[_Declared]) -> None:
    paths = {each.values["name"]: each.values["paths"] for each in declared if each.what == "host_executable"}
    for rule in declared:
        for name in ("match", "not_match"):
            for example in rule.values.get(name, ()):
                argv = _argv(example)
                is_match = _fits(rule.values["pattern"], argv) or _fits(rule.values["pattern"], _by_name(argv, paths))
                if is_match != (name == "match"):
                    raise rule.refuse(f"Codex refuses it: `{shlex.join(argv)}` of `{name}` does not hold")


def _by_name(argv: Sequence[str], paths: Mapping[str, list[str]]) -> list[str]:
    """Return a command with the bare name of its program, where that counts for its path."""
    name = argv[0].rpartition("/")[2]
    is_listed = name not in paths or argv[0] in paths[name]
    return [name, *argv[1:]] if argv[0].startswith("/") and is_listed else []


def _fits(pattern: Sequence[str | list[str]], argv: Sequence[str]) -> bool:
    is_as_long = len(argv) >= len(pattern)
    return is_as_long and all(word in _words(each) for word, each in zip(argv, pattern, strict=False))


def _argv(example: object) -> list[str]:
    """Return the words of an example; none for what is not one."""
    if isinstance(example, str):
        try:
            return shlex.split(example)
        except ValueError:
            return []
    return example if are_texts(example) else []


def _words(word: object) -> list[str]:
    """Return the alternatives for one word of a pattern; none for what is not such a word."""
    alternatives = [word] if isinstance(word, str) else word
    return alternatives if are_texts(alternatives) else []


def _row(each: _Declared, paths: Mapping[str, list[str]], exact: Sequence[str]) -> Row:
    effect = EFFECTS.get(each.values.get("decision", "allow"), "block")
    match each.what:
        case "host_executable":
            note = "its paths are in the rules for the name"
            return Row(each.place, f"host_executable {each.values['name']}", "allow", (), Outcome.SAME, note)
        case "network_rule":
            shown = f"{effect} {each.values['host']}"
            if effect == "allow":
                note = "it opens the sandbox, and does not permit a command"
                return Row(each.place, shown, effect, (), Outcome.DROPPED, note)
            draft = Draft(effect, (), {"host": [each.values["host"]]}, message=each.values.get("justification") or "")
            return Row(each.place, shown, effect, (draft,), Outcome.WIDENED, "it holds for every protocol and tool")
    programs = _words(each.values["pattern"][0])
    drafts = [draft for name in programs for draft in _drafts(each.values, effect, name, paths.get(name), exact)]
    shown = " ".join(["|".join(_words(word)) for word in each.values["pattern"]])
    own = [shlex.join(_words(word)[at] for word in each.values["pattern"]) for at in (0, -1)]
    probes = probe_commands(dict.fromkeys(own), "shell", matcher(each.values["pattern"], effect))
    return Row(each.place, f"{effect} {shown}", effect, (*_with_examples(drafts, each.values),), probes=probes)


def matcher(pattern: Sequence[str | list[str]], effect: str) -> Matcher:
    """Return what Codex says of commands: whether their first words are those of a prefix."""

    def fits(command: str) -> bool:
        return _fits(pattern, _argv(command))

    return matcher_of(fits, is_permission=effect == "allow")


def _drafts(
    rule: Mapping[str, Any], effect: str, program: str, paths: list[str] | None, exact: Sequence[str]
) -> Iterator[Draft]:
    """Yield the rules for one program of a prefix: for its name, and for the paths that count."""
    message = "" if effect == "allow" else rule.get("justification") or ""
    rest = " ".join([*map(_word, rule["pattern"][1:]), "*"])
    others = [f"/*/{program} *"] if paths is not None else []
    others = others or [f"{path} *" for path in exact if path.endswith(f"/{program}")]
    unless = ({"command": others},) if others and effect != "allow" else ()
    yield Draft(effect, _SHELLS, {"command": [f"{_word(program)} {rest}"]}, unless, message=message)
    if counted := [path for path in paths or () if path not in exact]:
        patterns = [f"{_word(path)} {rest}" for path in counted]
        yield Draft(effect, _SHELLS, {"command": patterns}, message=message)


def _with_examples(drafts: Sequence[Draft], rule: Mapping[str, Any]) -> Iterator[Draft]:
    """Yield the rules with examples: of the file, if about one program, or derived ones."""
    given = tuple(tuple(shlex.join(_argv(each)) for each in rule.get(name, ())) for name in ("match", "not_match"))
    for draft in drafts:
        match, no_match = given if len(drafts) == 1 and any(given) else examples_of(draft.when["command"][0])
        yield attrs.evolve(draft, match=match, no_match=no_match or given[1])


def _word(word: str | list[str]) -> str:
    alternatives = list(dict.fromkeys(map(shlex.quote, _words(word))))
    return alternatives[0] if len(alternatives) == 1 else "{" + ",".join(alternatives) + "}"
