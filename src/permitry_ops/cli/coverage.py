"""What `permitry test` says of its cases: which parts of rules they try, and which mistakes they notice."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from permitry.cli.inputs import number_lines, open_lines
from permitry.cli.main import ExitCode
from permitry.config.catalogue import PREFIX
from permitry.config.drafts import drafts_of
from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry.core.texts import one_line
from permitry.errors import count
from permitry.rules.configured import ConfiguredRule
from permitry.store.records import RecordFilter, is_record, record_name, records_at
from permitry_ops.cli.progress import track
from permitry_ops.coverage.coverage import Coverage, PartCoverage, RuleCoverage, measure
from permitry_ops.coverage.drafts import draft_case, write_drafts
from permitry_ops.coverage.judge import Judge
from permitry_ops.coverage.mutants import list_mutants
from permitry_ops.coverage.probes import Decider, Probe, SessionProbes, read_cases
from permitry_ops.coverage.score import Fate, Outcome, Score
from permitry_ops.diff.report import command_of
from permitry_ops.diff.side import Line
from permitry_ops.replay.record import Circumstances, replay_record
from permitry_ops.replay.replay import Recording, replay

__all__ = ["report_coverage", "report_mutants"]


def report_coverage(options: argparse.Namespace, cases: Sequence[Path]) -> ExitCode:
    """Print which parts of the rules no case, session or example tries."""
    rules = load_rules(options.rules)
    probes = _read_probes(options, cases, rules)
    found = measure(rules, _counted(rules, options.rules), probes, drafts_of(rules).rules)
    if options.json:
        print(json.dumps(found.to_dict()))
    else:
        for line in _show_coverage(found):
            print(one_line(line))
    return _compare(found.percent, options.fail_under)


def report_mutants(options: argparse.Namespace, cases: Sequence[Path]) -> ExitCode:
    """Print the mistakes in rules that no case, session or example notices, each with a call that would."""
    rules = load_rules(options.rules)
    judge = Judge(rules, _read_probes(options, cases, rules), drafts_of(rules).rules)
    mutants = [each for rule in _counted(rules, options.rules) for each in list_mutants(rule)]
    score = Score(tuple(judge.judge(each) for each in track(mutants, "mutants")))
    folder = options.write or Path()
    found = {each: draft_case(judge, each, options.rules, folder) for each in score.among(Fate.MISSED)}
    if options.json:
        print(json.dumps({**score.to_dict(), "cases": list({each["id"]: each for each in found.values()}.values())}))
    else:
        for line in _show_score(score, found):
            print(line)
    if options.write is not None:
        written = write_drafts(found.values(), options.write)
        if not options.json:
            print(f"{count(len(written), 'draft')} in {one_line(str(options.write))}: say in each why it matters")
    return _compare(score.percent, options.fail_under)


def _compare(percent: float, least: float | None) -> ExitCode:
    return ExitCode.FAILED if least is not None and percent < least else ExitCode.OK


def _counted(rules: RuleSet, names: Sequence[str]) -> list[ConfiguredRule]:
    """Return the rules that count: those of shipped sets only where such a set is named."""
    is_shipped = any(name.startswith(PREFIX) for name in names)
    return [each for each in rules.rules if is_shipped or not (each.source or "").startswith(PREFIX)]


def _read_probes(options: argparse.Namespace, cases: Sequence[Path], rules: RuleSet) -> list[Probe]:
    """Return the calls of the cases and sessions."""
    return [*read_cases(cases, rules), *_read_sessions(options.session, Decider.of(rules))]


def _read_sessions(names: Sequence[str], decider: Decider) -> list[Probe]:
    here, sessions = str(Path.cwd()), SessionProbes(decider)
    for name in names:
        if is_record(name):
            records, circumstances = records_at(name, RecordFilter()), Circumstances(here, decider.rules.templates)
            replay_record(
                records, decider.policy, name=record_name(name), circumstances=circumstances, watch=sessions.watch
            )
            continue
        with open_lines(name) as stream:
            recording = Recording(name, folder=here)
            replay(number_lines(stream), decider.policy, recording=recording, watch=sessions.watch)
    return sessions.found


def _show_coverage(found: Coverage) -> Iterator[str]:
    for rule in found.rules:
        lacking = [*_list_lacking(rule)]
        if lacking:
            yield f"{rule.source}: {rule.rule_id}"
            yield from (f"  {each}" for each in lacking)
    sides = f"{sum(found.sides)} of {len(found.sides)} sides tried ({found.percent:.1f} %)"
    yield f"{found.matched} of {count(len(found.rules), 'rule')} matched, {sides}"


def _list_lacking(rule: RuleCoverage) -> Iterator[str]:
    if not rule.whole.held:
        yield "never matched"
    elif rule.whole.failed is False:
        yield "matched each time"
    for part in rule.parts:
        if not all(part.sides):
            yield f"{part.name}: {_say_lacking(part)}"


def _say_lacking(part: PartCoverage) -> str:
    if part.held:
        return "held each time"
    return "never tried" if part.failed is False else "never held"


def _show_score(score: Score, drafts: Mapping[Outcome, Mapping[str, Any]]) -> Iterator[str]:
    for each in score.among(Fate.MISSED, Fate.UNPROVEN):
        rule = each.mutant.rule
        yield one_line(f"{rule.source or 'code'}: {rule.id}: {each.mutant.what}")
        yield f"  {_show_call(drafts[each], each.line or {}) if each in drafts else _show_why(each)}"
    noticed, equal = len(score.among(Fate.NOTICED)), len(score.among(Fate.EQUAL))
    unknown = len(score.among(Fate.UNPROVEN))
    yield f"{noticed} of {count(score.counted, 'mutant')} noticed ({score.percent:.1f} %)"
    if unknown:
        yield f"no call was found for {count(unknown, 'mutant')}, and no proof that there is none"
    if equal:
        yield f"not counted: {count(equal, 'mutant')}, with a proof that no decision changes"


def _show_call(draft: Mapping[str, Any], line: Line) -> str:
    """Return a call that would notice a mutant, and what the rules decide of it."""
    want = draft["want"]
    return one_line(f"{command_of(line)}  -> {want['verdict']} ({want['rule'] or 'no rule'})")


def _show_why(outcome: Outcome) -> str:
    return one_line(f"not proven: {', '.join(outcome.why)}")
