"""Checks for likely mistakes in rules that load: one file for each kind, a generator of findings."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from permitry.config.catalogue import PREFIX
from permitry.config.drafts import Drafts
from permitry.config.load import RuleSet
from permitry_ops.lint import (
    commands,
    covered_pattern,
    covers_interpreter,
    never_matches,
    other_types_pass,
    part_of_text,
    patterns,
    redundant,
    tools,
    unknown_argument,
    unreachable_example,
    untrusted_counterparty,
    unused,
    wider_than_restriction,
)
from permitry_ops.lint._schemas import says_arguments
from permitry_ops.lint._subject import Finding, Subject

__all__ = ["Check", "Finding", "lint"]

Check: TypeAlias = Callable[[Subject], Iterator[Finding]]

_CHECKS: tuple[Check, ...] = (
    tools.findings,
    unknown_argument.findings,
    other_types_pass.findings,
    never_matches.findings,
    redundant.findings,
    covered_pattern.findings,
    wider_than_restriction.findings,
    covers_interpreter.findings,
    commands.findings,
    patterns.findings,
    part_of_text.findings,
    untrusted_counterparty.findings,
    unreachable_example.findings,
    unused.findings,
)


def lint(
    rules: RuleSet,
    *,
    drafts: Drafts = Drafts(),  # noqa: B008 -- a frozen value
    tools: Collection[str] | None = None,
    has_prompts: bool = True,
    watch: Callable[[Sequence[Check]], Iterable[Check]] = iter,
) -> tuple[Finding, ...]:
    """Return the findings about `rules`, in the order of their files and lines.

    Without `drafts`, from which the rules were made, examples and templates are not checked. `tools`
    are the names of all tools, or map them to the JSON Schemas of their arguments; None if unknown.
    `has_prompts`: the host passes on what the user writes. Nothing is found in shipped sets that other
    files extend. `watch` yields the checks that it is given, and may show the progress.
    """
    listed = None if tools is None else frozenset(tools)
    given = tools if isinstance(tools, Mapping) else {}
    schemas = {name: each for name, each in given.items() if says_arguments(each)}
    subject = Subject(rules, drafts, listed, schemas, has_prompts)
    found = {finding: None for check in watch(_CHECKS) for finding in check(subject)}
    has_own = not all(name.startswith(PREFIX) for name in rules.files)
    shown = [finding for finding in found if not (has_own and finding.source.startswith(PREFIX))]
    files = {name: number for number, name in enumerate(rules.files)}
    return tuple(sorted(shown, key=lambda finding: _place(finding, files)))


def _place(finding: Finding, files: Mapping[str, int]) -> tuple[int, int]:
    name, _, line = finding.source.rpartition(":")
    return files.get(name, len(files)), int(line) if line.isdigit() else 0
