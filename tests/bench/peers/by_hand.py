"""What one writes without an engine: `if` after `if`, and a loop over a list of rules."""

import fnmatch
from collections.abc import Callable, Iterator, Sequence

import attrs
from tests.bench.peers.engine import Loaded
from tests.bench.workload import BenchCall, BenchRule

__all__ = ["ByHand", "Naive"]


@attrs.frozen
class ByHand:
    """A function that someone wrote for these very rules: first what blocks, then what allows.

    Every test returns at once, which is what a chain of `elif` does, without being nested deeper than Python reads.
    """

    name: str = "hand-written if/elif"
    package: str = ""
    module: str = ""
    is_native: bool = False
    most: int = 1_000_000
    note: str = "a function generated from the rules, names by `==`, globs by `startswith` and `endswith`"

    def write(self, rules: Sequence[BenchRule]) -> str:
        """Return the source of the function."""
        return "\n".join(["def decide(tool, path, limit, mode):", *_lines(rules), "    return 'confirm'", ""])

    def load(self, written: str) -> Loaded:
        """Return the function."""
        names: dict[str, Callable[..., object]] = {}
        exec(compile(written, "<by hand>", "exec"), names)  # noqa: S102 -- our own generated source
        return Loaded(names["decide"], lambda call: (call.tool, call.path, call.limit, call.mode), str)


@attrs.frozen
class Naive:
    """What a small library does: go through the rules, those that block first, until one matches."""

    name: str = "naive loop"
    package: str = ""
    module: str = ""
    is_native: bool = False
    most: int = 1_000_000
    note: str = "a loop over all rules, `fnmatchcase` for globs; also the oracle of the others' answers"

    def write(self, rules: Sequence[BenchRule]) -> Sequence[BenchRule]:
        """Return the rules."""
        return rules

    def load(self, written: Sequence[BenchRule]) -> Loaded:
        """Return a function that goes through the rules."""
        ordered = tuple(
            sorted(((rule, rule.tool, rule.is_glob) for rule in written), key=lambda one: not one[0].is_block)
        )
        matches = fnmatch.fnmatchcase

        def decide(call: BenchCall) -> str:
            for rule, tool, is_glob in ordered:
                if (matches(call.tool, tool) if is_glob else call.tool == tool) and (
                    rule.condition is None or rule.condition.holds(call)
                ):
                    return "block" if rule.is_block else "allow"
            return "confirm"

        return Loaded(decide, lambda call: (call,), str)


def _lines(rules: Sequence[BenchRule]) -> Iterator[str]:
    for rule in sorted(rules, key=lambda rule: not rule.is_block):
        yield f"    if {' and '.join(_tests(rule))}:"
        yield f"        return {'block' if rule.is_block else 'allow'!r}"


def _tests(rule: BenchRule) -> Iterator[str]:
    head, star, tail = rule.tool.partition("*")
    if not star:
        yield f"tool == {rule.tool!r}"
    if star and head:
        yield f"tool.startswith({head!r})"
    if star and tail:
        yield f"tool.endswith({tail!r})"
    if star and head and tail:
        yield f"len(tool) >= {len(head) + len(tail)}"
    if star and not (head or tail):
        yield "True"
    if rule.condition is not None:
        operand = repr(rule.condition.operand)
        tests = {"mode": f"mode == {operand}", "path": f"path.startswith({operand})", "limit": f"limit <= {operand}"}
        yield tests[rule.condition.what]
