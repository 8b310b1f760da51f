"""The command line of the benchmark."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.growth import session_memory
from tests.bench.memory import grown
from tests.bench.page import page, versions
from tests.bench.peers.engine import module
from tests.bench.plot import DRAWINGS, plot
from tests.bench.report import QUICK, THOROUGH, Report, Scale, Tell, markdown, tell
from tests.bench.targets import targets

__all__ = ["QUESTIONS", "main"]

QUESTIONS = (
    "decisions",
    "one-tool",
    "end-to-end",
    "shell",
    "filtering",
    "text-calls",
    "start-up",
    "hook",
    "growth",
    "recording",
)
"""In the order of the page; `end-to-end` is asked by the module `end_to_end`, and so on."""
_PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "benchmarks.md"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the questions; return 1 when answers that should be equal are not, else 0."""
    options = _options(argv)
    if options.grow is not None:
        sys.stdout.write(f"{json.dumps(session_memory(options.grow))}\n")
        return 0
    if options.weigh is not None:
        name, count = options.weigh
        sys.stdout.write(f"{grown(name, int(count))}\n")
        return 0
    scale = QUICK if options.quick else THOROUGH
    _show(versions())
    reports: dict[str, Report] = {}
    # All are imported first: what is missing is known before the first one has taken its minutes.
    runs = {name: _import_question(name) for name in options.only or QUESTIONS}
    for name, run in runs.items():
        reports[name] = run(scale, tell)
        # At once: a later question may fail, or be interrupted.
        _show(_told(reports[name]))
    facts = {name: value for report in reports.values() for name, value in report.facts.items()}
    _show(f"## Targets\n\n{markdown(targets(facts))}")
    if options.write:
        drawn = [name for name, drawing in DRAWINGS.items() if plot(drawing, reports[name].series, _PAGE.parent)]
        _PAGE.write_text(page(reports, drawn), encoding="utf-8")
        tell(f"written: {_PAGE}")
    wrong = [line for report in reports.values() for line in report.wrong]
    for line in wrong:
        tell(f"answers differ: {line}")
    return 1 if wrong else 0


def _import_question(name: str) -> Callable[[Scale, Tell], Report]:
    """Return what answers a question; a question that is not asked is not even imported."""
    run: Callable[[Scale, Tell], Report] = module(f"tests.bench.{name.replace('-', '_')}").run
    return run


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure permitry next to its peers.")
    parser.add_argument("--only", action="append", choices=QUESTIONS, help="ask this question; may be repeated")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: to see that it runs, not how fast")
    parser.add_argument("--write", action="store_true", help="write docs/reference/benchmarks.md and its plot")
    parser.add_argument("--weigh", nargs=2, metavar=("ENGINE", "COUNT"), help=argparse.SUPPRESS)
    parser.add_argument("--grow", type=int, metavar="COUNT", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.write and (options.only or options.quick):
        parser.error("--write writes the whole page, so it goes with neither --only nor --quick")
    return options


def _show(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _told(report: Report) -> str:
    return "\n".join([f"## {report.title}\n", *(markdown(table) for table in (*report.ratios, *report.figures))])
