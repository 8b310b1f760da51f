"""Rego in process: OPA itself through its Go library, and regorus, which is what has a wheel for every Python."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
from tests.bench.peers.engine import Loaded, module
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["Opa", "Regorus"]

_HEAD = """package bench
import rego.v1
default allowed := false
allowed if { allow; not deny }
"""


@attrs.frozen
class Opa:
    """OPA's engine in process: a prepared query, `==` for exact names so that its rule index serves them."""

    name: str = "OPA, in process"
    package: str = "opa-golib-python-bindings"
    module: str = "opa_bindings"
    is_native: bool = True
    most: int = 10_000
    note: str = "one Rego rule each, names by `==`, globs by `startswith` and `endswith`; not above 10,000 rules"

    def write(self, rules: Sequence[BenchRule]) -> str:
        """Return the module."""
        return _module(rules)

    def load(self, written: str) -> Loaded:
        """Return the engine, after a first question: it compiles then."""
        engine = module(self.module).OpaEngine()
        engine.add_policy("bench.rego", written)
        engine.eval_document("bench.allowed", _input(BenchCall("none")))
        return Loaded(engine.eval_document, lambda call: ("bench.allowed", _input(call)), _read)


@attrs.frozen
class Regorus:
    """regorus, an engine for OPA's language in Rust; the wheel holds a version of 2024."""

    name: str = "regorus (OPA's language)"
    package: str = "opa-eval"
    module: str = "opa_eval"
    is_native: bool = True
    most: int = 10_000
    note: str = "the same Rego rules; the input is handed over as JSON made beforehand; not above 10,000 rules"

    def write(self, rules: Sequence[BenchRule]) -> str:
        """Return the module."""
        return _module(rules)

    def load(self, written: str) -> Loaded:
        """Return the engine, after a first question."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.rego"
            path.write_text(written, encoding="utf-8")
            engine = module(self.module).OpaEval(str(path), query="data.bench.allowed")
        ask = engine.evaluate_parsed
        ask(json.dumps(_input(BenchCall("none"))))
        return Loaded(ask, lambda call: (json.dumps(_input(call)),), _read)


def _module(rules: Sequence[BenchRule]) -> str:
    heads = {True: "deny", False: "allow"}
    written = [f"{heads[rule.is_block]} if {{ {'; '.join(_tests(rule))} }}" for rule in rules]
    # A module in which nothing is denied would not compile.
    return "\n".join([_HEAD, "deny if { false }", "allow if { false }", *written, ""])


def _tests(rule: BenchRule) -> Iterator[str]:
    head, star, tail = rule.tool.partition("*")
    if not star:
        yield f"input.tool == {json.dumps(rule.tool)}"
    if star and head:
        yield f"startswith(input.tool, {json.dumps(head)})"
    if star and tail:
        yield f"endswith(input.tool, {json.dumps(tail)})"
    if star and not (head or tail):
        yield "true"
    if rule.condition is not None:
        operand = json.dumps(rule.condition.operand)
        tests = {"mode": f"input.mode == {operand}", "limit": f"input.limit <= {operand}"}
        yield tests.get(rule.condition.what, f"startswith(input.path, {operand})")


def _input(call: BenchCall) -> dict[str, object]:
    return {"tool": call.tool, "path": call.path, "limit": call.limit, "mode": call.mode}


def _read(answer: object) -> str:
    return "allow" if answer is True else "not allow"
