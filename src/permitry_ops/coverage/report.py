"""What cases and sessions try of the rules in some files, and which mistakes in these they notice."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from permitry.cli.inputs import number_lines, open_lines
from permitry.cli.records import RecordFilter, is_record, records_at
from permitry.config.catalogue import PREFIX
from permitry.config.drafts import RuleDraft, drafts_of
from permitry.config.load import load_rules
from permitry.config.ruleset import RuleSet
from permitry.golden.deciders import Decider
from permitry.rules.configured import ConfiguredRule
from permitry.store.records import record_name
from permitry_ops.coverage.coverage import measure
from permitry_ops.coverage.drafts import make_drafts
from permitry_ops.coverage.judge import Judge
from permitry_ops.coverage.mutants import Mutant, list_mutants
from permitry_ops.coverage.probes import Probe, SessionProbes, read_cases
from permitry_ops.coverage.score import Score
from permitry_ops.coverage.text import show_coverage, show_score
from permitry_ops.replay.record import Circumstances, replay_record
from permitry_ops.replay.replay import Recording, replay

__all__ = ["Report", "Subject", "report_coverage", "report_mutants"]

Watch: TypeAlias = Callable[[Sequence[Mutant]], Iterable[Mutant]]
"""What passes mutants on, and may show how far it is."""


@attrs.frozen
class Subject:
    """Rule files as they were named, the cases of them, and files of sessions."""

    names: Sequence[str]
    cases: Sequence[Path]
    sessions: Sequence[str] = ()

    def load(self) -> tuple[RuleSet, Sequence[Probe], Mapping[str, RuleDraft]]:
        """Return the rules, the calls, and the tables of the rules. Raises: `ConfigError`, `CallError`."""
        rules = load_rules(self.names)
        probes = [*read_cases(self.cases, rules), *_read_sessions(self.sessions, Decider.of(rules))]
        return rules, probes, drafts_of(rules).rules

    def select(self, rules: RuleSet) -> list[ConfiguredRule]:
        """Return the rules that count: those of shipped sets only where such a set is named."""
        if any(name.startswith(PREFIX) for name in self.names):
            return list(rules.rules)
        return [rule for rule in rules.rules if not str(rule.source).startswith(PREFIX)]


@attrs.frozen
class Report:
    """How many of a hundred were tried or noticed; all of it as an object, and as text; drafts of golden cases."""

    percent: float
    data: Mapping[str, Any]
    text: str
    drafts: Sequence[Mapping[str, Any]] = ()


def report_coverage(subject: Subject) -> Report:
    """Return which parts of the rules no case, session or example tries."""
    rules, probes, drafts = subject.load()
    found = measure(rules, subject.select(rules), probes, drafts)
    return Report(found.percent, found.to_dict(), "\n".join(show_coverage(found)))


def report_mutants(subject: Subject, folder: Path, watch: Watch) -> Report:
    """Return the mistakes that nothing notices, each with a call that would, as a draft for a `folder`."""
    rules, probes, tables = subject.load()
    judge = Judge(rules, probes, tables)
    mutants = list(itertools.chain.from_iterable(map(list_mutants, subject.select(rules))))
    score = Score(tuple(map(judge.judge, watch(mutants))))
    drafts = make_drafts(judge, score, subject.names, folder)
    cases = list({draft["id"]: draft for draft in drafts.values()}.values())
    data = {**score.to_dict(), "cases": cases}
    return Report(score.percent, data, "\n".join(show_score(score, drafts)), cases)


def _read_sessions(names: Sequence[str], decider: Decider) -> list[Probe]:
    sessions = SessionProbes(decider)
    for name in names:
        if is_record(name):
            _replay_record(name, sessions)
        else:
            _replay_messages(name, sessions)
    return sessions.found


def _replay_record(name: str, sessions: SessionProbes) -> None:
    policy, rules = sessions.decider.policy, sessions.decider.rules
    records = records_at(name, RecordFilter())
    known = Circumstances(str(Path.cwd()), rules.templates, name=record_name(name))
    replay_record(records, policy, circumstances=known, watch=sessions.watch)


def _replay_messages(name: str, sessions: SessionProbes) -> None:
    recording = Recording(name, folder=str(Path.cwd()))
    with open_lines(name) as stream:
        lines = number_lines(stream)
        replay(lines, sessions.decider.policy, recording=recording, watch=sessions.watch)
