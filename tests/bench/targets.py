"""What we want the figures to be. A table to look at, never a gate: machines differ."""

import operator
from collections.abc import Mapping

import attrs
from tests.bench.report import Table, number

__all__ = ["TARGETS", "Target", "targets"]


@attrs.frozen
class Target:
    """A wish about one figure."""

    caption: str
    fact: str
    bound: float
    unit: str
    is_least: bool = False

    def row(self, facts: Mapping[str, float]) -> tuple[str, ...]:
        """Return the row of the table: what is wanted, what was measured, and whether that is enough."""
        sign = "≥" if self.is_least else "≤"
        wanted = f"{sign} {self.bound:,g}{self.unit}"
        value = facts.get(self.fact)
        if value is None:
            return self.caption, wanted, "not measured", ""
        is_met = (operator.ge if self.is_least else operator.le)(value, self.bound)
        return self.caption, wanted, f"{number(value)}{self.unit}", "yes" if is_met else "no"


TARGETS = (
    Target("a decision, 10,000 rules, mixed, median", "p50-10000", 0.8, " µs"),
    Target("a decision, 10,000 rules, mixed, 99th percentile", "p99-10000", 8, " µs"),
    Target("growth from 10 to 100,000 rules", "growth-10-100000", 1.3, "x"),
    Target("a name never asked about, 10,000 rules, median", "new-name-10000", 25, " µs"),
    Target("10,000 rules about one tool by an argument, median", "one-tool-argument", 10, " µs"),
    Target("10,000 rules about one tool by a command, median", "one-tool-command", 300, " µs"),
    Target("10,000 rules about one tool by a host, median", "one-tool-host", 300, " µs"),
    Target("10,000 rules about one tool by a path, median", "one-tool-path", 300, " µs"),
    *(
        Target(f"growth from 10 to 10,000 rules about one tool, by {what}", f"one-tool-growth-{kind}", 3, "x")
        for what, kind in (
            ("an argument", "argument"),
            ("a command", "command"),
            ("a host", "host"),
            ("a path", "path"),
        )
    ),
    Target(
        "`git status` and a new path under coding-agent, median",
        "`git status` and a new path under coding-agent, p50",
        80,
        " µs",
    ),
    Target(
        "a new pipeline of five under coding-agent, median",
        "a new pipeline of five under coding-agent, p50",
        300,
        " µs",
    ),
    Target("one-liners under base, median", "one-liners under base, p50", 250, " µs"),
    Target("one-liners under base, 99th percentile", "one-liners under base, p99", 4_000, " µs"),
    Target("building a call from a dictionary, median", "call-us", 2.2, " µs"),
    Target("building a call from JSON text, median", "call-json-us", 4, " µs"),
    Target("loading 10,000 rules from TOML", "load-ms-10000", 700, " ms"),
    Target("making the policy of 10,000 rules, index and all", "index-ms-10000", 60, " ms"),
    Target("memory for a rule", "bytes-a-rule-10000", 1024, " bytes"),
    Target("records in SQLite, 8 processes, to bare inserts", "recording-SQLite", 0.5, "x", is_least=True),
    Target("records in PostgreSQL, 8 processes, to bare inserts", "recording-PostgreSQL", 0.5, "x", is_least=True),
    Target("cedarpy, 10,000 rules", "cedarpy-10000", 2500, "x", is_least=True),
    Target("vakt, 10,000 rules", "vakt-10000", 1300, "x", is_least=True),
    Target("pycasbin, 10,000 rules", "pycasbin-10000", 7000, "x", is_least=True),
    Target("cedarpy, 10 rules", "cedarpy-10", 12, "x", is_least=True),
    Target(
        "hand-written if/elif, 10 rules (at most 8 times as fast)", "hand-written if/elif-10", 1 / 8, "x", is_least=True
    ),
    Target("a call through the handler, no-op tool, median", "handle-us-10000", 20, " µs"),
    Target("resident memory after 200,000 calls, against 10,000", "session-growth", 1.05, "x"),
    Target("a decision after 300,000 calls, against 100", "history-300000", 2, "x"),
    Target("a call among 4,000 at one time, against 50", "together-4000", 2, "x"),
    Target("1,000 tools filtered, warm", "filter-ms", 1, " ms"),
    Target("`import permitry`, times bare Python", "import-ratio", 4, "x"),
    Target("`permitry check` of one call, times bare Python", "check-ratio", 4, "x"),
    Target("`permitry check` of a shell command, times bare Python", "check-shell-ratio", 5, "x"),
    Target("a hook answered by the resident, times bare Python", "hook-ratio", 1.5, "x"),
    Target("12 hooks at once", "hook-at-once", 2, " s"),
    Target("12 hooks at once, where the resident is to be started", "hook-cold", 2, " s"),
)


def targets(facts: Mapping[str, float]) -> Table:
    """Return the targets with what was measured."""
    return Table(
        "What is wanted, and what was measured in this run:",
        ("target", "wanted", "measured", "met"),
        tuple(target.row(facts) for target in TARGETS),
    )
