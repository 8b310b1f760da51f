"""Parts of calls and their contexts that make conditions true or false: what is tried for conditions of each class."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from permitry.conditions.agent import AgentCondition
from permitry.conditions.args import SourceCondition
from permitry.conditions.attended import AttendedCondition
from permitry.conditions.label import LabelCondition
from permitry.conditions.mode import ModeCondition
from permitry.conditions.prompt import PromptCondition
from permitry.conditions.repaired import RepairedCondition
from permitry.conditions.text import TextCondition
from permitry_ops.diff import regions, values
from permitry_ops.diff.language import Alternatives, Language, TooLargeError, glob, shortest
from permitry_ops.diff.regex import UnreadError, read_regex
from permitry_ops.diff.side import Line

__all__ = ["PATCHES", "Patch", "argument_at", "merge", "where_seen"]

Patch: TypeAlias = Mapping[str, Any]
"""A part of a line; several are merged."""


def merge(line: Line, patches: Iterable[Patch]) -> dict[str, Any]:
    """Return a line with parts added: objects are merged, lists joined."""
    merged = dict(line)
    for patch in patches:
        for key, value in patch.items():
            before = merged.get(key)
            if isinstance(before, Mapping) and isinstance(value, Mapping):
                merged[key] = merge(before, [value])
            elif key in _JOINED and isinstance(before, list):
                merged[key] = list(dict.fromkeys((*before, *value)))
            else:
                merged[key] = value
    return merged


_JOINED = ("labels", "heard")
_MOST_LABELS = 4_096


def argument_at(path: Sequence[str], value: object) -> Patch:
    """Return the part of a line with a value of the argument at a path; nothing for `values.ABSENT`."""
    if value is values.ABSENT:
        return {}
    inner: Any = value
    for name in reversed(path):
        inner = {name: inner}
    return {"arguments": inner}


def where_seen(path: Sequence[str], patch: Patch, sources: Iterable[SourceCondition]) -> Iterator[Patch]:
    """Yield contexts in which the value of an argument was heard, or was not."""
    yield {"context": {"heard": ["hello"]}}
    value: Any = patch
    for name in ("arguments", *path):
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, str) and value:
        yield {"context": {"heard": [value]}}
        for source in (each for some in sources for each in some.sources):
            if source.kind == "list":
                yield from (argument_at(path, listed) for listed in sorted(source.values)[:1])
            elif source.kind == "result" and source.path:
                result = {"tool": source.tool.replace("*", "x"), "arguments": {}, "result": _at(source.path, value)}
                yield {"context": {"heard": ["hello"], "results": [result]}}


def _at(path: Sequence[str], value: object) -> object:
    for name in reversed(path):
        value = {name: value}
    return value


def _of_mode(parts: Sequence[Any], _: Sequence[bool]) -> Iterator[Patch]:
    yield {}
    modes = dict.fromkeys((*(mode for each in parts for mode in each.modes), "other"))
    yield from ({"context": {"mode": mode}} for mode in modes)
    # A session may be in two modes at once.
    for flag in ("is_plan_mode", "yolo_mode"):
        yield from ({"context": {"mode": mode, flag: True}} for mode in modes)


def _of_agent(parts: Sequence[Any], wanted: Sequence[bool]) -> Iterator[Patch]:
    yield {}
    languages = [Language(Alternatives(tuple(glob(pattern) for pattern in each.agents))) for each in parts]
    kept = [each for each, is_wanted in zip(languages, wanted, strict=True) if is_wanted]
    refused = [each for each, is_wanted in zip(languages, wanted, strict=True) if not is_wanted]
    name = shortest([regions.TOOLS, *kept], refused) or shortest(kept, refused)
    if name:
        yield {"agent": name}


def _of_label(parts: Sequence[Any], wanted: Sequence[bool]) -> Iterator[Patch]:
    choices = [each.labels for each, is_wanted in zip(parts, wanted, strict=True) if is_wanted]
    for labels in itertools.islice(itertools.product(*choices), _MOST_LABELS):
        yield {"context": {"labels": sorted(set(labels))}} if labels else {}


def _of_attended(_: Sequence[Any], __: Sequence[bool]) -> Iterator[Patch]:
    yield from ({}, {"context": {"attended": False}})


def _of_repaired(_: Sequence[Any], __: Sequence[bool]) -> Iterator[Patch]:
    yield from ({}, {"repaired": True})


def _of_prompt(parts: Sequence[Any], _: Sequence[bool]) -> Iterator[Patch]:
    yield {"context": {"heard": ["hello"]}}
    for each in parts:
        yield from ({"context": {"heard": [word]}} for word in each.words)
        if each.regex is not None:
            yield from ({"context": {"heard": [text]}} for text in _text_of(each.regex.text))


def _of_text(parts: Sequence[Any], wanted: Sequence[bool]) -> Iterator[Patch]:
    yield {"arguments": {"text": "hello"}}
    for each, is_wanted in zip(parts, wanted, strict=True):
        found, _ = values.candidates([each.test])
        if is_wanted:
            yield from ({"arguments": {"text": text}} for text in found if isinstance(text, str) and text)


def _text_of(regex: str) -> Iterator[str]:
    try:
        yield from filter(None, [shortest([Language(read_regex(regex))])])
    except (UnreadError, TooLargeError):
        return


PATCHES: Mapping[type, Callable[[Sequence[Any], Sequence[bool]], Iterator[Patch]]] = {
    ModeCondition: _of_mode,
    AgentCondition: _of_agent,
    LabelCondition: _of_label,
    AttendedCondition: _of_attended,
    RepairedCondition: _of_repaired,
    PromptCondition: _of_prompt,
    TextCondition: _of_text,
}
"""What is tried, by the class of the conditions: it is given them, and which of them must hold."""
