"""rbacx: its compiled core, which takes a plain dictionary."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
from tests.bench.peers.engine import Loaded, module
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["Rbacx", "compiled"]


@attrs.frozen
class Rbacx:
    """`rbacx.core.compiler.compile` with the algorithm in which a deny outweighs every permit."""

    name: str = "rbacx, core"
    package: str = "rbacx"
    module: str = "rbacx"
    is_native: bool = False
    most: int = 10_000
    note: str = (
        "the compiled core without the engine around it, which starts an event loop for each call; exact names are "
        "looked up, globs are conditions of rules about any action; not above 10,000 rules"
    )

    def write(self, rules: Sequence[BenchRule]) -> dict[str, Any]:
        """Return the policy."""
        return {"algorithm": "deny-overrides", "rules": [_rule(rule) for rule in rules]}

    def load(self, written: dict[str, Any]) -> Loaded:
        """Return the function that decides."""
        return Loaded(compiled(written), _request, _read)


def compiled(policy: dict[str, Any]) -> Any:  # noqa: ANN401 -- a function of the peer
    """Return a policy as a function of a dictionary."""
    return module("rbacx.core.compiler").compile(policy)


def _read(answer: dict[str, Any]) -> str:
    return "allow" if answer["decision"] == "permit" else "not allow"


def _request(call: BenchCall) -> tuple[dict[str, Any]]:
    context = {"path": call.path, "limit": call.limit, "mode": call.mode}
    return ({"subject": {"id": "main"}, "action": call.tool, "resource": {"type": "box"}, "context": context},)


def _rule(rule: BenchRule) -> dict[str, Any]:
    made = {
        "id": rule.id,
        "effect": "deny" if rule.is_block else "permit",
        "actions": ["*" if rule.is_glob else rule.tool],
        "resource": {"type": "box"},
    }
    tests = list(_tests(rule))
    return {**made, "condition": {"and": tests}} if tests else made


def _tests(rule: BenchRule) -> Iterator[dict[str, list[Any]]]:
    if rule.is_glob:
        head, _, tail = rule.tool.partition("*")
        yield from ({"startsWith": [{"attr": "action"}, head]} for _ in range(bool(head)))
        yield from ({"endsWith": [{"attr": "action"}, tail]} for _ in range(bool(tail)))
    if rule.condition is not None:
        what, operand = rule.condition.what, rule.condition.operand
        test = {"mode": "==", "path": "startsWith", "limit": "<="}[what]
        yield {test: [{"attr": f"context.{what}"}, operand]}
