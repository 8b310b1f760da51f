"""What a whole call costs: decided, recorded, run as a tool that does nothing, recorded again."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from tests.bench.peers.engine import Loaded
from tests.bench.peers.everyone import installed
from tests.bench.peers.permitry_ import as_call, policy_of, rule_file
from tests.bench.report import Report, Scale, Table, Tell, number
from tests.bench.timing import Request, Subject, Timing, measure
from tests.bench.workload import BenchCall, BenchRule, calls, rules

from permitry import AuthorizationPolicy, Session, ToolCall, ToolHandler, ToolRegistry, ToolResult, ToolSpec
from permitry.audit.record import JsonlRecorder, MemoryRecorder, Recorder

__all__ = ["HANDLED", "run"]

HANDLED = "permitry: handle"
_BUILT = "permitry: the call from a dictionary"
_PARSED = "permitry: the call from JSON text"
_SIZES = (10, 1_000, 10_000)
_TEXT = """\
`ToolHandler.handle` with a registered tool that returns at once and a record in memory: decided and written down
before the tool runs, its outcome after. The loops around other engines do what a short loop does: build the request,
ask, append one line to a list, call the function. They check nothing else, keep no call from running twice, and know no
human. Every round is a session of its own; every call has an id of its own."""


@attrs.frozen
class _Scene:
    """A policy, tools for its calls, and the calls: those allowed, and one kind that is blocked."""

    policy: AuthorizationPolicy
    allowed: tuple[BenchCall, ...]
    blocked: tuple[BenchCall, ...]
    registry: ToolRegistry = attrs.field(init=False)

    @registry.default
    def _registry(self) -> ToolRegistry:
        registry = ToolRegistry()
        for tool in dict.fromkeys(call.tool for call in (*self.allowed, *self.blocked)):
            registry.register(ToolSpec(tool), _nothing)
        return registry

    def handler(self, recorder: Recorder | None = None) -> ToolHandler:
        """Return a handler in a new session, with the same tools: they outlive a session."""
        return ToolHandler(Session(), self.policy, registry=self.registry, recorder=recorder or MemoryRecorder())


def run(scale: Scale, tell: Tell) -> Report:
    """Return what a call costs from end to end."""
    sizes = tuple(size for size in _SIZES if size in scale.sizes) or scale.sizes
    found: dict[int, Mapping[str, Timing]] = {}
    wrong: list[str] = []
    for size in sizes:
        tell(f"end to end: {size} rules")
        found[size], differ = _measured(size, scale)
        wrong += differ
    names = list(found[sizes[-1]])
    head = ("way of a call", *(f"{size:,} rules" for size in sizes))
    ratio = Table(
        "How many times as long as `ToolHandler.handle` a call takes (median); below 1 is faster:",
        head,
        tuple((name, *(_times(found[size], name) for size in sizes)) for name in names if name != HANDLED),
    )
    figure = Table(
        "µs for a call, median / 99th percentile:",
        head,
        tuple((name, *(_pair(found[size], name) for size in sizes)) for name in names),
    )
    largest = found[sizes[-1]]
    facts = {
        f"handle-us-{sizes[-1]}": largest[HANDLED].p50,
        "call-us": largest[_BUILT].p50,
        "call-json-us": largest[_PARSED].p50,
    }
    return Report("A call from end to end", (ratio,), (figure,), text=_TEXT, facts=facts, wrong=tuple(wrong))


def _measured(size: int, scale: Scale) -> tuple[Mapping[str, Timing], list[str]]:
    made = rules(size)
    scene = _scene(made, scale.calls)
    wrong = list(_unequal(scene))
    with tempfile.TemporaryDirectory() as folder:
        subjects = dict(_ours(scene, Path(folder)))
        for engine in installed():
            if engine.name != "permitry" and size <= engine.most:
                subjects[f"a short loop: {engine.name}"] = _short_loop(engine.load(engine.write(made)), scene.allowed)
        return measure(subjects, rounds=scale.rounds, seconds=scale.seconds), wrong


def _scene(made: Sequence[BenchRule], count: int) -> _Scene:
    policy = policy_of(rule_file(made))
    found = calls([rule for rule in made if rule.condition is None], "hit", count * 2)
    handler = ToolHandler(policy=policy)
    by_verdict: dict[str, list[BenchCall]] = {"allow": [], "block": [], "confirm": []}
    for call in found:
        by_verdict[handler.decide(as_call(call)).verdict.value].append(call)
    return _Scene(policy, tuple(by_verdict["allow"][:count]), tuple(by_verdict["block"][:count]))


def _ours(scene: _Scene, folder: Path) -> Mapping[str, Subject]:
    def handled(handler: ToolHandler, call: ToolCall) -> ToolResult:
        return handler.handle(call)

    def from_text(handler: ToolHandler, name: str, text: str, call_id: str) -> ToolResult:
        return handler.handle(ToolCall.from_json(name, text, call_id=call_id))

    def decided(handler: ToolHandler, call: ToolCall) -> object:
        return handler.decide(call)

    def texts(turn: int) -> Sequence[Request]:
        handler = scene.handler()
        return [
            (handler, call.tool, call.canonical, f"call-{turn}-{at}")
            for at, call in enumerate(map(as_call, scene.allowed))
        ]

    def durable(turn: int) -> Sequence[Request]:
        handler = scene.handler(JsonlRecorder(str(folder / f"{turn}.jsonl"), session="bench"))
        return [(handler, as_call(call, f"call-{at}")) for at, call in enumerate(scene.allowed)]

    return {
        HANDLED: Subject(handled, _in_session(scene, scene.allowed), is_repeatable=False),
        "permitry: handle, from JSON text": Subject(from_text, texts, is_repeatable=False),
        "permitry: handle, blocked": Subject(handled, _in_session(scene, scene.blocked), is_repeatable=False),
        _BUILT: Subject(_built, lambda _: [(call.tool, _arguments(call)) for call in scene.allowed]),
        _PARSED: Subject(_parsed, lambda _: [(call.tool, json.dumps(_arguments(call))) for call in scene.allowed]),
        "permitry: decide": Subject(decided, _in_session(scene, scene.allowed)),
        "permitry: handle, record synced to disk": Subject(handled, durable, is_repeatable=False),
        "the function alone": Subject(_nothing, lambda _: [({"path": call.path},) for call in scene.allowed]),
    }


def _in_session(scene: _Scene, asked: Sequence[BenchCall]) -> Callable[[int], Sequence[Request]]:
    def requests(_: int) -> Sequence[Request]:
        handler = scene.handler()
        return [(handler, as_call(call, f"call-{at}")) for at, call in enumerate(asked)]

    return requests


def _short_loop(engine: Loaded, asked: Sequence[BenchCall]) -> Subject:
    functions: Mapping[str, Callable[[dict[str, Any]], str]] = {call.tool: _nothing for call in asked}
    record: list[tuple[str, object]] = []

    def handle(call: BenchCall) -> str:
        answer = engine.read(engine.ask(*engine.prepare(call)))
        record.append((call.tool, answer))
        if answer != "allow":
            return "blocked"
        return functions[call.tool](_arguments(call))

    return Subject(handle, lambda _: [(call,) for call in asked])


def _unequal(scene: _Scene) -> Sequence[str]:
    """Return what the handler does otherwise than the rules say: the allowed run, the blocked do not."""
    handler = scene.handler()
    results = [(call, handler.handle(as_call(call)).ok, True) for call in scene.allowed[:50]]
    results += [(call, handler.handle(as_call(call)).ok, False) for call in scene.blocked[:50]]
    return [f"handle gives ok={is_ok} to {call}" for call, is_ok, wanted in results if is_ok is not wanted]


def _arguments(call: BenchCall) -> dict[str, Any]:
    return {"path": call.path, "limit": call.limit}


def _built(name: str, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(name, arguments)


def _parsed(name: str, text: str) -> ToolCall:
    return ToolCall.from_json(name, text)


def _nothing(_: dict[str, Any]) -> str:
    return "done"


def _times(timings: Mapping[str, Timing], name: str) -> str:
    return f"{number(timings[name].p50 / timings[HANDLED].p50)}x" if name in timings else "-"


def _pair(timings: Mapping[str, Timing], name: str) -> str:
    return f"{number(timings[name].p50)} / {number(timings[name].p99)}" if name in timings else "-"
