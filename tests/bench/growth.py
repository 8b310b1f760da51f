"""What a long session costs: memory, decisions that look at the past, and many calls at one time."""

import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.memory import resident
from tests.bench.report import Report, Scale, Table, Tell, number

from permitry import AuthorizationPolicy, Session, ToolCall, ToolHandler, ToolRegistry, ToolSpec
from permitry.conditions.budget import Budget
from permitry.conditions.repeat import RepeatCondition
from permitry.conditions.scope import Conditions, Scope
from permitry.conditions.tools import ToolSelector
from permitry.core.action import Actions, Connect
from permitry.core.context import AuthContext
from permitry.core.decision import Verdict
from permitry.core.shared import SideEffects
from permitry.rules.configured import ConfiguredRule
from permitry.rules.flow import FlowRule

__all__ = ["run", "session_memory"]

_HERE = Path(__file__).parent
_MEBIBYTE = 1024 * 1024
_SAMPLES = 100
_WARM = 10_000
_TEXT = """\
Every call of these sessions has an id of its own and arguments of its own, and runs a tool that returns at once. A
budget in a window of time, one of targets, and a rule about calls that repeat themselves look at what ran before. The
memory is that of a process of its own, as the system sees it (RSS), which holds the record of the last 10,000 events,
the last 1,000 outcomes and calls, and a number for each call before. Calls at one time are awaited together; an async
tool that is not declared read-only runs one after the other."""


def _policy() -> AuthorizationPolicy:
    scope, repeats = Scope((ToolSelector("*"),)), Scope((ToolSelector("*"),), Conditions((RepeatCondition(3),)))
    budgets = [
        ConfiguredRule("calls", Verdict.CONFIRM, 160, scope, Budget("calls", 1_000_000, seconds=3600.0)),
        ConfiguredRule("targets", Verdict.CONFIRM, 160, scope, Budget("targets", 1_000_000, "targets", by="tool")),
    ]
    flows = [FlowRule(rule.id, rule.scope, counts=True) for rule in budgets]
    allow = ConfiguredRule("allow", Verdict.ALLOW, 250, scope)
    rules = (*budgets, ConfiguredRule("again", Verdict.CONFIRM, 160, repeats), allow)
    return AuthorizationPolicy(rules, flows=flows, reader=_read)


def _read(call: ToolCall, context: AuthContext, spec: ToolSpec | None) -> Actions:  # noqa: ARG001 -- a reader is given all
    """Return that the call meets one of very many hosts."""
    host = f"host-{call.arguments['page']}"
    return Actions((Connect(host, host=host),))


def _handler(handle: Any, **parts: Any) -> ToolHandler:  # noqa: ANN401 -- any tool; and passed on
    registry = ToolRegistry()
    registry.register(ToolSpec("fetch", roles={}), handle)
    return ToolHandler(Session(), registry=registry, **parts)


def _call(at: int) -> ToolCall:
    return ToolCall("fetch", {"page": at, "text": "x" * 200}, call_id=f"call-{at}")


def session_memory(count: int) -> list[tuple[int, float]]:
    """Handle so many calls in this process, and return its resident memory in MiB along the way."""
    handler, found = _handler(lambda _: "done", policy=_policy()), []
    for at in range(1, count + 1):
        if not handler.handle(_call(at)).ok:
            raise AssertionError(handler.decide(_call(at)))
        if at % max(1, count // _SAMPLES) == 0:
            found.append((at, resident() / _MEBIBYTE))
    return found


def run(scale: Scale, tell: Tell) -> Report:
    """Return how memory, decisions and calls at one time grow."""
    tell("a long session: memory")
    memory = _weighed(scale.session)
    tell("a long session: decisions")
    decisions = {count: _decision(count) for count in scale.histories}
    tell("a long session: calls at one time")
    together = _together(scale.together, scale.rounds)
    least, fewest = scale.histories[0], scale.together[0]
    facts = {f"history-{count}": cost / decisions[least] for count, cost in decisions.items()}
    facts |= {f"together-{count}": cost / together[fewest] for count, cost in together.items()}
    facts["session-growth"] = memory[-1][1] / _at(memory, min(_WARM, scale.session // 2))
    return Report(
        "What a long session costs",
        (_ratios("A call, with so many at one time (median):", "calls", together),
         _ratios("A decision, after so many calls of the session (median):", "calls", decisions)),
        (_memory_table(memory),),
        text=_TEXT,
        facts=facts,
        series={"resident memory": memory},
    )  # fmt: skip


def _weighed(count: int) -> Sequence[tuple[int, float]]:
    command = [sys.executable, str(_HERE), "--grow", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [(at, size) for at, size in json.loads(done.stdout.splitlines()[-1])]


def _decision(count: int) -> float:
    """Return the median of a decision, in µs, after so many calls."""
    handler, policy, budgets = _handler(lambda _: "done"), _policy(), frozenset({"calls", "targets"})
    for at in range(count):
        # What the policy would say of the call, which takes longer.
        handler.session.apply(_call(at), SideEffects(rules=budgets, targets=frozenset({f"host:host-{at}"})))
    call, taken = _call(count), []
    # The first ones meet cold caches.
    for _ in range(4_000):
        begin = time.perf_counter_ns()
        policy.decide(call, AuthContext.from_state(handler.session))
        taken.append(time.perf_counter_ns() - begin)
    return statistics.median(taken[2_000:]) / 1e3


def _together(counts: Sequence[int], rounds: int) -> dict[int, float]:
    """Return the median of a call, in µs, with so many of them at one time; all numbers in turns."""
    found: dict[int, list[float]] = {count: [] for count in counts}
    _at_once(counts[0])
    for _ in range(rounds):
        for count in counts:
            found[count] += [_at_once(count) for _ in range(max(1, counts[-1] // count // 4))]
    return {count: statistics.median(each) for count, each in found.items()}


def _at_once(count: int) -> float:
    async def fetch(_: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return "done"

    async def all_of_them() -> float:
        handler = _handler(fetch)
        handler.session.switch_mode("yolo")
        begin = time.process_time()
        await asyncio.gather(*(handler.ahandle(_call(at)) for at in range(count)))
        return (time.process_time() - begin) / count * 1e6

    gc.collect()
    return asyncio.run(all_of_them())


def _at(series: Sequence[tuple[int, float]], count: int) -> float:
    return next(size for at, size in series if at >= count)


def _ratios(caption: str, head: str, costs: dict[int, float]) -> Table:
    first = next(iter(costs.values()))
    rows = tuple((f"{count:,}", f"{cost / first:.2f}x", number(cost)) for count, cost in costs.items())
    return Table(caption, (head, "times the first", "µs"), rows)


def _memory_table(series: Sequence[tuple[int, float]]) -> Table:
    last = series[-1][0]
    rows = tuple((f"{at:,}", f"{_at(series, at):.1f}") for at in (2_000, _WARM, 50_000, 100_000, 200_000) if at <= last)
    return Table("Resident memory of a process after so many calls:", ("calls", "MiB"), rows or (("-", "-"),))
