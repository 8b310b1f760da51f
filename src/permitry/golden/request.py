"""The line format of `permitry check`, `explain` and golden cases: one call and the context to judge it in.

`{"id"?, "name", "arguments", "kind"?, "server"?, "repaired"?, "annotations"?, "agent"?, "context"?}`. The operator
writes such a line, never the model: its annotations and its context are taken at their word.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from permitry.conditions.provenance.provenance import GivenResult, Provenance
from permitry.core.call import ToolCall
from permitry.core.context import AuthContext, misspelt_mode
from permitry.core.history import History, Ran
from permitry.core.rule import Request
from permitry.core.spec import ToolSpec, ToolTraits
from permitry.core.template import Template
from permitry.errors import CallError
from permitry.golden.counts import GivenCounts
from permitry.messages.plain import call_from_object

__all__ = ["read_request"]

_KEYS = ("agent", "annotations", "arguments", "context", "id", "kind", "name", "repaired", "server")
_CONTEXT: Mapping[str, type] = {
    "attended": bool,
    "heard": list,
    "history": list,
    "is_plan_mode": bool,
    "labels": list,
    "mode": str,
    "now": object,
    "results": list,
    "shared": dict,
    "template": object,
    "tool_ignore_list": list,
    "workspace": str,
    "yolo_mode": bool,
}
_HINTS = {
    "readOnlyHint": "read_only", "destructiveHint": "destructive", "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}  # fmt: skip
_HINTS |= {f"{name}_hint": name for name in _HINTS.values()}
_SIMILAR = 0.7
_LISTS = {"history": "a list of calls", "results": "a list of results"}
_WORDS = {bool: "true or false", str: "a string", list: "a list of strings", dict: "an object"}


def read_request(line: object, templates: Mapping[str, Template], workspace: str | None = None) -> Request:
    """Return the request of one parsed line, with templates and a workspace for its context.

    Keys of other programs are skipped, but not misspellings of ours. Raises: `CallError`.
    """
    if not isinstance(line, Mapping):
        raise CallError("a line is a JSON object with `name` and `arguments`")
    if "name" not in line and {"role", "choices", "type"} & set(line):
        raise CallError("this is a message of a model, which `permitry run` reads; a call has `name` and `arguments`")
    _refuse_misspelt(line)
    for key in ("name", "arguments"):
        if key not in line:
            raise CallError(f"the key `{key}` is missing")
    incoming = call_from_object({key: line[key] for key in line if key != "id"})
    if isinstance(incoming.call, CallError):
        raise incoming.call
    given = {"workspace": workspace, **_object(line, "context")}
    call = attrs.evolve(incoming.call, repaired=True) if _is_repaired(line) else incoming.call
    return Request(call, _context(given, line.get("agent"), templates), _spec(call, line))


def _is_repaired(line: Mapping[str, Any]) -> bool:
    value = line.get("repaired")
    if value is not None and not isinstance(value, bool):
        raise CallError("`repaired` must be true or false")
    return value is True


def _refuse_misspelt(line: Mapping[str, Any]) -> None:
    for key in line:
        near = _near(key, _KEYS, _SIMILAR) if key not in _KEYS else ()
        if near and near[0] not in line:
            raise CallError(f"unknown key `{key}`; did you mean `{near[0]}`?")


def _near(word: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    import difflib  # noqa: PLC0415 -- only for what is misspelt

    return difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)


def _context(data: Mapping[str, Any], agent: object, templates: Mapping[str, Template]) -> AuthContext:
    for key, value in data.items():
        if key not in _CONTEXT:
            near = _near(key, _CONTEXT)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(_CONTEXT)}"
            raise CallError(f"unknown key `context.{key}`; {hint}")
        if value is not None and not isinstance(value, _CONTEXT[key]):
            wanted = _LISTS.get(key) or _WORDS[_CONTEXT[key]]
            raise CallError(f"`context.{key}` must be {wanted}")
    given = {key: value for key, value in data.items() if value is not None and key != "template"}
    for key in ("labels", "tool_ignore_list"):
        if not all(isinstance(name, str) for name in given.get(key, ())):
            raise CallError(f"`context.{key}` must be a list of strings")
    if "now" in given and not _is_number(given["now"]):
        raise CallError("`context.now` must be a number of seconds")
    if "shared" in given:
        given["shared"] = _share(given["shared"])
    given["history"] = History.of(_ran(each) for each in given.get("history", ()))
    given["provenance"] = _provenance(given.pop("heard", []), given.pop("results", []))
    if agent is not None and not isinstance(agent, str):
        raise CallError("`agent` must be a string")
    if near_mode := misspelt_mode(given.get("mode", "default")):
        raise CallError(f"unknown mode `{given['mode']}`; did you mean `{near_mode}`?")
    template = _template(data.get("template"), templates)
    return AuthContext(**given, active_template=template, agent="main" if agent is None else agent)


def _share(given: Mapping[str, object]) -> GivenCounts:
    numbers = {rule: used for rule, used in given.items() if type(used) is int and used >= 0}
    if len(numbers) < len(given):
        raise CallError("`context.shared` maps ids of rules to numbers of calls")
    return GivenCounts(numbers)


def _provenance(heard: list[object], results: list[object]) -> Provenance:
    texts = [text for text in heard if isinstance(text, str)]
    if len(texts) < len(heard):
        raise CallError("`context.heard` must be a list of strings")
    return Provenance.of(texts, map(_result, results))


def _result(value: object) -> GivenResult:
    match value:
        case {"tool": str() as tool, "arguments": Mapping() as arguments, "result": result, **rest}:
            labels = rest.pop("labels", [])
            if not rest and isinstance(labels, list) and all(isinstance(label, str) for label in labels):
                return tool, arguments, result, labels
    raise CallError('a result in `context.results` is {"tool", "arguments", "result", "labels"?}')


def _ran(value: object) -> Ran:
    """Return one call of a history: `{"at", "tool", "agent"?, "digest"?, "rules"?, "targets"?}`."""
    match value:
        case {"at": float() | int() as at, "tool": str() as tool, **rest} if _is_number(at):
            agent, digest = rest.pop("agent", "main"), rest.pop("digest", "")
            lists = {key: rest.pop(key, []) for key in ("rules", "targets")}
            if not rest and isinstance(agent, str) and isinstance(digest, str):
                return Ran(at, tool, agent, digest, **_sets(lists))
    shape = '{"at": seconds, "tool": …, "agent"?, "digest"?, "rules"?, "targets"?}'
    raise CallError(f"a call in `context.history` is {shape}")


def _sets(lists: Mapping[str, object]) -> dict[str, frozenset[str]]:
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise CallError(f"`{key}` in `context.history` must be a list of strings")
    return {key: frozenset(value) for key, value in lists.items() if isinstance(value, list)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _template(value: object, templates: Mapping[str, Template]) -> Template | None:
    """Return the template a context names, or spells out as `{"name", "allow_tools"}`."""
    match value:
        case None:
            return None
        case str():
            if value not in templates:
                near = _near(value, templates)
                hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(templates)) or 'none'}"
                raise CallError(f"unknown template `{value}`; {hint}")
            return templates[value]
        case {"name": str() as name, "allow_tools": [*tools], **rest} if not rest:
            if all(isinstance(tool, str) for tool in tools):
                return Template(name, tools)
    raise CallError('`context.template` must be a name, or {"name": …, "allow_tools": [names]}')


def _spec(call: ToolCall, line: Mapping[str, Any]) -> ToolSpec | None:
    traits: dict[str, bool] = {}
    for key, value in _object(line, "annotations").items():
        if key in _HINTS and value is not None:
            if not isinstance(value, bool):
                raise CallError(f"`annotations.{key}` must be true or false")
            traits[_HINTS[key]] = value
    return ToolSpec(call.tool, traits=ToolTraits(**traits)) if traits else None


def _object(line: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = line.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise CallError(f"`{key}` must be an object")
    return value
