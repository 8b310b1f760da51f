"""How long it takes to find the calls that a model wrote as text."""

import functools
import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
from tests.bench.peers.engine import module
from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.timing import Subject, Timing, measure

from permitry import parse_text

__all__ = ["run"]

Calls: TypeAlias = list[tuple[str, Any]]
_BASE = "permitry"
_FLOOR = "json.loads of the payload"
_PACKAGES = {"agent-tool-parser": "agent_tool_parser", "json-repair": "json_repair"}
_TEXT = """\
Texts in five forms, each with one call whose argument has the given length, and one text without a call. No parser is
given the form. Each must find the same calls first; one that finds others, or none, is not timed and the table says so.
json-repair reads JSON only; agent-tool-parser reads many forms, in Rust. `json.loads` of the bare payload is the lower
bound. permitry also refuses what is not a call beyond doubt; the others mend what they are given."""


@attrs.frozen
class _Sample:
    """A text, the calls in it, and the bare JSON of them."""

    caption: str
    text: str
    wanted: Calls
    payload: str


def run(scale: Scale, tell: Tell) -> Report:
    """Return what parsing costs, permitry next to the others."""
    parsers = _parsers()
    rows, figures = [], []
    for sample in _samples(scale.text_sizes):
        tell(f"text calls: {sample.caption}")
        found = {name: _found(parse, sample.text) for name, parse in parsers.items()}
        lacks = {name: _lack(found.get(name)) for name in _PACKAGES}
        right = {name: parse for name, parse in parsers.items() if found[name] == sample.wanted}
        subjects = {name: _subject(parse, sample.text) for name, parse in right.items()}
        subjects[_FLOOR] = _subject(json.loads, sample.payload)
        timings = measure(subjects, rounds=scale.rounds, seconds=scale.seconds / 2)
        rows.append((sample.caption, *(_ratio(timings, name) or lacks[name] for name in _others())))
        figures.append(
            (sample.caption, *(_figure(timings, name) or lacks.get(name, "-") for name in (_BASE, *_others())))
        )
    head = ("text", *_others())
    return Report(
        "Calls in a model's text",
        (Table("How many times as long as permitry; below 1 is faster than permitry:", head, tuple(rows)),),
        (Table("µs for a text, median:", ("text", _BASE, *_others()), tuple(figures)),),
        text=_TEXT,
        wrong=tuple(_our_mistakes(scale.text_sizes, parsers[_BASE])),
    )


def _others() -> tuple[str, ...]:
    return (*_PACKAGES, _FLOOR)


def _parsers() -> Mapping[str, Callable[[str], Calls]]:
    found: dict[str, Callable[[str], Calls]] = {_BASE: _ours}
    readers: Mapping[str, Callable[[Any, str], Calls]] = {"agent-tool-parser": _agent_tools, "json-repair": _repaired}
    for name, package in _PACKAGES.items():
        if importlib.util.find_spec(package) is not None:
            found[name] = functools.partial(readers[name], module(package))
    return found


def _ours(text: str) -> Calls:
    return [(call.name, call.arguments) for call in parse_text(text).calls]


def _agent_tools(package: Any, text: str) -> Calls:  # noqa: ANN401 -- the module of the peer
    return [(call.name, call.args) for call in package.try_parse_tool_calls(text)]


def _repaired(package: Any, text: str) -> Calls:  # noqa: ANN401 -- the module of the peer
    found = package.loads(text)
    each = found if isinstance(found, list) else [found]
    return [
        (one["name"], one["arguments"]) for one in each if isinstance(one, dict) and {"name", "arguments"} <= set(one)
    ]


def _samples(sizes: Sequence[int]) -> Iterator[_Sample]:
    for size in sizes:
        content = ("a line of code, 'quoted' and \"quoted\" again\n" * (size // 40 + 1))[:size]
        arguments = {"path": "src/notes.txt", "content": content}
        call = {"name": "write_file", "arguments": arguments}
        payload, wanted = json.dumps(call), [("write_file", arguments)]
        length = f"{size:,} characters"
        yield _Sample(
            f"`<tool_call>` with JSON, {length}", f"I write it.\n<tool_call>\n{payload}\n</tool_call>", wanted, payload
        )
        yield _Sample(f"a list in JSON, {length}", f"[{payload}]", wanted, payload)
        yield _Sample(f"an object in JSON, {length}", payload, wanted, payload)
        yield _Sample(f"fenced JSON, {length}", f"I write it:\n\n```json\n{payload}\n```\n", wanted, payload)
        inner = f"<parameter=path>\nsrc/notes.txt\n</parameter>\n<parameter=content>\n{content}\n</parameter>"
        yield _Sample(
            f"`<function=…>`, {length}",
            f"<tool_call>\n<function=write_file>\n{inner}\n</function>\n</tool_call>",
            wanted,
            payload,
        )
        prose = ("There is nothing to do here; the file [1] is fine. " * (size // 50 + 1))[:size]
        yield _Sample(f"no call, {length}", prose, [], json.dumps(prose))


def _found(parse: Callable[[str], Calls], text: str) -> object:
    """Return what a parser finds, or the failure it ends in: a Rust panic is not an `Exception`."""
    try:
        return [(name, dict(arguments)) for name, arguments in parse(text)]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 -- see above
        return error


def _our_mistakes(sizes: Sequence[int], parse: Callable[[str], Calls]) -> Iterator[str]:
    for sample in _samples(sizes):
        if _found(parse, sample.text) != sample.wanted:
            yield f"text calls: permitry reads {sample.caption} otherwise"


def _subject(parse: Callable[[str], object], text: str) -> Subject:
    return Subject(parse, lambda _: [(text,)] * 200)


def _ratio(timings: Mapping[str, Timing], name: str) -> str:
    is_known = name in timings and _BASE in timings
    return f"{number(timings[name].p50 / timings[_BASE].p50)}x" if is_known else ""


def _figure(timings: Mapping[str, Timing], name: str) -> str:
    return number(timings[name].p50) if name in timings else ""


def _lack(found: object) -> str:
    """Return why a parser is not timed, by what it found; None when it is not installed."""
    if found is None:
        return "not installed"
    return f"fails: {type(found).__name__}" if isinstance(found, BaseException) else "other answer"
