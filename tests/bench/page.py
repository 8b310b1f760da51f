"""The page docs/reference/benchmarks.md: ratios. What is wanted, and all figures, are printed."""

import platform
from collections.abc import Collection, Mapping

from tests.bench.peers.engine import version
from tests.bench.plot import DRAWINGS
from tests.bench.report import Report, markdown

__all__ = ["page", "versions"]

_PACKAGES = (
    "permitry", "cedarpy", "pycasbin", "vakt", "rbacx", "opa-golib-python-bindings", "opa-eval", "agent-tool-parser",
    "json-repair", "tree-sitter-bash",
)  # fmt: skip
_HEAD = """\
# Benchmarks

This page shows what permitry costs compared with other engines, measured side by side in one run.

It is written by `python -m tests.bench --write`. Where a package of the benchmark brings a folder `tests` of its own,
as vakt does, `python tests/bench --write` does the same. Both want the extra `bench`; without `--write` they print the
same tables, `--only decisions` asks one question, and `--quick` only shows that everything runs. An engine that is not
installed has a row that says so.

Here are the ratios: another machine has other figures, and much the same ratios. The command prints the figures,
the same tables for more sizes, and what is wanted, too.

A turn of a model takes seconds, and no one notices a microsecond in it. What a decision costs matters where there are
many: replaying recorded sessions, showing a model only the tools it may use, testing rule sets against each other. With
a handful of rules, a function written by hand is faster than any engine.

## How it is measured

- Before anything is timed, every engine answers the same calls (a slow one fewer, yet twenty at least), and is compared
  with a plain loop over the rules. One that decides otherwise is not timed, and the run ends with an error.
- Every call is timed by itself with `perf_counter_ns`, less what reading the clock costs. Engines take turns, round by
  round; a turn begins with a pass that is not timed, where the same may be asked twice. Of the rounds the best median
  and the best 99th percentile count. Slow engines see fewer calls in a round.
- The garbage collector is on. What has been loaded is taken out of its sight (`gc.freeze`), for all engines alike.
- Nothing is tuned for the benchmark: permitry loads a rule file as a user does, with its six built-in rules.
- What is *not* compared: an answer when an argument is missing, where engines differ in what they promise; reasons,
  messages and the record, which only some of them give.
- Progent is not among the engines: the package that PyPI has under its name is empty. It looks a tool up by its exact
  name in a dictionary, which for names alone is as fast as the dictionaries below.
"""


def versions() -> str:
    """Return the versions of all that was measured."""
    each = [f"{name} {version(name)}" for name in _PACKAGES]
    return f"Python {platform.python_version()}; {', '.join(each)}.\n"


def page(reports: Mapping[str, Report], drawn: Collection[str]) -> str:
    """Return the whole page; `drawn` are the reports that have a picture."""
    parts = [_HEAD, f"\nVersions: {versions()}"]
    for name, report in reports.items():
        parts += [f"\n## {report.title}\n", f"\n{report.text}\n"]
        parts += [f"\n{markdown(table)}" for table in report.ratios]
        parts += [f"\n![{DRAWINGS[name].caption}]({DRAWINGS[name].file})\n"] if name in drawn else []
    return "".join(parts)
