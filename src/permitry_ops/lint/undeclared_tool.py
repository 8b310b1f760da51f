"""The finding `undeclared-tool`."""

from collections.abc import Iterator

from permitry.core.decision import Verdict
from permitry.core.pattern import Pattern
from permitry.rules.configured import ConfiguredRule
from permitry_ops.lint._subject import Finding, Subject, all_conditions, report_finding

__all__ = ["findings"]


def findings(subject: Subject) -> Iterator[Finding]:
    """Yield the tools of rules about commands, paths and hosts whose arguments are not declared."""
    for rule in subject.rules.rules:
        if not any(conditions.are_about_actions for conditions in all_conditions(rule)):
            continue
        for selector in rule.scope.selectors:
            name = selector.text
            if name.startswith("@") or not Pattern(name).is_exact or name in subject.specs:
                continue
            never = rule.effect is Verdict.ALLOW and rule.scope.when.are_about_actions
            effect = "the rule never allows it" if never else "the rule can only guess"
            yield report_finding(
                rule,
                "undeclared-tool",
                f"nothing says what the arguments of `{name}` are, so {effect}",
                f'declare the tool: `[tool."{name}"]`, with its arguments, as in `roles.{_role(rule)}`',
            )


def _role(rule: ConfiguredRule) -> str:
    """Return a declaration of a role that the rule needs, as it may be written."""
    given = list(all_conditions(rule))
    if any(conditions.commands for conditions in given):
        return 'command = "command"'
    return 'path = "write_path"' if any(conditions.paths for conditions in given) else 'url = "url"'
