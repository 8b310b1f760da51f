"""What is odd about rules that load: one check a file, each a generator of findings."""

from collections.abc import Collection

from permitry.config.catalogue import PREFIX
from permitry.config.lint import (
    covers_interpreter,
    labels,
    never_matches,
    no_anchor,
    redundant,
    shadowed,
    unanchored_name,
    undeclared_tool,
    unknown_tool,
    unreachable_example,
    wider_than_restriction,
)
from permitry.config.lint._subject import Finding, Subject
from permitry.config.lint.drafts import Drafts
from permitry.config.load import RuleSet

__all__ = ["Finding", "lint"]

_CHECKS = (
    unknown_tool.findings,
    undeclared_tool.findings,
    never_matches.findings,
    shadowed.findings,
    redundant.findings,
    wider_than_restriction.findings,
    covers_interpreter.findings,
    no_anchor.findings,
    unanchored_name.findings,
    unreachable_example.findings,
    labels.findings,
)


def lint(rules: RuleSet, *, drafts: Drafts = Drafts(), tools: Collection[str] | None = None) -> tuple[Finding, ...]:  # noqa: B008 -- a frozen value
    """Return what is odd about `rules`, in the order of their files and lines.

    `drafts` are the tables the rules were made from: without them no example and no template is looked at. `tools` are
    the names of all tools there are; None when they are not known. Shipped sets that other files extend are taken as
    they are.
    """
    subject = Subject(rules, drafts, None if tools is None else frozenset(tools))
    found = {finding: None for check in _CHECKS for finding in check(subject)}
    has_own = not all(name.startswith(PREFIX) for name in rules.files)
    shown = [finding for finding in found if not (has_own and finding.source.startswith(PREFIX))]
    return tuple(sorted(shown, key=lambda finding: _place(finding, rules.files)))


def _place(finding: Finding, files: tuple[str, ...]) -> tuple[int, int]:
    name, _, line = finding.source.rpartition(":")
    return files.index(name) if name in files else len(files), int(line) if line.isdigit() else 0
