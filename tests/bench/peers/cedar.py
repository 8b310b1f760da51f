"""Cedar through cedarpy: policies parsed once, a request for every call."""

import functools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
from tests.bench.peers.engine import Loaded, module
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["Cedar"]


@attrs.frozen
class Cedar:
    """`is_authorized` with handles for policies and entities; `permit` and `forbid` mean allow and block."""

    name: str = "cedarpy"
    package: str = "cedarpy"
    module: str = "cedarpy"
    is_native: bool = True
    most: int = 100_000
    note: str = "exact names by `action ==`, globs by `like`; parsed once into `PolicySet` and `Entities`"

    def write(self, rules: Sequence[BenchRule]) -> str:
        """Return the policies."""
        return "\n".join(_policy(rule) for rule in rules)

    def load(self, written: str) -> Loaded:
        """Return the parsed policies."""
        cedarpy = module(self.module)
        policies, entities = cedarpy.PolicySet.from_str(written), cedarpy.Entities.from_json_str("[]")
        ask = functools.partial(cedarpy.is_authorized, policies=policies, entities=entities)
        return Loaded(ask, _request, lambda answer: "allow" if answer.allowed else "not allow")


def _request(call: BenchCall) -> tuple[dict[str, Any]]:
    context = {"tool": call.tool, "path": call.path, "limit": call.limit, "mode": call.mode}
    action = {"type": "Action", "id": call.tool}
    return ({"principal": 'Agent::"main"', "action": action, "resource": 'Box::"box"', "context": context},)


def _policy(rule: BenchRule) -> str:
    scope = "action" if rule.is_glob else f"action == Action::{json.dumps(rule.tool)}"
    tests = " && ".join(_tests(rule))
    when = f" when {{ {tests} }}" if tests else ""
    return f"{'forbid' if rule.is_block else 'permit'}(principal, {scope}, resource){when};"


def _tests(rule: BenchRule) -> Iterator[str]:
    if rule.is_glob:
        yield f"context.tool like {json.dumps(rule.tool)}"
    if rule.condition is not None:
        operand = rule.condition.operand
        tests = {"mode": f"context.mode == {json.dumps(operand)}", "limit": f"context.limit <= {operand}"}
        yield tests.get(rule.condition.what, f"context.path like {json.dumps(f'{operand}*')}")
