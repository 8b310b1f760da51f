"""vakt: policies of rule objects in its memory storage."""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from tests.bench.peers.engine import Loaded, module
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["Vakt"]


@attrs.frozen
class Vakt:
    """`Guard.is_allowed` with the `RulesChecker`; deny outweighs allow by itself."""

    name: str = "vakt"
    package: str = "vakt"
    module: str = "vakt"
    is_native: bool = False
    most: int = 100_000
    note: str = (
        "the tool is the action, by `Eq`, `StartsWith`, `EndsWith`; conditions are on the context; without its cache"
    )

    def write(self, rules: Sequence[BenchRule]) -> Sequence[BenchRule]:
        """Return the rules; vakt's are objects, not text."""
        return rules

    def load(self, written: Sequence[BenchRule]) -> Loaded:
        """Return the guard."""
        vakt, tests = module("vakt"), module("vakt.rules")
        storage = module("vakt.storage.memory").MemoryStorage()
        for rule in written:
            effect = vakt.DENY_ACCESS if rule.is_block else vakt.ALLOW_ACCESS
            storage.add(
                vakt.Policy(
                    rule.id, actions=[_names(rule, tests)], subjects=[tests.Any()], resources=[tests.Any()],
                    effect=effect, context=_context(rule, tests),
                )
            )  # fmt: skip
        guard = vakt.Guard(storage, vakt.RulesChecker())
        return Loaded(guard.is_allowed, _asker(vakt), lambda answer: "allow" if answer is True else "not allow")


def _asker(vakt: Any) -> Any:  # noqa: ANN401 -- the module of the peer
    def prepare(call: BenchCall) -> tuple[object]:
        context = {"mode": call.mode, "path": call.path, "limit": call.limit}
        return (vakt.Inquiry(action=call.tool, resource="box", subject="main", context=context),)

    return prepare


def _context(rule: BenchRule, tests: Any) -> Mapping[str, object]:  # noqa: ANN401 -- the module of the peer
    if rule.condition is None:
        return {}
    test = {"mode": tests.Eq, "path": tests.StartsWith, "limit": tests.LessOrEqual}[rule.condition.what]
    return {rule.condition.what: test(rule.condition.operand)}


def _names(rule: BenchRule, tests: Any) -> object:  # noqa: ANN401 -- the module of the peer
    head, star, tail = rule.tool.partition("*")
    if not star:
        return tests.Eq(rule.tool)
    if head and tail:
        # The head ends and the tail begins with an underscore, and no name has head and tail share it.
        return tests.And(tests.StartsWith(head), tests.EndsWith(tail))
    return tests.StartsWith(head) if head else tests.EndsWith(tail) if tail else tests.Any()
