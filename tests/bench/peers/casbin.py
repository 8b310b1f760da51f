"""pycasbin: one row for every rule, one matcher for all of them."""

import fnmatch
from collections.abc import Iterator, Sequence

import attrs
from tests.bench.peers.engine import Loaded, module
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["Casbin"]

_MODEL = """
[request_definition]
r = tool, path, limit, mode

[policy_definition]
p = tool, glob, what, operand, eft

[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))

[matchers]
m = fits(r.tool, p.tool, p.glob) && (p.what == "-" || holds(p.what, p.operand, r.path, r.limit, r.mode))
"""


@attrs.frozen
class Casbin:
    """`Enforcer.enforce` with the effect in which a deny outweighs every allow."""

    name: str = "pycasbin"
    package: str = "pycasbin"
    module: str = "casbin"
    is_native: bool = False
    most: int = 10_000
    note: str = (
        "one matcher, a Python function for names and one for conditions, as with `==` and `globMatch` it is several "
        "times slower; not above 10,000 rules"
    )

    def write(self, rules: Sequence[BenchRule]) -> str:
        """Return the rows."""
        return "\n".join(", ".join(_row(rule)) for rule in rules)

    def load(self, written: str) -> Loaded:
        """Return the enforcer."""
        casbin, adapters = module("casbin"), module("casbin.persist.adapters.string_adapter")
        enforcer = casbin.Enforcer(casbin.Enforcer.new_model(text=_MODEL), adapters.StringAdapter(written))
        enforcer.add_function("fits", _fits)
        enforcer.add_function("holds", _holds)
        return Loaded(enforcer.enforce, _request, lambda answer: "allow" if answer is True else "not allow")


def _request(call: BenchCall) -> tuple[str, str, int, str]:
    return call.tool, call.path, call.limit, call.mode


def _row(rule: BenchRule) -> Iterator[str]:
    yield from ("p", rule.tool, "yes" if rule.is_glob else "no")
    yield from ("-", "-") if rule.condition is None else (rule.condition.what, str(rule.condition.operand))
    yield "deny" if rule.is_block else "allow"


def _fits(tool: str, pattern: str, glob: str) -> bool:
    return tool == pattern or (glob == "yes" and fnmatch.fnmatchcase(tool, pattern))


def _holds(what: str, operand: str, path: str, limit: int, mode: str) -> bool:
    if what == "mode":
        return mode == operand
    return path.startswith(operand) if what == "path" else limit <= int(operand)
