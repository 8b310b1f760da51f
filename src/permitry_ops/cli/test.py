"""`permitry test`: golden cases, the examples inside rules, and what these try and notice."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import attrs

from permitry.cli.inputs import print_result, tell
from permitry.cli.main import ExitCode
from permitry.config.catalogue import list_shipped
from permitry.config.load import load_rules
from permitry.core.texts import visible
from permitry.errors import ConfigError, GoldenMismatchError, PermitryError, count
from permitry.golden.case import INDEX, find_cases, index_of, read_case
from permitry.golden.check import check_case
from permitry.golden.deciders import Deciders
from permitry_ops.cli.progress import track

__all__ = ["configure"]

_DEFAULT_CASES = Path("golden/cases")


@attrs.frozen
class _Outcome:
    kind: str
    name: str
    error: str | None = None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry test`."""
    parser.add_argument(
        "cases", nargs="*", type=Path, metavar="CASE",
        help=f"case files, or folders of them with an {INDEX}; default: {_DEFAULT_CASES}, if it is there",
    )  # fmt: skip
    parser.add_argument(
        "--rules", action="append", metavar="FILE",
        help="rule files whose examples to check, and the rules for cases that name none; default: the shipped sets",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object a case, and nothing else")
    what = parser.add_mutually_exclusive_group()
    meant = f"write the {INDEX} of the named folders, and stop"
    what.add_argument("--write-index", action="store_true", help=meant)
    put = partial(what.add_argument, dest="report", action="store_const")
    put("--coverage", const="coverage", help="say what of the rules of --rules was never tried")
    meant = "say which mistakes in the rules of --rules would not be noticed"
    put("--mutate", const="mutants", help=meant)
    _add_report_options(parser.add_argument_group("with --coverage or --mutate"))
    parser.set_defaults(execute=execute)


def _add_report_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    meant = "count the calls of a session as well: messages, or a record; may be given again"
    add("--session", action="append", default=[], metavar="FILE", help=meant)
    meant = "exit with 1 where less than so many of a hundred were tried, or noticed"
    add("--fail-under", type=float, metavar="N", help=meant)
    meant = "with --mutate: write drafts of golden cases that would notice the rest"
    add("--write", type=Path, metavar="DIR", help=meant)


def execute(options: argparse.Namespace) -> ExitCode:
    """Check everything, print each failure and the counts."""
    _refuse_misplaced(options)
    paths = options.cases or _find_default()
    if options.write_index:
        return _write_indexes(paths)
    outcomes = [_show(outcome, options) for outcome in _outcomes(paths, options.rules)]
    failed = sum(outcome.error is not None for outcome in outcomes)
    if failed or options.report is None:
        return _count(options, len(outcomes), failed)
    return _report(options, outcomes)


def _count(options: argparse.Namespace, every: int, failed: int) -> ExitCode:
    """Print how many passed and failed."""
    if not options.json:
        print(f"{every - failed} passed, {failed} failed")
    return ExitCode.FAILED if failed else ExitCode.OK


def _find_default() -> list[Path]:
    return [path for path in [_DEFAULT_CASES] if path.is_dir()]


def _refuse_misplaced(options: argparse.Namespace) -> None:
    """Raise `PermitryError` for options that go with others."""
    if options.write is not None and options.report != "mutants":
        raise PermitryError("--write goes with --mutate")
    if options.report is not None:
        if not options.rules:
            example = "--rules FILE, or --rules permitry:coding-agent"
            raise PermitryError(f"name the rules whose cases these are: {example}")
        return
    if options.session or options.fail_under is not None:
        raise PermitryError("--session and --fail-under go with --coverage or --mutate")


def _write_indexes(folders: Iterable[Path]) -> ExitCode:
    for folder in folders:
        if not folder.is_dir():
            raise PermitryError(f"`{folder}` is not a directory; an index lists the cases of one")
        (folder / INDEX).write_text(index_of(folder), encoding="utf-8")
    return ExitCode.OK


def _report(options: argparse.Namespace, outcomes: Iterable[_Outcome]) -> ExitCode:
    """Print what the cases try, or which mistakes they notice."""
    # Only where it is asked for: that loads what compares rules.
    from permitry_ops.coverage.drafts import write_drafts
    from permitry_ops.coverage.report import Subject, report_coverage, report_mutants

    cases = [Path(outcome.name) for outcome in outcomes if outcome.kind == "case"]
    subject = Subject(options.rules, cases, options.session)
    if options.report == "mutants":
        watch = partial(track, description="mutants")
        report = report_mutants(subject, options.write or Path(), watch)
    else:
        report = report_coverage(subject)
    print_result(options, report.data, report.text)
    if options.write is not None:
        written = count(len(write_drafts(report.drafts, options.write)), "draft")
        tell([f"{written} in `{options.write}`: say in each why it matters"])
    return _compare(report.percent, options.fail_under)


def _compare(percent: float, least: float | None) -> ExitCode:
    is_less = least is not None and percent < least
    return ExitCode.FAILED if is_less else ExitCode.OK


def _outcomes(paths: Iterable[Path], names: list[str] | None) -> Iterator[_Outcome]:
    shipped = list_shipped() if names is None else names
    checked = [_try("rules", name, load_rules) for name in shipped]
    yield from checked
    is_usable = all(outcome.error is None for outcome in checked)
    deciders = Deciders(load_rules(names) if names and is_usable else None)

    def check(case: str) -> None:
        if not is_usable:
            raise GoldenMismatchError("its rules do not load")
        check_case(Path(case), read_case(Path(case)), deciders)

    for path in paths:
        yield from _check_each(path, check)


def _check_each(path: Path, check: Callable[[str], object]) -> Iterator[_Outcome]:
    """Yield the outcome of a case, or of each in a folder."""
    try:
        cases = find_cases(path) if path.is_dir() else [path]
    except ConfigError as error:
        yield _Outcome("index", str(path), str(error))
        return
    yield from (_try("case", str(case), check) for case in cases)


def _try(kind: str, name: str, check: Callable[[str], object]) -> _Outcome:
    # Loading a rule file tries every example in it.
    try:
        check(name)
    except (GoldenMismatchError, ConfigError) as error:
        return _Outcome(kind, name, str(error))
    return _Outcome(kind, name)


def _show(outcome: _Outcome, options: argparse.Namespace) -> _Outcome:
    """Print an outcome: for people, and where something else is reported, only a failure."""
    is_failure = outcome.error is not None
    if options.json and (is_failure or options.report is None):
        print(json.dumps({**attrs.asdict(outcome), "ok": not is_failure}))
    elif is_failure and not options.json:
        lines = [f"FAILED {outcome.name}", *str(outcome.error).splitlines()]
        print(*map(visible, lines), sep="\n  ")
    return outcome
