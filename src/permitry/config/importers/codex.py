"""The rule files of Codex: `prefix_rule(...)`, `host_executable(...)` and `network_rule(...)`.

They are Starlark, of which such a file uses only calls with literals: they are read by Python's
parser, and nothing is run. A prefix of words becomes a pattern that ends in `*`. A rule for the bare
name of a program is for every path of it in both; where Codex lists the paths that count, or has a
rule for one path, a restriction on the name excepts the others.
"""

import ast
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from permitry.config.importers.commands import examples_of
from permitry.config.importers.drafts import Draft, Imported, Outcome, Row, Source
from permitry.errors import ConfigError, Problem

__all__ = ["EFFECTS", "PLACES", "imported"]

PLACES = (".codex/rules/*.rules", "~/.codex/rules/*.rules")
EFFECTS = {"allow": "allow", "prompt": "confirm", "forbidden": "block"}

_SHELLS = ("@shell",)
_KEYS = {
    "prefix_rule": {"pattern", "decision", "justification", "match", "not_match"},
    "host_executable": {"name", "paths"},
    "network_rule": {"host", "protocol", "decision", "justification"},
}


@attrs.frozen
class _Declared:
    """One call of a rule file, with its arguments by name."""

    what: str
    values: Mapping[str, Any]
    place: str


def imported(sources: Sequence[Source]) -> Imported:
    """Return the rules of rule files.

    Raises: `ConfigError` for what is not such a call, with its place.
    """
    declared = [each for source in sources for each in _declarations(source)]
    paths = {each.values["name"]: each.values["paths"] for each in declared if each.what == "host_executable"}
    firsts = [word for each in declared if each.what == "prefix_rule" for word in _words(each.values["pattern"][0])]
    exact = [word for word in firsts if "/" in word]
    return Imported("codex", [_row(each, paths, exact) for each in declared])


# Reading -------------------------------------------------------------------------------------------------------------


def _declarations(source: Source) -> Iterator[_Declared]:
    try:
        body = ast.parse(source.text.strip("\ufeff")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        raise ConfigError([Problem(source.name, line, 1, 1, f"it is not Starlark: {error}")]) from None
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _KEYS):
            raise _problem(source, node, f"only calls of {', '.join(_KEYS)} are read")
        yield _declared(source, call, call.func.id)


def _declared(source: Source, call: ast.Call, what: str) -> _Declared:
    names = {keyword.arg for keyword in call.keywords}
    if call.args or not names <= _KEYS[what]:
        raise _problem(source, call, f"`{what}` takes {', '.join(sorted(_KEYS[what]))} by name")
    try:
        values = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise _problem(source, call, "an argument is not a literal") from None
    if not _is_valid(what, values):
        raise _problem(source, call, f"the arguments of `{what}` do not have the shape that Codex takes")
    return _Declared(what, values, f"{source.name}:{call.lineno}")


def _problem(source: Source, node: ast.stmt | ast.expr, message: str) -> ConfigError:
    text = source.text.split("\n")[node.lineno - 1]
    return ConfigError([Problem(source.name, node.lineno, node.col_offset + 1, 1, message, text=text)])


def _is_valid(what: str, values: Mapping[str, Any]) -> bool:
    is_decided = what == "host_executable" or values.get("decision", "allow") in (*EFFECTS, "deny")
    is_said = isinstance(values.get("justification", ""), str)
    match what:
        case "prefix_rule":
            pattern = values.get("pattern")
            return is_decided and is_said and isinstance(pattern, list) and pattern != [] and all(map(_words, pattern))
        case "host_executable":
            return isinstance(values.get("name"), str) and _is_list_of_texts(values.get("paths"))
    return is_decided and is_said and isinstance(values.get("host"), str)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _words(word: object) -> list[str]:
    """Return the alternatives for one word of a pattern; none for what is not such a word."""
    alternatives = [word] if isinstance(word, str) else word
    return alternatives if isinstance(alternatives, list) and _is_list_of_texts(alternatives) else []


# Rules ---------------------------------------------------------------------------------------------------------------


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
            draft = Draft(effect, (), {"host": [each.values["host"]]}, message=each.values.get("justification", ""))
            return Row(each.place, shown, effect, (draft,), Outcome.WIDENED, "it holds for every protocol and tool")
    programs = _words(each.values["pattern"][0])
    drafts = [draft for name in programs for draft in _drafts(each.values, effect, name, paths.get(name), exact)]
    shown = " ".join(["|".join(_words(word)) for word in each.values["pattern"]])
    return Row(each.place, f"{effect} {shown}", effect, (*_with_examples(drafts, each.values),))


def _drafts(
    rule: Mapping[str, Any], effect: str, program: str, paths: list[str] | None, exact: Sequence[str]
) -> Iterator[Draft]:
    """Yield the rules for one program of a prefix: for its name, and for the paths that count."""
    message = "" if effect == "allow" else rule.get("justification", "")
    rest = " ".join([*map(_word, rule["pattern"][1:]), "*"])
    others = [f"/*/{program} *"] if paths is not None else []
    others = others or [f"{path} *" for path in exact if path.endswith(f"/{program}")]
    unless = ({"command": others},) if others and effect != "allow" else ()
    yield Draft(effect, _SHELLS, {"command": [f"{_word(program)} {rest}"]}, unless, message=message)
    if counted := [path for path in paths or () if path not in exact]:
        patterns = [f"{_word(path)} {rest}" for path in counted]
        yield Draft(effect, _SHELLS, {"command": patterns}, message=message)


def _with_examples(drafts: Sequence[Draft], rule: Mapping[str, Any]) -> Iterator[Draft]:
    """Yield the rules with examples: those of the file, which are about all programs of the prefix, or derived ones."""
    given = (tuple(_commands(rule.get("match"))), tuple(_commands(rule.get("not_match"))))
    for draft in drafts:
        match, no_match = given if len(drafts) == 1 and any(given) else examples_of(draft.when["command"][0])
        yield attrs.evolve(draft, match=match, no_match=no_match or given[1])


def _commands(listed: object) -> Iterator[str]:
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, str):
            yield each
        elif _is_list_of_texts(each):
            yield shlex.join(each)


def _word(word: str | list[str]) -> str:
    alternatives = list(dict.fromkeys(map(shlex.quote, _words(word))))
    return alternatives[0] if len(alternatives) == 1 else "{" + ",".join(alternatives) + "}"
