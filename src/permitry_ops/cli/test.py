"""`permitry test`: golden cases, the examples inside rules, and what these try and notice."""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from permitry.cli.main import ExitCode
from permitry.config.catalogue import list_shipped
from permitry.config.load import load_rules
from permitry.core.texts import visible
from permitry.errors import ConfigError, GoldenMismatchError, PermitryError
from permitry.golden.case import INDEX, check_case, find_cases, index_of, read_case

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
    add = what.add_argument
    add("--write-index", action="store_true", help=f"write the {INDEX} of the named folders, and stop")
    add("--coverage", action="store_true", help="say which rules and conditions of --rules were never tried")
    add("--mutate", action="store_true", help="say which mistakes in the rules of --rules would not be noticed")
    about = parser.add_argument_group("with --coverage or --mutate")
    meant = "count the calls of a session as well: messages, one JSON object a line, or a record; may be given again"
    about.add_argument("--session", action="append", default=[], metavar="FILE", help=meant)
    meant = "exit with 1 where less than so many of a hundred were tried, or noticed"
    about.add_argument("--fail-under", type=float, metavar="N", help=meant)
    meant = "with --mutate: write golden cases that would notice the rest; each loads once its `why` is filled in"
    about.add_argument("--write", type=Path, metavar="DIR", help=meant)
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Check everything, print each failure and the counts."""
    paths: list[Path] = options.cases or [path for path in [_DEFAULT_CASES] if path.is_dir()]
    if options.write_index:
        for folder in paths:
            if not folder.is_dir():
                raise PermitryError(f"`{folder}` is not a directory; an index lists the cases of one")
            (folder / INDEX).write_text(index_of(folder), encoding="utf-8")
        return ExitCode.OK
    is_reported = options.coverage or options.mutate
    _refuse_misplaced(options, is_reported=is_reported)
    outcomes = []
    for outcome in _outcomes(paths, options.rules):
        outcomes.append(outcome)
        if outcome.error is not None or not is_reported:
            _print(outcome, as_json=options.json)
    failed = sum(outcome.error is not None for outcome in outcomes)
    if is_reported and not failed:
        return _report(options, [Path(each.name) for each in outcomes if each.kind == "case"])
    if not options.json:
        print(f"{len(outcomes) - failed} passed, {failed} failed")
    return ExitCode.FAILED if failed else ExitCode.OK


def _refuse_misplaced(options: argparse.Namespace, *, is_reported: bool) -> None:
    """Raise `PermitryError` for options that go with others."""
    if is_reported and not options.rules:
        raise PermitryError("name the rules whose cases these are: --rules FILE, or --rules permitry:coding-agent")
    if not is_reported and (options.session or options.fail_under is not None):
        raise PermitryError("--session and --fail-under go with --coverage or --mutate")
    if options.write is not None and not options.mutate:
        raise PermitryError("--write goes with --mutate")


def _report(options: argparse.Namespace, cases: Sequence[Path]) -> ExitCode:
    from permitry_ops.cli.coverage import report_coverage, report_mutants  # only where it is asked for

    return report_coverage(options, cases) if options.coverage else report_mutants(options, cases)


def _outcomes(paths: Iterable[Path], names: list[str] | None) -> Iterator[_Outcome]:
    checked = [_try("rules", name, load_rules) for name in (list_shipped() if names is None else names)]
    yield from checked
    rules, is_usable = None, all(outcome.error is None for outcome in checked)
    if names and is_usable:
        rules = load_rules(names)

    def check(case: str) -> None:
        check_case(Path(case), read_case(Path(case)), rules)

    for path in paths:
        try:
            cases = find_cases(path) if path.is_dir() else [path]
        except ConfigError as error:
            yield _Outcome("index", str(path), str(error))
            continue
        for case in cases:
            yield _try("case", str(case), check) if is_usable else _Outcome("case", str(case), "its rules do not load")


def _try(kind: str, name: str, check: Callable[[str], object]) -> _Outcome:
    # Loading a rule file tries every example in it.
    try:
        check(name)
    except (GoldenMismatchError, ConfigError) as error:
        return _Outcome(kind, name, str(error))
    return _Outcome(kind, name)


def _print(outcome: _Outcome, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({**attrs.asdict(outcome), "ok": outcome.error is None}))
    elif outcome.error is not None:
        print(visible(f"FAILED {outcome.name}\n  {outcome.error}"))
